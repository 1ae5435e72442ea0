"""A plan whose end is well is refused where a step of it is not: on a real lender, through the hook of a preview."""

from __future__ import annotations

from dataclasses import replace

import pytest

from permits_app.hook_rejection import Reject
from permits_app.safety.health_between_calls import least_on_the_way
from permits_app.safety.hook import Allow
from permits_app.safety.hooks.simulator import Simulator
from tests.golem_project.heartbeat.loans import ETH, TOOLS, USD, carry_out, include, lend_out, plan
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import live_call
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan

LOOP = "lending_execute_leverage_loop"


@pytest.fixture
def lender(live_golem: LiveGolem) -> LiveGolem:
    include(live_golem, *TOOLS, LOOP, "lending_unwind_loop")
    carry_out(live_golem, plan(live_golem, "aave_supply", asset="WETH", amount=str(ETH)))
    return live_golem


def borrow_then_repay(live: LiveGolem, *, borrowed: int, repaid: int) -> TxPlan:
    """One plan that owes `borrowed` between its first call and its last, and `borrowed - repaid` afterwards."""
    taken = plan(live, "aave_borrow", asset="USDC", amount=str(borrowed - repaid), interest_rate_mode="variable")
    [more] = plan(live, "aave_borrow", asset="USDC", amount=str(repaid), interest_rate_mode="variable").calls
    carry_out(live, taken)
    back = plan(live, "aave_repay", asset="USDC", amount=str(repaid), interest_rate_mode="variable")
    # What comes in goes out again; what is owed may differ by what rounding leaves.
    kept = [replace(each, expected=0, bound=-10) for each in back.changes]
    spent = [replace(each, expected=0, bound=10) for each in back.spends]
    return replace(back, calls=(more, *back.calls), spends=tuple(spent), changes=tuple(kept))


@pytest.mark.protocols("aave_v3")
def test_a_loop_whose_middle_is_under_the_floor_is_refused_though_its_end_is_above_it(lender: LiveGolem) -> None:
    # Of 3,000 dollars of cover: 1,100 owed at the end, 2,000 in between.
    through = borrow_then_repay(lender, borrowed=2_000 * USD, repaid=900 * USD)
    params = {"asset": "USDC", "amount": "1000000", "interest_rate_mode": "variable"}
    verdict = Simulator().check(
        live_call(lender, "aave_borrow", params, plan=through, action_class=ActionClass.INCREASE_POSITION)
    )
    assert isinstance(verdict, Reject), verdict
    assert verdict.rule == "simulator.health_on_the_way" and "after call 1 of" in verdict.reason
    assert verdict.as_error("simulator").code == "HEALTH_TOO_LOW"


@pytest.mark.protocols("aave_v3")
def test_the_same_with_a_middle_above_the_floor_passes(lender: LiveGolem) -> None:
    through = borrow_then_repay(lender, borrowed=1_500 * USD, repaid=500 * USD)
    params = {"asset": "USDC", "amount": "1000000", "interest_rate_mode": "variable"}
    verdict = Simulator().check(
        live_call(lender, "aave_borrow", params, plan=through, action_class=ActionClass.INCREASE_POSITION)
    )
    assert isinstance(verdict, Allow), verdict


@pytest.mark.protocols("aave_v3")
def test_a_loop_of_ours_passes_whole_and_is_unwound_whole(live_golem: LiveGolem) -> None:
    include(live_golem, *TOOLS, LOOP, "lending_unwind_loop")
    pair = {"collateral_asset": "WETH", "borrow_asset": "USDC", "protocol": "aave_v3"}
    loop = live_call(live_golem, LOOP, {**pair, "initial_amount": str(ETH), "target_leverage": "1.9"})
    assert isinstance(Simulator().check(loop), Allow)
    assert loop.plan is not None
    carry_out(live_golem, loop.plan)
    back = live_call(
        live_golem,
        "lending_unwind_loop",
        {"account": live_golem.golem.address, "protocol": "aave_v3", "percent_to_unwind": 100},
    )
    verdict = Simulator().check(back)
    assert isinstance(verdict, Allow), verdict


@pytest.mark.protocols("aave_v3")
def test_a_way_out_that_goes_too_near_to_liquidation_is_refused(live_golem: LiveGolem) -> None:
    include(live_golem, *TOOLS)
    lend_out(live_golem, supplied=ETH, borrowed=1_000 * USD)
    # Nearly all of the spare cover is taken out first, then most of the debt is paid from the wallet.
    taken = ETH * 59 // 100
    small = plan(live_golem, "aave_withdraw", asset="WETH", amount=str(ETH // 10))
    [first] = small.calls
    far = replace(first, data=first.data[:36] + taken.to_bytes(32, "big") + first.data[68:])
    out = plan(live_golem, "aave_repay", asset="USDC", amount=str(900 * USD), interest_rate_mode="variable")
    less = [replace(each, expected=-taken, bound=-taken - 2) for each in small.changes]
    through = replace(
        out,
        calls=(far, *out.calls),
        changes=(*out.changes, *less),
        receives=tuple(replace(each, expected=taken, bound=taken) for each in small.receives),
    )
    params = {"asset": "USDC", "amount": str(900 * USD), "interest_rate_mode": "variable"}
    verdict = Simulator().check(live_call(live_golem, "aave_repay", params, plan=through))
    assert isinstance(verdict, Reject) and verdict.rule == "simulator.health_on_the_way", verdict


def test_what_is_asked_on_the_way_depends_on_where_it_leads() -> None:
    assert least_on_the_way(before_bps=None, floor_bps=15_000, is_raising=False) == 15_000
    assert least_on_the_way(before_bps=20_000, floor_bps=15_000, is_raising=True) == 15_000
    assert least_on_the_way(before_bps=20_000, floor_bps=15_000, is_raising=False) == 10_375
    assert least_on_the_way(before_bps=11_500, floor_bps=15_000, is_raising=False) == 10_375
    assert least_on_the_way(before_bps=11_496, floor_bps=15_000, is_raising=False) == 10_374
    assert least_on_the_way(before_bps=10_800, floor_bps=15_000, is_raising=False) == 10_200
    assert least_on_the_way(before_bps=9_000, floor_bps=15_000, is_raising=False) == 10_000
