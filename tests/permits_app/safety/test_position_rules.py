"""The rules over positions at their edges, on plain values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permits_app.safety.position_rules import (
    DUST,
    by_prices_or_lender,
    find_broken,
    judge_changes,
    judge_gauges,
    judge_health,
    judge_heirs,
    pair_up,
)
from tests.evm.world import CHAIN_ID
from tests.tools_app.portfolio.paper_bank import LOAN as PAPER_LOAN
from tests.tools_app.portfolio.paper_bank import Paper, read_paper
from tools_app.portfolio.health import measure_health
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import Gauge, GaugeBound, Leg, OrderStanding, Position, PositionChange, PositionRef
from tools_app.toolkit.valuation_rules import Shown, Uncounted
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


def lent(raw: int, **more: Any) -> Position:
    return Position(REF, "Account", (Leg(PAPER_LOAN.address, raw),), **more)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (0, "0 LOAN (0 base units)"),
        (-1_500_000, "-1.5 LOAN (1500000 base units)"),
        (99_999, "0.099999 LOAN (99999 base units)"),
    ],
)
def test_a_promise_that_is_not_kept_is_told_signed_and_in_its_unit(change: int, told: str) -> None:
    plan = TxPlan(CHAIN_ID, (), changes=(promise(PAPER_LOAN.address, 100_000),))
    result = simulated(lent(2_000_000), lent(2_000_000 + change))
    refused = judge_changes(plan=plan, simulation=result, chain=read_paper(Paper()))
    assert refused is not None and refused.rule == "simulator.position_bound"
    assert (refused.observed, refused.limit) == (told, "at least 0.1 LOAN (100000 base units)")
    assert f"would change by {told}" in refused.reason
    assert refused.data == {"position": str(REF), "token": PAPER_LOAN.address}
    kept = simulated(lent(2_000_000), lent(2_100_000))
    assert judge_changes(plan=plan, simulation=kept, chain=read_paper(Paper())) is None


def test_a_debt_may_grow_by_what_the_plan_says_and_is_told_with_its_sign() -> None:
    plan = TxPlan(CHAIN_ID, (), changes=(promise(PAPER_LOAN.address, -100_000),))
    refused = judge_changes(plan=plan, simulation=simulated(lent(-5), lent(-100_006)), chain=read_paper(Paper()))
    assert refused is not None
    assert (refused.observed, refused.limit) == (
        "-0.100001 LOAN (100001 base units)",
        "at least -0.1 LOAN (100000 base units)",
    )


def test_what_a_plan_does_not_speak_of_is_told_by_its_position_and_kind() -> None:
    result = simulated(lent(2_000_000), lent(500_000))
    refused = judge_changes(plan=TxPlan(CHAIN_ID, ()), simulation=result, chain=read_paper(Paper()))
    assert refused is not None and refused.rule == "simulator.position_unannounced"
    assert refused.reason.startswith(f"{REF} (account) would change by -1.5 LOAN")
    born = judge_changes(plan=TxPlan(CHAIN_ID, ()), simulation=simulated(None, lent(9)), chain=read_paper(Paper()))
    assert born is not None and born.reason.startswith("lender (account) would change by 0.000009 LOAN")


def test_what_never_counts_is_named_by_its_protocol_and_no_contract_is_asked() -> None:
    """The reader knows no such token: asking it would raise."""
    points = "0x" + "99" * 20

    def position(raw: int) -> Position:
        held = Uncounted(points, raw, "PTS", 2, "points", Shown(PAPER_LOAN.address, 1))
        return lent(1, uncounted=(held,))

    taken = simulated(position(1_000), position(500))
    refused = judge_changes(plan=TxPlan(CHAIN_ID, ()), simulation=taken, chain=read_paper(Paper()))
    assert refused is not None and refused.observed == "-5 PTS (500 base units)"


def test_what_comes_of_an_order_is_the_accounts_own() -> None:
    for heir, passes in (("me", True), ("somebody", False)):
        order = OrderStanding(heir=heir, brings=(), until=None, awaits="a price")
        refused = judge_heirs(simulation=simulated(None, lent(1, standing=order)), account="me")
        assert (refused is None) is passes
        if refused is not None:
            assert (refused.rule, refused.observed, refused.limit) == ("simulator.order_heir", heir, "me")
    assert judge_heirs(simulation=simulated(lent(1), None), account="me") is None


def judge_loan(
    before: Position | None, after: Position, *changes: PositionChange, is_raising: bool
) -> tuple[str, str] | None:
    """What is asked of it, and how much of it is left, at a floor of 1.5; None where it passes."""
    plan = TxPlan(CHAIN_ID, (), changes=changes)
    refused = judge_health(
        plan=plan, simulation=simulated(before, after), floor_bps=15_000, value_of=at_par, is_raising=is_raising
    )
    return (str(refused.limit), str(refused.remaining)) if refused is not None else None


A_BLOCK = ", and the interest of a block"


@pytest.mark.parametrize(
    ("before", "after", "is_raising", "told"),
    [
        # 80% of the cash over the debt: nothing changed, under the floor.
        ((1_000, 800), (1_000, 800), True, None),
        ((1_000, 800), (1_000, 800), False, None),
        # Twice as much of both stands no better, and is more at risk.
        ((1_000, 800), (2_000, 1_600), True, (f"at least 1.50{A_BLOCK}", "0.00")),
        ((1_000, 800), (2_000, 1_600), False, None),
        # What only lowers risk may not make it worse, nor cross the floor.
        ((1_000, 800), (500, 401), False, ("at least 1.00", "0.00")),
        ((1_000, 400), (1_000, 600), False, ("at least 1.50", "0.50")),
        ((1_000, 400), (750, 400), False, None),
        # A loan that nothing covers any more is told as that.
        ((1_000, 0), (0, 600), False, ("at least 1.50", "0.00")),
        ((1_000, 500), (1_000, 520), False, None),
        # A debt that was not there before is held to the floor whatever it says of itself.
        ((1_000, 0), (1_000, 600), False, ("at least 1.50", "0.00")),
        ((1_000, 0), (1_000, 600), True, (f"at least 1.50{A_BLOCK}", "0.00")),
        ((1_000, 0), (1_000, 400), True, None),
    ],
)
def test_a_debt_stands_on_what_it_has_to(
    before: tuple[int, int], after: tuple[int, int], is_raising: bool, told: tuple[str, str] | None
) -> None:
    assert judge_loan(account(*before), account(*after), is_raising=is_raising) == told


def test_a_plan_may_promise_more_health_than_the_floor_of_the_position_it_names() -> None:
    before, after = account(1_000, 300), account(1_000, 450)
    named = replace(promise(LOAN, -150), least_health_bps=20_000)
    assert judge_loan(before, after, is_raising=True) is None
    assert judge_loan(before, after, named, is_raising=True) == (f"at least 2.00{A_BLOCK}", "0.66")
    elsewhere = replace(named, ref=PositionRef("lender", "account", CHAIN_ID, "somebody"))
    for other in (elsewhere, replace(named, ref=None), promise(LOAN, -150)):
        assert judge_loan(before, after, other, is_raising=True) is None


@pytest.mark.parametrize(("lost", "passes"), [(DUST + 400, True), (DUST + 401, False)])
def test_interest_takes_its_parts_of_what_was_there_and_no_more(lost: int, passes: bool) -> None:
    """Four parts of ten million of a thousand million; of what was promised no dust comes on top."""
    assert (find_broken((), pair_up([account(10**9)], [account(10**9 - lost)]), room=4) is None) is passes
    said = (promise(CASH, -100),)
    kept = pair_up([account(10**9)], [account(10**9 - 100 - lost + DUST)])
    assert (find_broken(said, kept, room=4) is None) is passes


@pytest.mark.parametrize(("arrived", "passes"), [(100, True), (99, False)])
def test_a_plan_may_call_what_it_opens_by_its_name(arrived: int, passes: bool) -> None:
    assert (find_broken((promise(CASH, 100),), pair_up([], [account(arrived)])) is None) is passes


def test_what_nobody_buys_may_come_unasked_and_what_somebody_buys_may_not() -> None:
    points = "0x" + "99" * 20
    for market, passes in ((None, True), (Shown(CASH, 1), False)):
        born = pair_up([], [lent(0, uncounted=(Uncounted(points, 100, "PTS", 2, "points", market),))])
        [moved] = born
        assert moved.list_uncounted_changes() == {points: 100}
        assert (find_broken((), born) is None) is passes


def test_a_way_out_that_makes_a_loan_no_worse_stays_open_whatever_was_promised() -> None:
    """Both halves of cash and debt are left: it stands as before, on less than the plan promised."""
    promised = replace(promise(LOAN, 400), least_health_bps=20_000)
    assert judge_loan(account(1_000, 800), account(500, 400), promised, is_raising=False) is None
    assert judge_loan(account(1_000, 800), account(500, 401), promised, is_raising=False) is not None


@pytest.mark.parametrize("is_named", [True, False])
def test_an_owner_who_asks_for_no_health_gets_what_was_asked(is_named: bool) -> None:
    changes = (promise(LOAN, -1),) if is_named else ()
    plan, result = TxPlan(CHAIN_ID, (), changes=changes), simulated(account(9, 0), account(0, 1))
    for floor_bps, passes in ((0, True), (1, False)):
        refused = judge_health(plan=plan, simulation=result, floor_bps=floor_bps, value_of=at_par, is_raising=False)
        assert (refused is None) is passes


def test_what_another_position_brings_keeps_no_promise_about_one_that_was_there() -> None:
    other = replace(account(100), ref=PositionRef("lender", "account", CHAIN_ID, "new"))
    broken = find_broken((promise(CASH, 100),), pair_up([account(1_000)], [account(1_000), other]))
    assert broken is not None and (broken.slot, broken.change, broken.bound) == (str(REF), 0, 100)


@pytest.mark.parametrize(("found", "passes"), [(100, True), (99, False)])
def test_what_never_counts_is_held_to_what_a_plan_promises_of_it(found: int, passes: bool) -> None:
    points = "0x" + "99" * 20
    moved = pair_up([lent(1)], [lent(1, uncounted=(Uncounted(points, found, "PTS", 2, "points", Shown(CASH, 1)),))])
    said = replace(promise(points, 100), counts=False)
    assert (find_broken((said,), moved) is None) is passes
    assert find_broken((replace(said, counts=True),), moved) is not None


def test_in_one_block_interest_takes_nothing_however_much_was_there() -> None:
    said = promise(CASH, -100)
    for lost, passes in ((100, True), (101, False)):
        assert (find_broken((said,), pair_up([account(10**9)], [account(10**9 - lost)])) is None) is passes


def test_what_no_feed_prices_is_worth_nothing_so_that_the_lenders_word_of_health_decides() -> None:
    chain = read_paper(Paper(prices={}))
    assert by_prices_or_lender(chain, lambda value_of: value_of(PAPER_LOAN.address, 5_000_000)) == 0
    priced = read_paper(Paper())
    assert by_prices_or_lender(priced, lambda value_of: value_of(PAPER_LOAN.address, 5_000_000)) == 7_500_000
