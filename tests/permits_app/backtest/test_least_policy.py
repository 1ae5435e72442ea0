"""The least policy allows all of a period, and a limit of it that were one unit tighter would not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permits_app.approvals.policy_state import apply_differences
from permits_app.backtest.least_policy import Suggestion, find_least_policy
from permits_app.backtest.policy_replay import replay_decisions
from tests.evm.world import CHAIN_ID
from tests.permits_app.backtest.lives import LISTED, OPEN, OTHER_ROUTER, Life, Wish, tighten
from tests.permits_app.backtest.test_policy_replay import DRAWDOWNS, POLICIES, RIGHT, USD, WISHES, WRONG
from tests.permits_app.safety.calls import ROUTER, USDC, WETH
from tools_app.toolkit.enums import ActionClass as A

TIGHTER_IS_HIGHER = {"min_rebalance_interval_seconds", "min_collateral_ratio_bps"}
# A limit at the end of its range cannot be tightened; nothing is denied by that.
ENDS = {"max_concentration_bps": 500, "max_drawdown_bps": 100, "min_rebalance_interval_seconds": 86_400}


def _apply(suggestion: Suggestion) -> dict[str, Any]:
    return apply_differences(OPEN, suggestion.as_changes())


def _one_unit_less(policy: dict[str, Any], row: str, name: str) -> dict[str, Any] | None:
    value = policy[row][name]
    if name == "allowlist_mode":
        return None
    if value in ("True", "False"):
        return tighten(policy, **{name: "True"}) if value == "False" else None
    if int(value) == ENDS.get(name, 0):
        return None
    return tighten(policy, **{name: int(value) + (1 if name in TIGHTER_IS_HIGHER else -1)})


@settings(max_examples=40, deadline=None)
@given(wishes=WISHES, lived=POLICIES, drawdown=DRAWDOWNS, right=st.integers(0, 20), with_refused=st.booleans())
def test_the_least_policy_allows_the_period_and_one_unit_less_of_any_limit_does_not(
    wishes: list[Wish], lived: dict[str, Any], drawdown: int, right: int, with_refused: bool
) -> None:
    predictions = RIGHT[:right] + WRONG[right:]
    life = Life(tighten(lived, max_drawdown_bps=drawdown), predictions=predictions)
    life.live(wishes)
    known = [(life.decisions[0].at, each) for each in predictions[::-1]] if life.decisions else []
    suggestion = find_least_policy(life.decisions, state=OPEN, predictions=known, with_refused=with_refused)
    least = _apply(suggestion)
    wanted = [past for past in life.decisions if past.is_allowed or with_refused]
    assert suggestion.covered + suggestion.unknown + suggestion.hopeless == len(wanted)

    def allowed(policy: dict[str, Any]) -> set[int]:
        lines = replay_decisions(wanted, policy, predictions=known).lines
        return {place for place, line in enumerate(lines) if line.becomes == "allowed"}

    covered = allowed(least)
    assert suggestion.covered == len(covered)
    if not suggestion.covered:
        assert suggestion.values == ()
        return
    for value in suggestion.values:
        if value.row == "allowlist":
            continue
        less = _one_unit_less(least, value.row, value.name)
        # One of these is refused; what that leaves of a day's or a session's sum may let another one through instead.
        assert less is None or not covered <= allowed(less), value
    for key in least["allowlist"]:
        without = {**least, "allowlist": {each: "" for each in least["allowlist"] if each != key}}
        assert not covered <= allowed(without), key


def test_every_figure_of_the_suggestion_is_what_the_period_needed() -> None:
    life = Life(OPEN)
    life.live(
        [
            Wish(amount=3 * USD, tick=1, slippage_bps=42, position=2 * USD),
            Wish(amount=2 * USD, tick=1, key=1, impact_bps=7, collateral_bps=13_000, usdc=8 * USD),
            Wish(amount=1 * USD, action_class=A.REBALANCE),
            Wish(amount=1 * USD, action_class=A.REBALANCE),
        ]
    )
    found = {value.name: value.least for value in find_least_policy(life.decisions, state=OPEN).values}
    assert found == {
        "allowlist_mode": "STRICT",
        "per_transaction_micro_usd": str(3 * USD),
        "per_tick_micro_usd": str(5 * USD),
        "per_session_micro_usd": str(5 * USD),
        "per_day_micro_usd": str(7 * USD),
        **{f"trading_costs_per_{each}_micro_usd": str(4 * 5_000) for each in ("day", "pair", "venue")},
        "writes_per_hour": "4",
        "max_slippage_bps": "50",
        "max_price_impact_bps": "10",
        "max_position_bps": "2000",
        "max_concentration_bps": "4000",
        "min_rebalance_interval_seconds": "600",
        "max_rebalances_per_day": "2",
        "min_collateral_ratio_bps": "13000",
        "max_assets": "2",
        "max_drawdown_bps": "1000",
        "is_action_gate_on": "False",
        **{key: None for key in LISTED if "ACD71143" in key or OTHER_ROUTER in key},
    }


def test_what_no_call_came_near_is_left_as_it_is() -> None:
    life = Life(OPEN)
    life.live([Wish()])
    named = {value.name for value in find_least_policy(life.decisions, state=OPEN).values}
    assert not named & {"min_collateral_ratio_bps", "min_rebalance_interval_seconds"}


def test_entries_that_are_missing_are_suggested_and_only_those_a_call_needs() -> None:
    life = Life(tighten(allowlist_mode="OFF"))
    life.live([Wish()])
    bare = {**OPEN, "allowlist": {}}
    found = find_least_policy(life.decisions, state=bare)
    assert {value.name for value in found.values if value.row == "allowlist"} == {
        f"{CHAIN_ID}:TOKEN:{USDC.address}",
        f"{CHAIN_ID}:TOKEN:{WETH.address}",
        f"{CHAIN_ID}:CONTRACT:{ROUTER}",
    }


def test_with_what_was_refused_the_limits_are_as_wide_as_that_needed() -> None:
    life = Life(tighten(per_transaction_micro_usd=USD))
    life.live([Wish(), Wish(amount=4 * USD)])
    for with_refused, least in ((False, USD), (True, 4 * USD)):
        found = find_least_policy(life.decisions, state=OPEN, with_refused=with_refused)
        values = {value.name: value.least for value in found.values}
        assert values["per_transaction_micro_usd"] == str(least)


@pytest.mark.parametrize("rule", ["simulator.reverts", "policy_cage.contract"])
def test_what_no_limit_can_allow_is_counted_apart(rule: str) -> None:
    life = Life(OPEN)
    life.live([Wish(), Wish()])
    decisions = [life.decisions[0], replace(life.decisions[1], rule=rule)]
    found = find_least_policy(decisions, state=OPEN, with_refused=True)
    assert (found.covered, found.unknown + found.hopeless) == (1, 1)


def test_nothing_is_suggested_where_nothing_can_be_judged() -> None:
    life = Life(OPEN)
    life.live([Wish()])
    found = find_least_policy([replace(life.decisions[0], facts=None)], state=OPEN)
    assert (found.values, found.covered, found.unknown) == ((), 0, 1)
    assert find_least_policy([], state=OPEN) == Suggestion((), 0)
