"""The risk-assessor on real plans of the local world: what it measures, what it vetoes, what it only warns of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from permits_app.models import SpendingLimits
from permits_app.reviewers import risk_assessor
from permits_app.reviewers.revert_risk import MOST_REVERT_MILLIONTHS
from permits_app.reviewers.review import ReviewVerdict
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.safety.calls import live_call, plain_call, swap_call
from tools_app.toolkit.plan import Call, TokenFlow

SWAPS = [
    ("USDC", "WETH", 500 * 10**6),
    ("WETH", "USDC", 10**17),
    ("ETH", "USDC", 10**17),
    ("USDC", "ETH", 500 * 10**6),
]


@pytest.mark.parametrize(("sold", "bought", "amount"), SWAPS)
def test_a_plain_swap_is_approved_with_figures(live_golem: LiveGolem, sold: str, bought: str, amount: int) -> None:
    found = risk_assessor.review(swap_call(live_golem, token_in=sold, token_out=bought, amount=str(amount)))
    assert (found.verdict, found.reasons) == (ReviewVerdict.APPROVE, ())
    assert int(found.figures["revert_chance_millionths"]) <= MOST_REVERT_MILLIONTHS
    assert found.figures["block_number"] > 0
    assert any(name.startswith("pool_") for name in found.figures)


def test_a_deep_pool_carries_no_warning_and_the_same_pool_below_the_line_does(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = swap_call(live_golem)
    assert risk_assessor.review(call).warnings == ()
    monkeypatch.setattr(risk_assessor, "THIN_POOL_MICRO_USD", 10**18)
    found = risk_assessor.review(call)
    assert found.is_approved
    assert "holds only $" in found.warnings[0]


def test_an_amount_over_a_limit_is_a_veto_even_when_the_call_does_not_say_so(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    limits = SpendingLimits.objects.get(golem=live_golem.golem)
    limits.per_transaction_micro_usd = 100_000_000
    found = risk_assessor.review(replace(call, limits=limits))
    assert not found.is_approved
    assert "in one transaction" in " ".join(found.reasons)


def test_a_plan_that_says_less_than_its_bytes_take_is_a_veto(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    assert call.plan is not None
    (flow,) = call.plan.spends
    honest = replace(call.plan, spends=(TokenFlow(flow.token, flow.expected // 2, flow.bound // 2),))
    assert not risk_assessor.review(replace(call, plan=honest)).is_approved


def test_calls_that_no_longer_work_at_the_newest_block_are_a_veto(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem, slippage_bps=0)
    rival = make_live_golem(live_golem.world, name="Rival", owner_name="owner-b")
    rival.commit(rival.preview(amount="900000000")["permit_id"])
    found = risk_assessor.review(call)
    assert not found.is_approved
    assert "reverts at the newest block" in " ".join(found.reasons)


def test_a_market_that_runs_away_is_a_veto(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    rival = make_live_golem(live_golem.world, name="Rival", owner_name="owner-b")
    SpendingLimits.objects.filter(golem=rival.golem).update(
        max_price_impact_bps=9_000, max_slippage_bps=9_000, per_day_micro_usd=10**12, per_session_micro_usd=10**12
    )
    # Of the calm before nothing is looked at, however long the chain was when the test began.
    monkeypatch.setattr("permits_app.reviewers.revert_chance.LOOKBACK_BLOCKS", 30)
    # Two blocks a trade and these make thirty, close together: how fast the chain goes is measured by them.
    live_golem.world.rpc.call("anvil_mine", "0x6")
    for index in range(12):
        rival.commit(rival.preview(amount=str(1_500 * 10**6 + index))["permit_id"])
    found = risk_assessor.review(swap_call(live_golem, slippage_bps=1))
    assert int(found.figures["revert_chance_millionths"]) > MOST_REVERT_MILLIONTHS
    assert found.verdict is ReviewVerdict.VETO
    assert "the price moved by more than this plan's 1 bps" in " ".join(found.reasons)


def test_bytes_that_cannot_be_read_are_a_veto(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    assert call.plan is not None
    odd = replace(call.plan, calls=(*call.plan.calls, Call(call.plan.calls[0].to, b"\xde\xad\xbe\xef", 0, "odd")))
    found = risk_assessor.review(replace(call, plan=odd))
    assert (found.verdict, found.checks) == (ReviewVerdict.VETO, ("calls decoded",))


def test_a_reviewer_that_breaks_vetoes(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(risk_assessor, "find_pools", explode)
    found = risk_assessor.review(swap_call(live_golem))
    assert found.reasons == ("the reviewer failed and therefore vetoes",)
    assert "boom" not in str(found.as_dict())


def test_a_position_is_judged_in_both_directions(live_golem: LiveGolem) -> None:
    call = live_call(
        live_golem,
        "uniswap_lp_add_liquidity",
        {"token0": "WETH", "token1": "USDC", "price_lower": "1", "price_upper": "100000", "amount1": "500000000"},
    )
    found = risk_assessor.review(call)
    assert found.is_approved, found.reasons
    assert "revert_chance_millionths" in found.figures


def test_what_is_no_transaction_is_not_weighed() -> None:
    assert risk_assessor.review(plain_call()).checks == ("no transaction",)
