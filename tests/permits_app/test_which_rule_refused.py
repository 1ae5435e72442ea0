"""Which rule refused, in words of its own, and the column where its owner would lift it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest
from django.db.models import Model

from permits_app.models import OwnerBudget, PolicyCage, SpendingLimits
from permits_app.words.rule_words import RuleRow, RuleWords, describe_rule

ROWS: Final[Mapping[RuleRow, type[Model]]] = {RuleRow.LIMITS: SpendingLimits, RuleRow.CAGE: PolicyCage}
# A rule and the column that says how much it lets through; by hand, since a page would send people to the wrong place.
SET_AT: Final[Mapping[str, tuple[RuleRow, str]]] = {
    "spending_limiter.per_transaction": (RuleRow.LIMITS, "per_transaction_micro_usd"),
    "spending_limiter.per_tick": (RuleRow.LIMITS, "per_tick_micro_usd"),
    "spending_limiter.per_session": (RuleRow.LIMITS, "per_session_micro_usd"),
    "spending_limiter.per_day": (RuleRow.LIMITS, "per_day_micro_usd"),
    "spending_limiter.trading_costs_per_day": (RuleRow.LIMITS, "trading_costs_per_day_micro_usd"),
    "spending_limiter.trading_costs_per_pair": (RuleRow.LIMITS, "trading_costs_per_pair_micro_usd"),
    "spending_limiter.trading_costs_per_venue": (RuleRow.LIMITS, "trading_costs_per_venue_micro_usd"),
    "spending_limiter.slippage": (RuleRow.LIMITS, "max_slippage_bps"),
    "spending_limiter.price_impact": (RuleRow.LIMITS, "max_price_impact_bps"),
    "rate_limiter.per_hour": (RuleRow.LIMITS, "writes_per_hour"),
    "rate_limiter.alike": (RuleRow.LIMITS, "most_alike_calls"),
    "policy_cage.max_position": (RuleRow.CAGE, "max_position_bps"),
    "policy_cage.max_concentration": (RuleRow.CAGE, "max_concentration_bps"),
    "policy_cage.max_issuer": (RuleRow.CAGE, "max_issuer_bps"),
    "policy_cage.max_bridge": (RuleRow.CAGE, "max_bridge_bps"),
    "policy_cage.max_oracle": (RuleRow.CAGE, "max_oracle_bps"),
    "policy_cage.max_assets": (RuleRow.CAGE, "max_assets"),
    "policy_cage.min_range": (RuleRow.CAGE, "min_range_ticks"),
    "policy_cage.collateral_ratio": (RuleRow.CAGE, "min_collateral_ratio_bps"),
    "policy_cage.drawdown": (RuleRow.CAGE, "max_drawdown_bps"),
    "policy_cage.rebalance_interval": (RuleRow.CAGE, "min_rebalance_interval_seconds"),
    "policy_cage.rebalances_per_day": (RuleRow.CAGE, "max_rebalances_per_day"),
    "policy_cage.approved_asset": (RuleRow.ALLOWLIST, ""),
    "simulator.health": (RuleRow.CAGE, "min_health_bps"),
    "simulator.health_on_the_way": (RuleRow.CAGE, "min_health_bps"),
    **{
        f"allowlist_guard.{each}": (RuleRow.ALLOWLIST, "")
        for each in ("contract", "token", "spender", "recipient", "hook")
    },
    "spending_limiter.owner_day": (RuleRow.BUDGET, ""),
}
NO_SETTING_LIFTS: Final = (
    *("policy_cage.phase", "policy_cage.halted", "policy_cage.nav_breaker", "simulator.reverted"),
    *("simulator.value_vanishes", "simulator.bought_dearly", "simulator.sold_for_nothing"),
    *("simulator.engines_disagree", "rate_limiter.loop", "rate_limiter.circuit_breaker"),
)


@pytest.mark.parametrize("rule", sorted(SET_AT))
def test_a_rule_that_an_owner_sets_is_told_with_its_place_and_that_place_is_there(rule: str) -> None:
    told = describe_rule(rule)
    assert (told.row, told.column) == SET_AT[rule]
    assert told.words != _spelt(rule).words
    row, column = SET_AT[rule]
    if column:
        assert ROWS[row]._meta.get_field(column) is not None


@pytest.mark.parametrize("rule", NO_SETTING_LIFTS)
def test_a_rule_that_no_setting_lifts_is_told_in_words_of_its_own(rule: str) -> None:
    told = describe_rule(rule)
    assert (told.row, told.column) == (None, "") and told.words != _spelt(rule).words


def test_two_rules_are_told_in_the_same_words_only_where_they_hold_the_same() -> None:
    told: dict[str, list[str]] = {}
    for rule in (*SET_AT, *NO_SETTING_LIFTS):
        told.setdefault(describe_rule(rule).words, []).append(rule)
    twice = [rules for rules in told.values() if len(rules) > 1]
    assert twice == [["simulator.health", "simulator.health_on_the_way"]]


def test_a_rule_that_nobody_named_is_spelt_after_the_check_that_has_it() -> None:
    assert describe_rule("some_hook.odd_THING") == RuleWords("some hook: odd thing")
    assert describe_rule("a.b.c_d") == RuleWords("a.b: c d")
    assert describe_rule("lonely_rule") == RuleWords("lonely rule")
    assert OwnerBudget._meta.get_fields()


def _spelt(rule: str) -> RuleWords:
    hook, _, name = rule.rpartition(".")
    return RuleWords(f"{hook.replace('_', ' ')}: {name.replace('_', ' ')}")
