"""Says in words which rule refused, and which column of a golem's rules would have to be another for it to pass."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class RuleRow(StrEnum):
    """Where an owner sets what a rule holds to."""

    LIMITS = "limits"
    CAGE = "cage"
    ALLOWLIST = "allowlist"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class RuleWords:
    """`words` follow "Refused by"; `row` and `column` say where it is set, empty where no setting lifts it."""

    words: str
    row: RuleRow | None = None
    column: str = ""


_LIMITS: Final = {
    "spending_limiter.per_transaction": ("the limit of one transaction", "per_transaction_micro_usd"),
    "spending_limiter.per_tick": ("the limit of one heartbeat tick", "per_tick_micro_usd"),
    "spending_limiter.per_session": ("the limit of one API key", "per_session_micro_usd"),
    "spending_limiter.per_day": ("the limit of 24 hours", "per_day_micro_usd"),
    "spending_limiter.trading_costs_per_day": (
        "the limit of what trading may cost in 24 hours",
        "trading_costs_per_day_micro_usd",
    ),
    "spending_limiter.trading_costs_per_pair": (
        "the limit of what trading one pair may cost",
        "trading_costs_per_pair_micro_usd",
    ),
    "spending_limiter.trading_costs_per_venue": (
        "the limit of what trading at one venue may cost",
        "trading_costs_per_venue_micro_usd",
    ),
    "spending_limiter.slippage": ("the limit of slippage", "max_slippage_bps"),
    "spending_limiter.price_impact": ("the limit of price impact", "max_price_impact_bps"),
    "rate_limiter.per_hour": ("the limit of writes in one hour", "writes_per_hour"),
    "rate_limiter.alike": ("the limit of actions that differ in numbers only", "most_alike_calls"),
}
_CAGE: Final = {
    "policy_cage.max_position": ("the largest position", "max_position_bps"),
    "policy_cage.max_concentration": ("the largest share of one asset", "max_concentration_bps"),
    "policy_cage.max_issuer": ("the largest share of one issuer", "max_issuer_bps"),
    "policy_cage.max_bridge": ("the largest share at one bridge", "max_bridge_bps"),
    "policy_cage.max_oracle": ("the largest share priced by one oracle", "max_oracle_bps"),
    "policy_cage.max_assets": ("the most assets at once", "max_assets"),
    "policy_cage.min_range": ("the narrowest range in a pool", "min_range_ticks"),
    "policy_cage.collateral_ratio": ("the least cover of a loan", "min_collateral_ratio_bps"),
    "policy_cage.drawdown": ("a fall of what it holds", "max_drawdown_bps"),
    "policy_cage.rebalance_interval": ("the time between two rebalances", "min_rebalance_interval_seconds"),
    "policy_cage.rebalances_per_day": ("the rebalances of 24 hours", "max_rebalances_per_day"),
    "simulator.health": ("the least health of a loan", "min_health_bps"),
    "simulator.health_on_the_way": ("the least health of a loan", "min_health_bps"),
}
_ALLOWLIST: Final = {
    "policy_cage.approved_asset": "the assets it may hold",
    "allowlist_guard.contract": "the allowlist of contracts",
    "allowlist_guard.token": "the allowlist of tokens",
    "allowlist_guard.spender": "the allowlist of spenders",
    "allowlist_guard.recipient": "the allowlist of recipients",
    "allowlist_guard.hook": "the allowlist of hooks of pools",
}
_OTHER: Final = {
    "spending_limiter.owner_day": RuleWords("the budget over all your golems", RuleRow.BUDGET),
    "policy_cage.phase": RuleWords("what its phase allows"),
    "policy_cage.halted": RuleWords("the stop: nothing new is signed"),
    "policy_cage.nav_breaker": RuleWords("the pause after a fall of what it holds"),
    "simulator.reverted": RuleWords("the simulation: the call fails"),
    "simulator.value_vanishes": RuleWords("the simulation: more goes out than comes back"),
    "simulator.bought_dearly": RuleWords("the simulation: it buys far above the price"),
    "simulator.sold_for_nothing": RuleWords("the simulation: it sells far below the price"),
    "simulator.engines_disagree": RuleWords("the simulation: two engines saw different outcomes"),
    "rate_limiter.loop": RuleWords("the guard against loops"),
    "rate_limiter.circuit_breaker": RuleWords("the pause after failures"),
}


def describe_rule(rule: str) -> RuleWords:
    """What `rule` is called; one nobody named here is spelt with spaces, after the check that has it."""
    if rule in _LIMITS:
        words, column = _LIMITS[rule]
        return RuleWords(words, RuleRow.LIMITS, column)
    if rule in _CAGE:
        words, column = _CAGE[rule]
        return RuleWords(words, RuleRow.CAGE, column)
    if rule in _ALLOWLIST:
        return RuleWords(_ALLOWLIST[rule], RuleRow.ALLOWLIST)
    if rule in _OTHER:
        return _OTHER[rule]
    hook, _, name = rule.rpartition(".")
    spelt = name.replace("_", " ").lower()
    return RuleWords(f"{hook.replace('_', ' ')}: {spelt}" if hook else spelt)
