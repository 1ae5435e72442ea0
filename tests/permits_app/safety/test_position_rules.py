"""The rules over positions at their edges, on plain values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permits_app.safety.position_rules import DUST, find_broken, judge_gauges, judge_health, pair_up
from tests.evm.world import CHAIN_ID
from tools_app.portfolio.health import measure_health
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import Gauge, GaugeBound, Leg, Position, PositionChange, PositionRef
from tools_app.toolkit.views import BlockRef

CASH, LOAN = "0x" + "11" * 20, "0x" + "22" * 20
REF = PositionRef("lender", "account", CHAIN_ID, "me")


def account(cash: int = 0, owed: int = 0, *, health: int | None = None, cover: int = 8_000) -> Position:
    return Position(REF, "Account", (Leg(CASH, cash, cover_bps=cover), Leg(LOAN, -owed)), health_bps=health)


def promise(token: str, raw: int, bound: int | None = None, ref: PositionRef | None = REF) -> PositionChange:
    return PositionChange("lender", "account", token, raw, raw if bound is None else bound, ref)


def at_par(token: str, raw: int) -> int:
    return raw


def simulated(before: Position | None, after: Position | None) -> Any:
    return SimulationResult(
        engine="rpc",
        fidelity="",
        block=BlockRef(1, "0x", 1, 1),
        sender="me",
        calls=(),
        balances_before={},
        balances_after={},
        allowances_before={},
        allowances_after={},
        positions_before=(before,) if before else (),
        positions_after=(after,) if after else (),
    )


@pytest.mark.parametrize(("lost", "passes"), [(DUST, True), (DUST + 1, False)])
def test_rounding_may_take_two_base_units_of_a_leg_and_no_more(lost: int, passes: bool) -> None:
    moved = pair_up([account(100)], [account(100 - lost)])
    assert (find_broken((), moved) is None) is passes


@pytest.mark.parametrize(
    ("grown", "passes"), [(-100, False), (-1, True), (0, True), (DUST, True), (DUST + 1, True), (10**9, True)]
)
def test_what_was_there_may_earn_and_what_is_new_may_not_come_unannounced(grown: int, passes: bool) -> None:
    assert (find_broken((), pair_up([account(1_000)], [account(1_000 + grown)])) is None) is passes
    born = find_broken((), pair_up([], [account(abs(grown))]))
    assert (born is None) is (abs(grown) <= DUST)


@pytest.mark.parametrize(
    ("least", "most", "value", "limit"),
    [
        (5, None, 4, "at least 5"),
        (5, None, 5, None),
        (None, 5, 5, None),
        (None, 5, 6, "at most 5"),
        (5, 7, 8, "at most 7"),
        (None, None, 10**30, None),
    ],
)
def test_a_gauge_ends_within_what_the_plan_says(
    least: int | None, most: int | None, value: int, limit: str | None
) -> None:
    bound = GaugeBound(Gauge("mode", CASH, "mode() view returns (uint256)"), least, most)
    plan = TxPlan(chain_id=CHAIN_ID, calls=(), gauges=(bound,))
    refused = judge_gauges(plan=plan, simulation=replace(simulated(None, None), gauges_after=(value,)))
    assert (refused.limit if refused else None) == limit


def test_a_gauge_that_was_not_measured_is_no_gauge_that_is_kept() -> None:
    plan = TxPlan(chain_id=CHAIN_ID, calls=(), gauges=(GaugeBound(Gauge("mode", CASH, "mode()"), 5),))
    with pytest.raises(ValueError, match="shorter"):
        judge_gauges(plan=plan, simulation=simulated(None, None))


@pytest.mark.parametrize(("arrived", "passes"), [(99, False), (100, True), (101, True)])
def test_a_promise_is_kept_to_the_base_unit(arrived: int, passes: bool) -> None:
    for said in (promise(CASH, 100), promise(CASH, 100, ref=None)):
        is_born = said.ref is None
        moved = pair_up([] if is_born else [account(1_000)], [account(arrived if is_born else 1_000 + arrived)])
        assert (find_broken((said,), moved) is None) is passes
    owed = pair_up([account(1_000)], [account(1_000, 200 - arrived)])
    assert (find_broken((promise(LOAN, -100),), owed) is None) is passes


@given(
    before=st.tuples(st.integers(0, 10**24), st.integers(0, 10**24)),
    change=st.tuples(st.integers(-(10**24), 10**24), st.integers(-(10**24), 10**24)),
)
def test_what_is_said_exactly_passes_and_one_worse_never(before: tuple[int, int], change: tuple[int, int]) -> None:
    cash, owed = before[0] + change[0], before[1] - change[1]
    if cash < 0 or owed < 0:
        return
    said = tuple(promise(token, raw) for token, raw in zip((CASH, LOAN), change, strict=True) if raw)
    moved = pair_up([account(*before)], [account(cash, owed)])
    assert find_broken(said, moved) is None
    worse = pair_up([account(*before)], [account(cash, owed + DUST + 1)])
    assert find_broken(said, worse) is not None


@pytest.mark.parametrize(("owed", "passes"), [(5_332_977, True), (5_332_978, False), (5_333_333, False)])
def test_what_raises_risk_ends_above_the_floor_by_a_block_of_interest(owed: int, passes: bool) -> None:
    """Ten millions of cover at 80% over 5,332,977 is 1.5001, over 5,332,978 a little less, over 5,333,333 the floor."""
    result = simulated(account(10_000_000), account(10_000_000, owed))
    plan = TxPlan(CHAIN_ID, (), changes=(promise(LOAN, -owed),))
    refusal = judge_health(plan=plan, simulation=result, floor_bps=15_000, value_of=at_par, is_raising=True)
    assert (refusal is None) is passes


def test_the_lower_of_two_healths_counts_whoever_says_it() -> None:
    assert measure_health(account(10_000, 4_000, health=30_000), at_par) == 20_000
    assert measure_health(account(10_000, 4_000, health=12_000), at_par) == 12_000
    assert measure_health(account(10_000, 4_000, cover=0), at_par) == 0
    assert measure_health(account(10_000), at_par) is None


@pytest.mark.parametrize(("left", "passes"), [(4_900, True), (5_000, True), (5_001, False)])
def test_a_rescue_that_is_too_small_is_still_a_rescue(left: int, passes: bool) -> None:
    """At 1.1 the account is under its floor; what leaves may not make it worse."""
    result = simulated(account(6_875, 5_000), account(6_875, left))
    plan = TxPlan(CHAIN_ID, ())
    assert (
        judge_health(plan=plan, simulation=result, floor_bps=15_000, value_of=at_par, is_raising=False) is None
    ) is passes


def test_interest_between_two_blocks_is_no_broken_promise() -> None:
    said = (promise(LOAN, -100),)
    moved = pair_up([account(10**9, 10**9)], [account(10**9, 10**9 + 100 + 300)])
    assert find_broken(said, moved) is not None
    assert find_broken(said, moved, room=4) is None
