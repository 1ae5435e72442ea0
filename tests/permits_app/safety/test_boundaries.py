"""Every limit at one less, exactly, and one more, through the rows that count: ledger, allowlist, TTL, hot lane."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.db.models import F

from archetypes_app.models import Golem
from permits_app.actions.start_commit import start_commit
from permits_app.errors import PermitExpired, PolicyRejected, SpendingLimitExceeded
from permits_app.hook_rejection import Reject
from permits_app.limits import ledger
from permits_app.limits.valuation import PlanValue
from permits_app.models import ActionPermit, AllowlistEntry, SpendEntry, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import AllowlistMode, SpendState
from permits_app.permits.risk_tier_rules import needs_guardian
from permits_app.safety.hook import Allow
from permits_app.safety.hooks.allowlist_guard import AllowlistGuard
from permits_app.safety.hooks.spending_limiter import judge_price_impact, judge_slippage
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import swap_call
from tools_app.core import clock
from tools_app.toolkit.enums import RiskTier
from tools_app.toolkit.plan import TxPlan

USED, LIMIT, TICK = 700_000_000, 1_000_000_000, 5
WIDE = 10**15


def open_permit(live: LiveGolem, micro_usd: int) -> None:
    """Store a permit and reserve for it, as a preview does; with the golem's own key, in its fifth heartbeat tick."""
    now = clock.now()
    permit = ActionPermit(
        id=uuid4(),
        golem=live.golem,
        api_key_id=live.key.key.pk,
        tool_name="t",
        action_type="t",
        venue="t",
        chain_id=31337,
        action_hash=f"0x{uuid4().hex}",
        action_class="REBALANCE",
        risk_tier="STANDARD",
        plan_hash="0x",
        policy_hash="0x",
        value_micro_usd=micro_usd,
        expires_at=now + timedelta(seconds=60),
        expires_at_tick=TICK + 3,
    )
    with transaction.atomic():
        ledger.reserve(
            permit=permit, value=PlanValue(gas_micro_usd=micro_usd), counts_per_day=True, heartbeat_tick=TICK, now=now
        )


@pytest.mark.parametrize("window", ["per_transaction", "per_tick", "per_session", "per_day"])
@pytest.mark.parametrize(("over", "passes"), [(-1, True), (0, True), (1, False)])
def test_a_window_of_the_ledger_takes_exactly_its_limit(
    live_golem: LiveGolem, window: str, over: int, passes: bool
) -> None:
    columns = dict.fromkeys(("per_transaction", "per_tick", "per_session", "per_day"), WIDE)
    wanted = LIMIT + over
    if window != "per_transaction":
        open_permit(live_golem, USED)
        wanted -= USED
    columns[window] = LIMIT
    SpendingLimits.objects.filter(golem=live_golem.golem).update(
        **{f"{name}_micro_usd": value for name, value in columns.items()}
    )
    before = SpendEntry.objects.count()
    if passes:
        open_permit(live_golem, wanted)
        assert SpendEntry.objects.count() == before + 1
        return
    with pytest.raises(SpendingLimitExceeded) as refused:
        open_permit(live_golem, wanted)
    assert refused.value.data["rule"] == f"spending_limiter.{window}"
    assert SpendEntry.objects.count() == ActionPermit.objects.count() == before


