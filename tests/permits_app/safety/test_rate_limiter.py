"""Writes within the hour: the boundary, what counts as a write, and the conservative profile."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from archetypes_app.models import ToolProfile
from permits_app.errors import RateLimited
from permits_app.hook_rejection import Reject
from permits_app.limits.rate_rules import judge_rate, most_writes_per_hour
from permits_app.limits.usage import Usage
from permits_app.models import ActionPermit, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.safety.hook import Allow
from permits_app.safety.hooks.rate_limiter import RateFacts, RateLimiter
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import ACCOUNT, NOW, OTHER, plain_call, swap_call
from tools_app.core import clock
from tools_app.core.errors import Recovery
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan

HOOK = RateLimiter()


@pytest.mark.parametrize(("writes", "passes"), [(18, True), (19, True), (20, False), (21, False)])
def test_twenty_writes_fit_an_hour(writes: int, passes: bool) -> None:
    refusal = judge_rate(writes=writes, most=20, resets_at=NOW + timedelta(minutes=7))
    assert (refusal is None) == passes
    if refusal is not None:
        assert (refusal.rule, refusal.error) == ("rate_limiter.per_hour", RateLimited)
        assert refusal.resets_at == "2026-11-21T12:07:00+00:00"
        assert refusal.would_pass == "the same action once a write is older than an hour"
        assert (RateLimited.code, RateLimited.http_status, RateLimited.recovery) == ("RATE_LIMITED", 429, "WAIT")


@pytest.mark.parametrize(
    ("most", "writes", "passes"),
    [(20, 59, True), (20, 60, False), (0, 19, True), (0, 20, False), (500, 1_499, True), (500, 1_500, False)],
)
def test_decreases_go_on_to_three_times_the_hour_and_closing_without_end(most: int, writes: int, passes: bool) -> None:
    def judge(action_class: ActionClass) -> bool:
        return judge_rate(writes=writes, most=most, resets_at=NOW, action_class=action_class) is None

    assert judge(ActionClass.DECREASE_POSITION) is passes
    assert judge(ActionClass.CLOSE_POSITION)
    assert judge(ActionClass.REBALANCE) is (writes < most)


def test_a_limit_of_nothing_never_frees_itself() -> None:
    refusal = judge_rate(writes=0, most=0, resets_at=None)
    assert refusal is not None
    assert (refusal.resets_at, refusal.would_pass) == ("", "nothing while the limit is 0")
    assert refusal.as_error("rate_limiter").next_step is Recovery.ASK_OWNER


@pytest.mark.parametrize(("configured", "cap", "expected"), [(20, None, 20), (20, 10, 10), (5, 10, 5), (20, 0, 0)])
def test_a_profiles_cap_only_ever_lowers_the_limit(configured: int, cap: int | None, expected: int) -> None:
    assert most_writes_per_hour(configured=configured, cap=cap) == expected


@pytest.mark.parametrize(("recipient", "passes"), [(ACCOUNT, True), (OTHER, False)])
def test_a_decrease_goes_on_beyond_the_hour_only_where_it_comes_back_to_the_golem(recipient: str, passes: bool) -> None:
    paid = TxPlan(chain_id=31337, calls=(), recipients=(recipient,))
    call = plain_call(paid, action_class=ActionClass.DECREASE_POSITION)
    used = Usage(tick_micro_usd=0, session_micro_usd=0, day_micro_usd=0, writes_last_hour=call.limits.writes_per_hour)
    verdict = HOOK.decide(call, RateFacts(usage=used, cap=None, is_venue_tried=False))
    assert isinstance(verdict, Allow) is passes
    assert passes or (isinstance(verdict, Reject) and verdict.rule == "rate_limiter.per_hour")


def write(live: LiveGolem, index: int, created_at: datetime, status: PermitStatus = PermitStatus.COMMITTED) -> None:
    row = ActionPermit.objects.create(
        golem=live.golem,
        chain_id=31337,
        action_hash=f"w{index}",
        action_class="NEW_POSITION",
        risk_tier="STANDARD",
        status=status,
        expires_at=created_at,
    )
    ActionPermit.objects.filter(pk=row.pk).update(created_at=created_at)


def test_the_write_that_is_one_too_many_waits_for_the_oldest(live_golem: LiveGolem) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(writes_per_hour=3)
    oldest = clock.now() - timedelta(minutes=50)
    write(live_golem, 0, clock.now() - timedelta(minutes=61))
    write(live_golem, 1, oldest)
    write(live_golem, 2, clock.now() - timedelta(minutes=2), PermitStatus.REVERTED)
    allowed = HOOK.check(swap_call(live_golem))
    assert allowed == Allow(note="write 3 of 3 within the hour")
    write(live_golem, 3, clock.now(), PermitStatus.UNKNOWN)
    refused = HOOK.check(swap_call(live_golem))
    assert isinstance(refused, Reject)
    assert datetime.fromisoformat(refused.resets_at) == oldest + timedelta(hours=1)


@pytest.mark.parametrize("status", [PermitStatus.EXPIRED, PermitStatus.CANCELLED, PermitStatus.BLOCKED])
def test_what_never_happened_is_no_write(live_golem: LiveGolem, status: PermitStatus) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(writes_per_hour=1)
    write(live_golem, 0, clock.now(), status)
    assert isinstance(HOOK.check(swap_call(live_golem)), Allow)


def test_a_conservative_golem_is_held_to_ten(live_golem: LiveGolem) -> None:
    live_golem.golem.profiles.set(ToolProfile.objects.filter(name="conservative"))
    SpendingLimits.objects.filter(golem=live_golem.golem).update(writes_per_hour=20)
    for index in range(10):
        write(live_golem, index, clock.now())
    refused = HOOK.check(swap_call(live_golem))
    assert isinstance(refused, Reject)
    assert refused.limit == "10 writes an hour"
