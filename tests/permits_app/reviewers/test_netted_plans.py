"""The guardian nets what a plan brings and takes again, and rights it gives and takes back; positions are no loss."""

from __future__ import annotations

from dataclasses import replace

from permits_app.reviewers import safety_guardian
from tests.live_golem import LiveGolem
from tests.permits_app.reviewers.test_safety_guardian import MINT, RANGE, assert_veto, plan_of, with_plan
from tests.permits_app.safety.calls import OTHER, USDC, WETH, live_call, swap_call
from tools_app.chain.abi import decode_input, encode_call
from tools_app.toolkit.effects import ChangeRead, Effects, MarketRead, RightRead
from tools_app.toolkit.plan import TokenFlow
from tools_app.toolkit.positions import PositionChange
from tools_app.toolkit.typed_data import TypedData

ETH = 10**18


def test_a_right_that_a_later_call_takes_back_is_not_left_and_one_given_after_that_is(live_golem: LiveGolem) -> None:
    plan = plan_of(swap_call(live_golem))
    give, take = RightRead("0xbank", OTHER, -1), RightRead("0xbank", OTHER, 0)
    assert safety_guardian.judge_rights(Effects(rights=[give, take]), plan) == []
    assert safety_guardian.judge_rights(Effects(rights=[give, take, give]), plan)
    assert safety_guardian.judge_rights(Effects(rights=[give, RightRead("0xother", OTHER, 0)]), plan)


def test_what_a_plan_brings_first_it_may_take_again_and_no_unit_more(live_golem: LiveGolem) -> None:
    plan = replace(plan_of(swap_call(live_golem)), spends=(TokenFlow(WETH, 40, 40),), receives=())
    loop = Effects(spends={WETH.address: 72, USDC.address: 96}, receives={WETH.address: 32, USDC.address: 96})
    assert safety_guardian.judge_spends(loop, plan) == safety_guardian.judge_receives(loop, plan) == []
    for taken, brought in (({WETH.address: 73}, {}), ({USDC.address: 97}, {}), ({}, {WETH.address: 31})):
        worse = Effects(spends={**loop.spends, **taken}, receives={**loop.receives, **brought})
        assert safety_guardian.judge_spends(worse, plan)
    better = Effects(spends=loop.spends, receives={**loop.receives, USDC.address: 97})
    assert safety_guardian.judge_receives(better, plan)


def test_what_goes_into_a_position_is_not_lost_and_what_is_borrowed_not_bought(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    plan, chain = plan_of(call), call.chain
    assert chain is not None
    loan = replace(
        plan,
        spends=(TokenFlow(WETH, 10 * ETH, 10 * ETH),),
        receives=(TokenFlow(USDC, 10**10, 10**10),),
        changes=(
            PositionChange("bank", "account", WETH.address, 10 * ETH, 10 * ETH),
            PositionChange("bank", "account", USDC.address, -(10**10), -(10**10)),
        ),
    )
    assert safety_guardian.judge_price(loan, chain, most_lost_bps=100) == []
    assert safety_guardian.judge_price(replace(loan, changes=()), chain, most_lost_bps=100)
    half = replace(loan.changes[0], expected=5 * ETH)
    assert safety_guardian.judge_price(replace(loan, changes=(half, loan.changes[1])), chain, most_lost_bps=100)


def test_a_deposit_that_is_made_at_any_price_is_vetoed(live_golem: LiveGolem) -> None:
    params = {"token0": "WETH", "token1": "USDC", "amount1": "1000000000", **RANGE}
    call = live_call(live_golem, "uniswap_lp_add_liquidity", params)
    *before, mint = plan_of(call).calls
    (arguments,) = decode_input(MINT, mint.data)
    bare = replace(mint, data=encode_call(MINT, (*arguments[:7], 0, 0, *arguments[9:])))
    assert_veto(with_plan(call, calls=(*before, bare)), "at any price")


def test_a_promise_that_pays_somebody_plainly_is_no_exchange_and_any_other_that_brings_nothing_is(
    live_golem: LiveGolem,
) -> None:
    plan, chain = plan_of(swap_call(live_golem)), swap_call(live_golem).chain
    assert chain is not None
    typed = TypedData(domain={}, primary_type="Offer", types={"Offer": ()}, message={})
    signed = replace(plan, calls=(), spends=(TokenFlow(USDC, 10**6, 10**6),), receives=(), promise=typed)
    payment = Effects(spends={USDC.address: 10**6}, recipients=[OTHER], paid_plainly=[OTHER])
    assert payment.only_pays
    assert safety_guardian.judge_price(signed, chain, most_lost_bps=100, pays=True) == []
    assert safety_guardian.judge_price(signed, chain, most_lost_bps=100)
    for other in (
        replace(payment, paid_plainly=[]),
        replace(payment, recipients=[OTHER, WETH.address]),
        replace(payment, recipients=[], paid_plainly=[]),
        replace(payment, receives={WETH.address: 1}),
        replace(payment, changes=[ChangeRead("bank", "account", USDC.address, 10**6)]),
        replace(payment, markets=[MarketRead("bank", USDC.address, WETH.address)]),
    ):
        assert not other.only_pays
    brings = replace(signed, receives=(TokenFlow(WETH, 1, 1),))
    assert safety_guardian.judge_price(brings, chain, most_lost_bps=100, pays=True)