def test_many_small_calls_pass_exactly_as_far_as_one_large_one(live_golem: LiveGolem) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_day_micro_usd=LIMIT)
    for _ in range(10):
        open_permit(live_golem, LIMIT // 10)
    with pytest.raises(SpendingLimitExceeded):
        open_permit(live_golem, 1)
    assert sum(SpendEntry.objects.values_list("reserved_micro_usd", flat=True)) == LIMIT


@pytest.mark.parametrize(
    ("age", "counts"),
    [
        (timedelta(hours=24) - timedelta(milliseconds=1), True),
        (timedelta(hours=24), False),
        (timedelta(hours=24, milliseconds=1), False),
    ],
)
def test_the_rolling_day_lets_go_of_a_spend_when_it_is_a_day_old(
    live_golem: LiveGolem, age: timedelta, counts: bool
) -> None:
    open_permit(live_golem, USED)
    now = clock.now()
    held = {"state": SpendState.SETTLED, "settled_micro_usd": F("reserved_micro_usd")}
    SpendEntry.objects.update(counted_at=now - age, **held)
    usage = ledger.read_usage(golem_id=live_golem.golem.pk, api_key_id=None, heartbeat_tick=0, now=now)
    assert usage.day_micro_usd == (USED if counts else 0)
    assert usage.tick_micro_usd == 0
    assert usage.day_resets_at == (now - age + timedelta(hours=24) if counts else None)


@pytest.mark.parametrize(("tick", "counts"), [(TICK - 1, False), (TICK, True), (TICK + 1, False)])
def test_a_tick_counts_what_was_reserved_in_it(live_golem: LiveGolem, tick: int, counts: bool) -> None:
    open_permit(live_golem, USED)
    usage = ledger.read_usage(golem_id=live_golem.golem.pk, api_key_id=None, heartbeat_tick=tick, now=clock.now())
    assert usage.tick_micro_usd == (USED if counts else 0)
    made_at = ActionPermit.objects.get().created_at
    assert (usage.writes_last_hour, usage.hour_resets_at) == (1, made_at + timedelta(hours=1))


@pytest.mark.parametrize(("over", "is_asked"), [(-1, False), (0, False), (1, True)])
def test_the_guardian_is_asked_above_the_hot_lane_and_not_at_it(over: int, is_asked: bool) -> None:
    assert needs_guardian(RiskTier.STANDARD, LIMIT + over, LIMIT) is is_asked


@pytest.mark.parametrize(("over", "is_asked"), [(-1, True), (0, False), (1, False)])
def test_a_preview_above_the_hot_lane_carries_its_review(live_golem: LiveGolem, over: int, is_asked: bool) -> None:
    value = swap_call(live_golem).value.spend_micro_usd
    SpendingLimits.objects.filter(golem=live_golem.golem).update(hot_lane_micro_usd=value + over)
    assert bool(live_golem.preview()["review"]) is is_asked


@pytest.mark.parametrize(("bps", "passes"), [(99, True), (100, True), (101, False)])
def test_slippage_passes_up_to_the_owners_limit(bps: int, passes: bool) -> None:
    plan = TxPlan(chain_id=31337, calls=(), slippage_bps=bps)
    assert (judge_slippage(plan=plan, most_bps=100) is None) is passes


@pytest.mark.parametrize(("bps", "passes"), [(299, True), (300, True), (301, False)])
def test_price_impact_passes_up_to_the_owners_limit(bps: int, passes: bool) -> None:
    plan = TxPlan(chain_id=31337, calls=(), price_impact_bps=bps)
    assert (judge_price_impact(plan=plan, most_bps=300) is None) is passes


@pytest.mark.parametrize("mode", list(AllowlistMode))
def test_one_entry_less_on_the_list_is_refused_in_strict_mode_alone(live_golem: LiveGolem, mode: str) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(allowlist_mode=mode)
    call = swap_call(live_golem)
    assert isinstance(AllowlistGuard().check(call), Allow)
    token = call.plan.receives[0].token.address if call.plan else ""
    AllowlistEntry.objects.filter(golem=live_golem.golem, kind="TOKEN", address=token).delete()
    less = swap_call(live_golem)
    verdict = AllowlistGuard().check(less)
    assert isinstance(verdict, Reject if mode == AllowlistMode.STRICT else Allow)
    if isinstance(verdict, Allow):
        assert (token in verdict.note) is (mode == AllowlistMode.WARN)
    other_chain = replace(less, allowlist=frozenset())
    assert isinstance(AllowlistGuard().check(other_chain), Reject if mode == AllowlistMode.STRICT else Allow)


@pytest.mark.parametrize(("late_ms", "passes"), [(-1, True), (0, False), (1, False)])
def test_a_permit_is_valid_until_its_ttl_is_over_and_not_at_it(
    live_golem: LiveGolem, late_ms: int, passes: bool
) -> None:
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    assert permit.expires_at <= permit.created_at + timedelta(seconds=live_golem.golem.permit_ttl_seconds)
    now = permit.expires_at + timedelta(milliseconds=late_ms)
    if passes:
        start_commit(golem=live_golem.golem, permit_id=permit.pk, actor="t", now=now)
        assert live_golem.permit(str(permit.pk)).status == PermitStatus.COMMITTING
        return
    with pytest.raises(PermitExpired):
        start_commit(golem=live_golem.golem, permit_id=permit.pk, actor="t", now=now)
    assert live_golem.permit(str(permit.pk)).status == PermitStatus.EXPIRED


@pytest.mark.parametrize(("ticks", "passes"), [(2, True), (3, False), (4, False)])
def test_a_permit_lives_through_two_heartbeat_ticks_and_not_three(
    live_golem: LiveGolem, ticks: int, passes: bool
) -> None:
    permit_id = UUID(live_golem.preview()["permit_id"])
    Golem.objects.filter(pk=live_golem.golem.pk).update(heartbeat_tick=live_golem.golem.heartbeat_tick + ticks)
    if passes:
        start_commit(golem=live_golem.golem, permit_id=permit_id, actor="t", now=clock.now())
        return
    with pytest.raises(PermitExpired):
        start_commit(golem=live_golem.golem, permit_id=permit_id, actor="t", now=clock.now())


@pytest.mark.parametrize(("made", "passes"), [(1, True), (2, True), (3, False)])
def test_an_hour_takes_exactly_its_writes(live_golem: LiveGolem, made: int, passes: bool) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(writes_per_hour=3)
    for _ in range(made):
        open_permit(live_golem, 1)
    if passes:
        assert live_golem.preview()["status"] == "CREATED"
        return
    with pytest.raises(PolicyRejected) as refused:
        live_golem.preview()
    assert refused.value.data["rule"] == "rate_limiter.per_hour"
