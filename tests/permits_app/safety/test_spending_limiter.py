"""Slippage, price impact, whole-unit slips, and the early answer of the spending rule on real rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from permits_app.errors import AmountLooksLikeWholeUnits, SlippageLimitExceeded
from permits_app.hook_rejection import Reject
from permits_app.models import ActionPermit, SpendEntry, SpendingLimits
from permits_app.safety.amount_unit_check import judge_units
from permits_app.safety.hook import Allow, AllowModified, HookStage
from permits_app.safety.hooks.spending_limiter import (
    NOTHING_USED,
    SpendFacts,
    SpendingLimiter,
    counts_per_day,
    judge_price_impact,
    judge_slippage,
    mend,
)
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import ACCOUNT, OTHER, USDC, WETH, plain_call, swap_call
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TokenFlow, TxPlan
from tools_app.toolkit.views import FeedPrice, TokenMeta

HOOK = SpendingLimiter()
USD = 1_000_000
DAI = TokenMeta(31337, OTHER, "DAI", 18, "Dai", True)
PRICES = {USDC.address: 1 * 10**8, WETH.address: 3_000 * 10**8, DAI.address: 1 * 10**8}


def plan(**changes: Any) -> TxPlan:
    return TxPlan(chain_id=31337, calls=(), **changes)


def price_of(token: TokenMeta) -> FeedPrice | None:
    answer = PRICES.get(token.address)
    return FeedPrice("0xfeed", answer, 8, 1, 0, 0) if answer else None


@pytest.mark.parametrize(("bps", "passes"), [(None, True), (0, True), (99, True), (100, True), (101, False)])
def test_slippage_up_to_the_limit_passes(bps: int | None, passes: bool) -> None:
    refusal = judge_slippage(plan=plan(slippage_bps=bps), most_bps=100)
    assert (refusal is None) == passes
    if refusal is not None:
        assert (refusal.observed, refusal.limit) == ("101 bps (1.01%)", "100 bps (1%)")
        assert refusal.error is SlippageLimitExceeded


@pytest.mark.parametrize(("bps", "passes"), [(None, True), (299, True), (300, True), (301, False)])
def test_price_impact_up_to_the_limit_passes(bps: int | None, passes: bool) -> None:
    assert (judge_price_impact(plan=plan(price_impact_bps=bps), most_bps=300) is None) == passes


@pytest.mark.parametrize(
    ("raw", "token", "refused"),
    [
        (500, USDC, True),  # $0.0005; 500 USDC would be plausible
        (9_999, USDC, True),  # just under a cent
        (10_000, USDC, False),  # exactly a cent
        (500_000_000, USDC, False),
        (1, WETH, True),
        (5, WETH, True),
        (333_333, WETH, True),  # a billion dollars in whole units, just
        (333_334, WETH, False),  # nobody means more than a billion dollars: wei dust
        (10**13, WETH, False),  # $0.03
        (999_999_999, DAI, True),
        (1_000_000_000, DAI, True),  # exactly a billion dollars
        (1_000_000_001, DAI, False),
    ],
)
def test_an_amount_that_reads_like_whole_units_is_refused(raw: int, token: TokenMeta, refused: bool) -> None:
    spending = plan(spends=(TokenFlow(token, raw, raw),))
    refusal = judge_units(plan=spending, params={"amount": raw}, price_of=price_of, dust_micro_usd=10_000)
    assert (refusal is not None) == refused


def test_the_refusal_gives_the_figure_in_base_units() -> None:
    spending = plan(spends=(TokenFlow(USDC, 500, 500),))
    refusal = judge_units(plan=spending, params={"amount": 500}, price_of=price_of, dust_micro_usd=10_000)
    assert refusal is not None
    assert refusal.error is AmountLooksLikeWholeUnits
    assert refusal.data["base_units"] == "500000000"
    assert refusal.would_pass == "amount 500000000 for 500 USDC"


def test_an_exact_output_in_whole_units_is_seen_on_the_side_that_arrives() -> None:
    swap = plan(spends=(TokenFlow(USDC, 1, 1),), receives=(TokenFlow(WETH, 2, 2),))
    refusal = judge_units(plan=swap, params={"amount": 2}, price_of=price_of, dust_micro_usd=10_000)
    assert refusal is not None
    assert refusal.data["base_units"] == str(2 * 10**18)


def test_nothing_is_no_slip() -> None:
    swap = plan(spends=(TokenFlow(USDC, 0, 0),))
    assert judge_units(plan=swap, params={"amount": 0}, price_of=price_of, dust_micro_usd=10_000) is None


def test_numbers_that_are_no_amounts_are_left_alone() -> None:
    swap = plan(spends=(TokenFlow(USDC, 500, 500),))
    params = {"slippage_bps": 500, "exact_output": True, "fee": 500}
    assert judge_units(plan=swap, params=params, price_of=price_of, dust_micro_usd=10_000) is None


@pytest.mark.parametrize(
    ("action_class", "recipient", "counts"),
    [
        (ActionClass.NEW_POSITION, ACCOUNT, True),
        (ActionClass.REBALANCE, ACCOUNT, True),
        (ActionClass.DECREASE_POSITION, ACCOUNT, False),
        (ActionClass.CLOSE_POSITION, ACCOUNT, False),
        (ActionClass.DECREASE_POSITION, OTHER, True),
        (ActionClass.CLOSE_POSITION, OTHER, True),
    ],
)
def test_only_a_decrease_that_returns_to_the_golem_is_free_of_the_day(
    action_class: ActionClass, recipient: str, counts: bool
) -> None:
    assert counts_per_day(plain_call(plan(recipients=(recipient,)), action_class=action_class)) is counts


@pytest.mark.parametrize(
    ("deadline", "wait_seconds", "mended"),
    [(3_600, 0, None), (3_601, 0, 3_600), (4_200, 600, None), (4_201, 600, 4_200)],
)
def test_a_deadline_of_an_hour_after_the_last_wait_stands_and_a_later_one_is_brought_forward(
    deadline: int, wait_seconds: int, mended: int | None
) -> None:
    call = plain_call(plan(), params={"deadline": deadline, "to": "x"}, wait_seconds=wait_seconds)
    note = f"judged again with deadline {mended} for {deadline}"
    expected = None if mended is None else AllowModified(params={"deadline": mended, "to": "x"}, note=note)
    assert mend(call) == expected
    assert mend(replace(call, stage=HookStage.COMMIT)) is None
    assert mend(replace(call, plan=None)) is None


@pytest.mark.parametrize(
    ("most", "asked", "ends", "is_mended"),
    [
        (100, 100, 100, False),
        (100, 101, 101, True),
        (100, 101, 100, False),
        (100, 101, None, False),
        (0, 1, None, False),
    ],
)
def test_slippage_is_mended_where_the_plan_itself_ends_by_more_than_the_owner_accepts(
    most: int, asked: int, ends: int | None, is_mended: bool
) -> None:
    call = plain_call(plan(slippage_bps=ends), params={"slippage_bps": asked})
    call.limits.max_slippage_bps = most
    changed = mend(call)
    assert (changed is not None) is is_mended
    if changed is not None:
        assert changed.params == {"slippage_bps": most}


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"slippage_bps": 10_000}, "spending_limiter.slippage"),
        ({"price_impact_bps": 10_000}, "spending_limiter.price_impact"),
        ({"spends": (TokenFlow(USDC, 500, 500),)}, "spending_limiter.whole_units"),
    ],
)
def test_each_rule_of_the_plan_refuses_by_itself(changes: dict[str, Any], rule: str) -> None:
    facts = SpendFacts(prices={USDC.address: price_of(USDC)}, usage=NOTHING_USED)
    refused = HOOK.decide(plain_call(plan(**changes), params={"amount": 500}), facts)
    assert isinstance(refused, Reject)
    assert refused.rule == rule
    assert isinstance(HOOK.decide(plain_call(plan(), params={}), facts), Allow)


def test_a_local_write_spends_nothing() -> None:
    assert counts_per_day(plain_call(None)) is True
    assert HOOK.check(plain_call(None)) == Allow(note="spends nothing")


# ---- on the local chain --------------------------------------------------------------------------------------------


def test_a_swap_of_ten_thousand_dollars_is_under_and_one_more_is_over(live_golem: LiveGolem) -> None:
    at_limit = swap_call(live_golem, amount=str(10_000 * USD), slippage_bps=100)
    SpendingLimits.objects.filter(golem=live_golem.golem).update(
        per_transaction_micro_usd=at_limit.value.total_micro_usd
    )
    passing = HOOK.check(swap_call(live_golem, amount=str(10_000 * USD), slippage_bps=100))
    refused = HOOK.check(swap_call(live_golem, amount=str(10_000 * USD + 1), slippage_bps=100))
    assert isinstance(passing, Allow)
    assert isinstance(refused, Reject)
    assert refused.rule == "spending_limiter.per_transaction"


def test_what_others_reserved_counts_and_its_own_permit_does_not(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    row = ActionPermit.objects.create(
        golem=live_golem.golem,
        chain_id=31337,
        action_hash="x",
        action_class="NEW_POSITION",
        risk_tier="STANDARD",
        expires_at=call.now + timedelta(minutes=1),
    )
    SpendEntry.objects.create(
        golem=live_golem.golem, permit=row, reserved_micro_usd=99_800 * USD, counted_at=call.now - timedelta(hours=1)
    )
    refused = HOOK.check(call)
    assert isinstance(refused, Reject)
    assert refused.rule == "spending_limiter.per_day"
    assert refused.remaining == "$200.00"
    assert refused.resets_at == (call.now + timedelta(hours=23)).isoformat()
    call = swap_call(live_golem, amount="400000000")
    assert isinstance(HOOK.check(replace(call, own_permit_id=row.pk)), Allow)


def test_five_hundred_base_units_of_usdc_are_taken_for_a_slip(live_golem: LiveGolem) -> None:
    refused = HOOK.check(swap_call(live_golem, amount="500"))
    assert isinstance(refused, Reject)
    assert refused.error is AmountLooksLikeWholeUnits


def test_more_slippage_than_the_owner_accepts_is_mended_at_a_preview_and_refused_at_a_commit(
    live_golem: LiveGolem,
) -> None:
    assert isinstance(HOOK.check(swap_call(live_golem, slippage_bps=100)), Allow)
    call = swap_call(live_golem, slippage_bps=101)
    mended = HOOK.check(call)
    assert isinstance(mended, AllowModified)
    assert mended.params == {**call.params, "slippage_bps": 100}
    refused = HOOK.check(replace(call, stage=HookStage.COMMIT))
    assert isinstance(refused, Reject)
    assert refused.rule == "spending_limiter.slippage"


def test_a_route_that_keeps_to_the_limit_by_itself_is_not_judged_again(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem, slippage_bps=101)
    assert call.plan is not None
    for slippage, is_mended in ((100, False), (101, True)):
        kept = replace(call, plan=replace(call.plan, slippage_bps=slippage))
        assert isinstance(HOOK.check(kept), AllowModified) is is_mended
