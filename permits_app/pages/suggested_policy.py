"""Suggests what a golem begins with: limits that fit what it works with, its cage, what it needs to touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from archetypes_app.golem_intents import Intent
from archetypes_app.models import Golem
from archetypes_app.sample_calls import find_base, find_other
from archetypes_app.toolset import resolve_toolset
from permits_app.limits.suggested_allowlist import AllowlistChoice
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.models.allowlist import AllowlistKind
from tools_app.core.units import BPS
from tools_app.toolkit.protocol import SHELF, Contract, ProtocolDef
from tools_app.toolkit.tooldef import WriteTool
from tools_app.wording.address_names import list_tokens
from tools_app.wording.formats import format_bps

_COSTS_BPS: Final = 100
"""Of what it works with: what fees and prices of trades may cost in a day."""
_TRADES: Final = frozenset({"swap", "add_liquidity"})
_PLACES: Final = frozenset({"supply", "add_liquidity", "deposit"})
"""Words of actions for which something is put into a contract and stays there."""


def fit_limits(intent: Intent, capital_micro_usd: int | None) -> Mapping[str, int]:
    """Limits, by column, of a golem that works with so much; none where nobody says. Never above a new golem's own."""
    if capital_micro_usd is None:
        return {}
    one = capital_micro_usd * intent.transaction_bps // BPS
    day = capital_micro_usd * intent.day_bps // BPS
    costs = capital_micro_usd * _COSTS_BPS // BPS
    fitted = {
        "per_transaction_micro_usd": one,
        "per_tick_micro_usd": min(2 * one, day),
        "per_session_micro_usd": 2 * day,
        "per_day_micro_usd": day,
        "hot_lane_micro_usd": one,
        "trading_costs_per_day_micro_usd": costs,
        "trading_costs_per_pair_micro_usd": costs,
        "trading_costs_per_venue_micro_usd": costs,
    }
    usual = SpendingLimits()
    return {name: min(value, getattr(usual, name)) for name, value in fitted.items()}


def list_needed(golem: Golem, offered: Sequence[AllowlistChoice]) -> set[int]:
    """Places in `offered` of what the golem's actions touch: its tokens, and the contracts of their protocols."""
    writes = [tool for tool in resolve_toolset(golem) if isinstance(tool, WriteTool)]
    words = {tool.key for tool in writes} & (_TRADES | _PLACES)
    trades = bool(words & _TRADES)
    tokens = {each.address for each in (find_base(golem), find_other(golem) if trades else None) if each is not None}
    modules = {word: {tool.handler.__module__ for tool in writes if tool.key == word} for word in words}
    contracts = {
        address
        for protocol in SHELF.on(golem.home_chain_id)
        for contract in protocol.contracts
        if (address := protocol.address(golem.home_chain_id, contract.key)) is not None
        and not _is_of_another(contract, golem, tokens)
        and any(_is_needed(protocol, contract, word, found) for word, found in modules.items())
    }
    return {
        number
        for number, choice in enumerate(offered)
        if choice.address in tokens or (choice.address in contracts and choice.kind != AllowlistKind.TOKEN)
    }


def tell_cage(cage: PolicyCage, base_asset: str) -> str:
    """What the cage holds a new golem to, in a sentence."""
    return (
        f"at most {format_bps(cage.max_position_bps)} of its money at one venue and"
        f" {format_bps(cage.max_concentration_bps)} in one asset besides {base_asset},"
        f" health of a loan at least {cage.min_health_bps / BPS:.2f},"
        f" and down by {format_bps(cage.max_drawdown_bps)} at most within a day"
    )


def _is_needed(protocol: ProtocolDef, contract: Contract, word: str, modules: set[str]) -> bool:
    """Whether an action of this word goes to the contract; one that may run strangers' code is its owner's to add."""
    if not contract.takes_tokens or contract.runs_hooks or not any(map(protocol.has_module, modules)):
        return False
    return word in _PLACES or (protocol.venues is not None and not contract.is_place)


def _is_of_another(contract: Contract, golem: Golem, tokens: set[str]) -> bool:
    """Whether it is the market of one token, by its name, and that is none of the golem's."""
    others = {each.symbol for each in list_tokens(golem.home_chain_id) if each.address not in tokens}
    return contract.label.rpartition(" ")[2] in others
