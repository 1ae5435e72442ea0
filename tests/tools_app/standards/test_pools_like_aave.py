"""What a pool like Aave's is not asked for because it would refuse, up to the unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.told_reader import refusal_of
from tests.tools_app.standards.made_pool import (
    ACCOUNT,
    DOLLAR,
    HELD,
    ME,
    OPEN,
    RESERVE,
    STAND,
    TWO,
    UNIT,
    configure,
)
from tools_app.core.errors import Recovery
from tools_app.standards.aave_like.checks import Checks
from tools_app.standards.aave_like.reads import EModeCategory, Stand
from tools_app.standards.aave_like.signatures import STABLE, VARIABLE
from tools_app.toolkit.lending import MarketClosed
from tools_app.toolkit.positions import HealthTooLow, PositionRef


def judge(stand: Stand = STAND, *, flags: tuple[str, ...] | None = None, floor: int = 15_000, **numbers: int) -> Checks:
    if flags is not None or numbers:
        configuration = configure(*(OPEN if flags is None else flags), **numbers)
        stand = replace(stand, reserve=replace(stand.reserve, configuration=configuration))
    return Checks(stand, TWO, PositionRef("pool", "account", 1, ME), "Pool", floor)


def in_reserve(**fields: Any) -> Stand:
    return replace(STAND, reserve=replace(RESERVE, **fields))


def closed(act: Callable[[], None]) -> MarketClosed:
    refused: MarketClosed = refusal_of(act, MarketClosed)
    assert refused.data["asset"] == TWO.address
    assert refused.detail.startswith("TWO at Pool ")
    return refused


# ---- open or closed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "reason", "next_step"),
    [
        (("borrowable",), "inactive", Recovery.FIX_PARAMS),
        ((*OPEN, "paused"), "paused", Recovery.WAIT),
        ((*OPEN, "frozen"), "frozen", Recovery.WAIT),
    ],
)
def test_a_reserve_that_is_shut_takes_nothing_and_says_for_what_to_wait(
    flags: tuple[str, ...], reason: str, next_step: Recovery
) -> None:
    # What covers only a part of the debt, so that it may be given up.
    checks = judge(replace(STAND, held=replace(HELD, supplied=3_000 * UNIT)), flags=flags)
    for act in (lambda: checks.check_supply(1), lambda: checks.check_borrow(1, VARIABLE)):
        refused = closed(act)
        assert (refused.data["reason"], refused.next_step) == (reason, next_step)
        assert ("cleared_by" in refused.data) is (next_step is Recovery.WAIT)
    outward = [
        lambda: checks.check_withdrawal(1),
        lambda: checks.check_collateral_use(wanted=True),
        lambda: checks.check_collateral_use(wanted=False),
    ]
    for act in outward:
        # What is frozen lets out, and counts as it did.
        if reason == "frozen":
            act()
        else:
            assert closed(act).data["reason"] == reason


@pytest.mark.parametrize(("free", "is_taken"), [(10_000 * UNIT, True), (10_000 * UNIT - 1, False)])
def test_nothing_enters_a_reserve_of_which_less_than_a_hundredth_can_be_taken_out(free: int, is_taken: bool) -> None:
    checks = judge(in_reserve(variable_owed=900_000 * UNIT - free))
    for act in (lambda: checks.check_supply(1), lambda: checks.check_borrow(1, VARIABLE)):
        if is_taken:
            act()
        else:
            refused = closed(act)
            assert (refused.data["reason"], refused.next_step) == ("used", Recovery.WAIT)
            assert "of 1000000 TWO 9999.999999 TWO can be taken out now" in refused.detail


@pytest.mark.parametrize(
    ("cap", "name", "reason"), [("supply_cap", "check_supply", "supply_cap"), ("borrow_cap", "borrow", "borrow_cap")]
)
def test_a_cap_is_filled_to_the_unit_and_its_room_is_said(cap: str, name: str, reason: str) -> None:
    # Whole tokens: ten above what is supplied, and above what is owed in both modes.
    used = {"supply_cap": 1_000_000, "borrow_cap": 600_000}[cap]
    more: Any = {cap: used + 10}
    checks = judge(**more)
    act = checks.check_supply if cap == "supply_cap" else lambda amount: checks.check_borrow(amount, VARIABLE)
    act(10 * UNIT)
    refused = closed(lambda: act(10 * UNIT + 1))
    assert refused.data["reason"] == reason
    assert (refused.data["room"], refused.data["room_units"]) == ("10000000", "10 TWO")
    assert refused.next_step is Recovery.FIX_PARAMS and "cleared_by" not in refused.data
    less: Any = {cap: used - 1}
    full = judge(**less)
    act = full.check_supply if cap == "supply_cap" else lambda amount: full.check_borrow(amount, VARIABLE)
    assert closed(lambda: act(1)).data["room"] == "0"
    assert judge().reserve.supply_room is judge().reserve.borrow_room is None


def test_as_much_is_taken_out_as_lies_there_and_not_a_unit_more() -> None:
    checks = judge(in_reserve(variable_owed=899_990 * UNIT))
    checks.check_liquidity(10 * UNIT)
    refused = closed(lambda: checks.check_liquidity(10 * UNIT + 1))
    assert (refused.data["reason"], refused.data["room"]) == ("liquidity", "10000000")
    # Less would pass now, so nobody has to wait; where nothing lies there everybody has.
    assert refused.next_step is Recovery.FIX_PARAMS
    empty = closed(lambda: judge(in_reserve(variable_owed=950_000 * UNIT)).check_liquidity(1))
    assert (empty.data["room"], empty.next_step) == ("0", Recovery.WAIT)
    assert empty.data["cleared_by"] == "others repay or supply"


# ---- borrowing -------------------------------------------------------------------------------------------------------


def test_what_is_not_lent_out_is_not_borrowed_and_what_has_no_stable_rate_not_at_one() -> None:
    assert closed(lambda: judge(flags=("active",)).check_borrow(1, VARIABLE)).data["reason"] == "not_borrowable"
    assert closed(lambda: judge().check_borrow(1, STABLE)).data["reason"] == "no_stable_rate"
    judge(flags=(*OPEN, "stable")).check_borrow(1, STABLE)
    outside, inside = (EModeCategory(7, 9_000, 9_300, False, has_debt) for has_debt in (False, True))
    refused = closed(lambda: judge(replace(STAND, category=outside)).check_borrow(1, VARIABLE))
    assert refused.data["reason"] == "e_mode" and "category 7" in refused.detail
    judge(replace(STAND, category=inside)).check_borrow(1, VARIABLE)


def test_a_debt_leaves_the_floor_and_a_basis_point_and_the_last_unit_is_told() -> None:
    checks = judge()
    # 8,000 dollars over 1.5001 are 5,332.97780148, of which 2,000 are owed; a token is two dollars.
    most = 1_666_488_900
    assert checks.most_borrowed() == most
    checks.check_borrow(most, VARIABLE)
    refused = refusal_of(lambda: checks.check_borrow(most + 1, VARIABLE), HealthTooLow)
    assert refused.data == {
        "position": f"pool/account/1/{ME}",
        "health_bps": "15000",
        "least_health_bps": "15000",
        "most": str(most),
        "most_units": "1666.4889 TWO",
    }
    assert "would be 1.50; at least 1.50 is kept, and the pool lends up to 75%" in refused.detail
    assert "At most 1666.4889 TWO can be borrowed now" in refused.detail


def test_no_more_is_borrowed_than_the_pool_lends_whatever_the_floor_leaves() -> None:
    lent = judge(replace(STAND, account=replace(ACCOUNT, available=100 * DOLLAR)))
    assert lent.most_borrowed() == 50 * UNIT - 1
    assert judge(floor=40_000).most_borrowed() == 0
    assert judge(in_reserve(price=0)).most_borrowed() == 0


def test_what_is_isolated_borrows_up_to_its_ceiling_in_cents_and_only_what_may_be() -> None:
    # 1,000 dollars may be owed against it, of which 400 are.
    isolated = replace(RESERVE, configuration=configure(*OPEN, ceiling=100_000), isolated_debt=40_000)
    checks = judge(replace(STAND, isolated_by=isolated))
    checks.check_borrow(300 * UNIT, VARIABLE)
    refused = closed(lambda: checks.check_borrow(300 * UNIT + 1, VARIABLE))
    assert (refused.data["reason"], refused.data["room"]) == ("debt_ceiling", "300000000")
    over = replace(STAND, isolated_by=replace(isolated, isolated_debt=100_001))
    assert closed(lambda: judge(over).check_borrow(1, VARIABLE)).data["room"] == "0"
    shut = judge(replace(STAND, isolated_by=isolated), flags=("active", "borrowable"))
    assert closed(lambda: shut.check_borrow(1, VARIABLE)).data["reason"] == "isolation"


# ---- taking out, and counting as collateral --------------------------------------------------------------------------


def test_what_is_taken_out_leaves_the_floor_and_the_last_unit_is_told() -> None:
    checks = judge()
    # 3,000 of 8,000 dollars of cover have to stay; at 80% the others are 6,250 dollars, a token is two.
    most = 3_125 * UNIT - 1
    assert checks.most_withdrawn() == most
    assert checks.most_withdrawn(spare_bps=5_000) == 2_500 * UNIT - 1
    checks.check_withdrawal(most)
    refused = refusal_of(lambda: checks.check_withdrawal(most + 1), HealthTooLow)
    assert (refused.data["most"], refused.data["health_bps"]) == (str(most), "15000")
    assert "can be withdrawn now" in refused.detail
    assert checks.health_less_collateral(1_000 * UNIT) == 32_000


@pytest.mark.parametrize(
    "stand",
    [
        replace(STAND, account=replace(ACCOUNT, debt=0)),
        replace(STAND, held=replace(HELD, is_collateral=False)),
        replace(STAND, category=EModeCategory(1, 0, 0, True, True)),
    ],
    ids=["nothing is owed", "it is no collateral", "it covers nothing"],
)
def test_what_covers_no_debt_is_taken_out_whole(stand: Stand) -> None:
    assert judge(stand).most_withdrawn() == 5_000 * UNIT
    judge(stand).check_withdrawal(5_000 * UNIT)
    # And no more than is held is said to be there, however much the floor would leave.
    assert judge(replace(STAND, held=replace(HELD, supplied=7))).most_withdrawn() == 7


def test_collateral_is_given_up_where_the_rest_keeps_the_floor() -> None:
    # It is all the cover there is.
    refused = refusal_of(lambda: judge().check_collateral_use(wanted=False), HealthTooLow)
    assert (refused.data["health_bps"], refused.data["most"]) == ("0", str(3_125 * UNIT - 1))
    assert "no collateral any more" in refused.detail
    # 3,000 dollars of cover are left of 8,000 at the edge.
    edge = replace(STAND, held=replace(HELD, supplied=3_125 * UNIT))
    judge(edge).check_collateral_use(wanted=False)
    beyond = replace(STAND, held=replace(HELD, supplied=3_125 * UNIT + 100))
    refusal_of(lambda: judge(beyond).check_collateral_use(wanted=False), HealthTooLow)
    judge(replace(STAND, account=replace(ACCOUNT, debt=0))).check_collateral_use(wanted=False)
    assert judge(replace(STAND, held=replace(HELD, is_collateral=False))).health_less_collateral(1) == 40_000


def test_collateral_is_added_where_it_counts_and_isolation_lets_it() -> None:
    judge().check_collateral_use(wanted=True)
    assert closed(lambda: judge(ltv=0).check_collateral_use(wanted=True)).data["reason"] == "not_collateral"
    # Reserve 0 is collateral too.
    beside = replace(STAND, account=replace(ACCOUNT, bitmap=1 << 1))
    judge(beside).check_collateral_use(wanted=True)
    refused = closed(lambda: judge(beside, ceiling=1).check_collateral_use(wanted=True))
    assert refused.data["reason"] == "isolation" and "has other collateral already" in refused.detail
    judge(ceiling=1).check_collateral_use(wanted=True)
    bound = replace(beside, isolated_by=RESERVE)
    refused = closed(lambda: judge(bound).check_collateral_use(wanted=True))
    assert refused.data["reason"] == "isolation" and "disable that first" in refused.detail
    judge(replace(STAND, isolated_by=RESERVE)).check_collateral_use(wanted=True)
    # In e-mode its own figures count.
    judge(replace(STAND, category=EModeCategory(1, 9_000, 9_300, True, True)), ltv=0).check_collateral_use(wanted=True)
