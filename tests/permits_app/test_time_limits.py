"""Spans of time one millisecond before their end, at it and one after; what the relayer may spend, to the wei."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings

from archetypes_app.models import Golem
from golem_project.pi.authentication import ApiKeyExpired, identify
from permits_app.actions.announce_warden_actions import expire_announced, list_due_announcements
from permits_app.actions.execute_change import execute_change
from permits_app.actions.sweep_changes import forget_denials, list_due_changes, time_out_changes
from permits_app.approval_errors import ChangeClosed, RelayerBudgetUsed, RelayerRefuses
from permits_app.doors.decide_change import decide_change
from permits_app.errors import LeaseLost
from permits_app.execution.commit_lease import take_lease
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.gas_relayer import _check_budget as check_budget
from permits_app.models import (
    ActionPermit,
    Announcement,
    CageMirror,
    ChangeRequest,
    DeniedCall,
    OutboundTransaction,
    RelayedTransaction,
)
from permits_app.models.approval import ChangeState, Verdict
from permits_app.models.permit import PermitStatus
from permits_app.policy_cage.mirror import is_behind
from permits_app.previews.hook_call import open_chain
from permits_app.safety.load_call_records import read_records
from tests import factories
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, make_owner_with_device, next_code, share
from tests.permits_app.execution.chain_tricks import mining_paused
from tests.permits_app.safety.calls import swap_call
from tests.permits_app.safety.test_load_call_records import past
from tools_app.core import clock
from tools_app.core.audit_checkpoints import sign_due_checkpoints
from tools_app.core.required_value import require

pytestmark = pytest.mark.django_db
MS = timedelta(milliseconds=1)
BEFORE_AT_AFTER = pytest.mark.parametrize("late", [-MS, timedelta(0), MS])
OVER = timedelta(0)
"""A span is over from its last moment on; where it still holds at it, the test says so."""


@pytest.fixture
def golem() -> Golem:
    """A golem with two owners who can decide."""
    golem = share(factories.make_golem(owner=make_owner_with_device(name="ana")), make_owner_with_device(name="bo"))
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    factories.make_api_key(golem=golem)
    return golem


@pytest.fixture
def request_(golem: Golem) -> ChangeRequest:
    """A request of one owner that the other may decide."""
    Golem.objects.filter(pk=golem.pk).update(phase="DEFENSIVE")
    golem.refresh_from_db()
    return factories.make_change_request(golem=golem)


@BEFORE_AT_AFTER
def test_a_lease_keeps_others_out_until_it_is_over(golem: Golem, late: timedelta) -> None:
    permit, now = factories.make_permit(golem=golem, status=PermitStatus.COMMITTING), clock.now()
    assert take_lease(permit_id=permit.pk, now=now) is not None
    permit.refresh_from_db()
    ends = permit.lease_expires_at
    assert ends == now + timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS)
    assert (take_lease(permit_id=permit.pk, now=ends + late) is not None) is (late >= OVER)


@BEFORE_AT_AFTER
def test_a_lease_is_renewed_only_while_it_holds(golem: Golem, late: timedelta, monkeypatch: pytest.MonkeyPatch) -> None:
    permit, now = factories.make_permit(golem=golem, status=PermitStatus.COMMITTING), clock.now()
    lease = take_lease(permit_id=permit.pk, now=now)
    assert lease is not None
    ends = now + timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS)
    monkeypatch.setattr(clock, "now", lambda: ends + late)
    if late >= OVER:
        with pytest.raises(LeaseLost):
            lease.renew()
        return
    lease.renew()
    assert ActionPermit.objects.get(pk=permit.pk).lease_expires_at == ends + late + (ends - now)


@BEFORE_AT_AFTER
def test_owners_decide_before_the_deadline_and_not_at_it(request_: ChangeRequest, late: timedelta) -> None:
    when = request_.deadline_at + late
    assert request_.deadline_at - request_.created_at <= timedelta(hours=settings.GOLEM_APPROVAL_HOURS)
    bo = request_.golem.co_owners.get()
    words: dict[str, Any] = {"request_id": request_.pk, "owner": bo, "verdict": Verdict.APPROVE, "reason": ""}
    words |= {"code": next_code(bo), "seen_digest": request_.digest, "now": when}
    if late >= OVER:
        with pytest.raises(ChangeClosed):
            decide_change(**words)
    else:
        assert decide_change(**words).state == ChangeState.APPROVED


@BEFORE_AT_AFTER
def test_what_nobody_decided_is_rejected_at_its_deadline(request_: ChangeRequest, late: timedelta) -> None:
    assert time_out_changes(now=request_.deadline_at + late) == (1 if late >= OVER else 0)
    request_.refresh_from_db()
    assert request_.state == (ChangeState.EXPIRED if late >= OVER else ChangeState.OPEN)


def approved(request: ChangeRequest) -> datetime:
    """The other owner approves it; when it is due."""
    done = approve(request, request.golem.co_owners.get())
    assert done.state == ChangeState.APPROVED
    return require(done.executes_at)


@BEFORE_AT_AFTER
def test_what_cools_off_is_executed_from_its_end_on(request_: ChangeRequest, late: timedelta) -> None:
    due = approved(request_)
    assert list_due_changes(now=due + late) == ([request_.pk] if late >= OVER else [])
    execute_change(request_id=request_.pk, now=due + late)
    request_.refresh_from_db()
    assert (request_.claimed_at is not None) is (late >= OVER)


@BEFORE_AT_AFTER
def test_what_was_approved_and_never_executed_ends_after_a_day(request_: ChangeRequest, late: timedelta) -> None:
    due = approved(request_)
    ends = due + timedelta(hours=settings.GOLEM_APPROVAL_HOURS)
    assert time_out_changes(now=ends + late) == (1 if late >= OVER else 0)


@BEFORE_AT_AFTER
def test_the_claim_of_a_dead_worker_lapses(request_: ChangeRequest, late: timedelta) -> None:
    claimed = approved(request_)
    ChangeRequest.objects.filter(pk=request_.pk).update(claimed_at=claimed)
    ends = claimed + timedelta(seconds=settings.GOLEM_CHANGE_CLAIM_SECONDS)
    assert list_due_changes(now=ends + late) == ([request_.pk] if late >= OVER else [])


@BEFORE_AT_AFTER
def test_an_announcement_is_due_in_its_window_and_over_at_its_end(golem: Golem, late: timedelta) -> None:
    permit, now = factories.make_permit(golem=golem, status=PermitStatus.ANNOUNCED), clock.now()
    due = now + timedelta(minutes=10)
    ends = due + timedelta(seconds=settings.GOLEM_WARDEN_WINDOW_SECONDS)
    Announcement.objects.create(permit=permit, announced_at=now, executes_at=due, expires_at=ends, announced_by="t")
    assert list_due_announcements(now=due + late) == ([permit.pk] if late >= OVER else [])
    assert list_due_announcements(now=ends + late) == ([permit.pk] if late < OVER else [])
    assert expire_announced(now=ends + late) == (1 if late >= OVER else 0)


@BEFORE_AT_AFTER
def test_a_mirror_may_be_as_old_as_it_may_be_and_not_older(golem: Golem, late: timedelta) -> None:
    mirror = factories.make_cage_mirror(golem=golem)
    assert mirror.synced_at is not None
    oldest = timedelta(seconds=settings.GOLEM_CAGE_MIRROR_MAX_AGE_SECONDS)
    assert is_behind(mirror, now=mirror.synced_at + oldest + late) is (late > OVER)


@BEFORE_AT_AFTER
def test_a_refused_plan_is_kept_for_its_days_and_not_longer(golem: Golem, late: timedelta) -> None:
    now = clock.now()
    DeniedCall.objects.create(golem=golem, denied_at=now, tool_name="t", action_type="t", venue="t", chain_id=1)
    ends = now + timedelta(days=settings.GOLEM_DENIED_CALL_DAYS)
    assert forget_denials(now=ends + late) == (1 if late > OVER else 0)


@BEFORE_AT_AFTER
def test_a_token_lets_in_until_its_time_and_not_at_it(golem: Golem, late: timedelta) -> None:
    made = factories.make_api_key(golem=golem)
    when = made.key.expires_at + late
    if late >= OVER:
        with pytest.raises(ApiKeyExpired):
            identify(made.token, now=when)
    else:
        assert identify(made.token, now=when).pk == made.key.pk


@pytest.fixture
def unsigned_head(golem: Golem) -> datetime:
    """When the last checkpoint of a chain was signed; it grew by one entry since."""
    factories.make_audit_entry(golem=golem, event="PermitCreated", data={})
    now = clock.now().replace(microsecond=0)
    assert sign_due_checkpoints(now=now) == 1
    factories.make_audit_entry(golem=golem, event="PermitCreated", data={})
    return now


@BEFORE_AT_AFTER
def test_a_chain_that_grew_is_signed_again_after_a_day(unsigned_head: datetime, late: timedelta) -> None:
    assert sign_due_checkpoints(now=unsigned_head + timedelta(days=1) + late) == (1 if late >= OVER else 0)


@pytest.mark.parametrize(("entries", "signed"), [(2, 0), (3, 1), (4, 1)])
def test_a_chain_is_signed_again_after_so_many_entries(
    golem: Golem, unsigned_head: datetime, entries: int, signed: int
) -> None:
    for _ in range(entries - 1):
        factories.make_audit_entry(golem=golem, event="PermitCreated", data={})
    with override_settings(GOLEM_AUDIT_CHECKPOINT_ENTRIES=3):
        assert sign_due_checkpoints(now=unsigned_head + timedelta(seconds=1)) == signed


@BEFORE_AT_AFTER
def test_a_sent_transaction_is_stuck_from_its_time_on(live_golem: LiveGolem, late: timedelta) -> None:
    permit_id = live_golem.preview()["permit_id"]
    with mining_paused(live_golem.world):
        live_golem.start(permit_id)
        with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.1):
            live_golem.work(permit_id)
        first = OutboundTransaction.objects.get(permit_id=permit_id, call_index=0)
        assert first.broadcast_at is not None
        stuck = first.broadcast_at + timedelta(seconds=settings.GOLEM_STUCK_AFTER_SECONDS)
        assert reconcile_transactions(now=stuck + late).get("sped_up", 0) == (1 if late >= OVER else 0)
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED


@BEFORE_AT_AFTER
def test_an_identical_call_counts_for_an_hour(live_golem: LiveGolem, late: timedelta) -> None:
    call = swap_call(live_golem)
    past(live_golem, call.now - timedelta(hours=1) - late)
    assert len(read_records(call).earlier) == (1 if late < OVER else 0)


def relay(live: LiveGolem, *, cost: int, gas: int, now: datetime, owner_id: int | None = None) -> None:
    """Whether a relayer with this golem's coins may send `gas` units that cost at most `cost` wei; raises when not."""
    check_budget(open_chain(31337, now=now), live.golem.address, cost=cost, gas=gas, now=now, owner_id=owner_id)


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_the_relayer_sends_up_to_its_gas_and_no_more(live_golem: LiveGolem, over: int) -> None:
    gas = settings.GOLEM_RELAYER_MOST_GAS + over
    if over <= 0:
        relay(live_golem, cost=1, gas=gas, now=clock.now())
        return
    with pytest.raises(RelayerRefuses):
        relay(live_golem, cost=1, gas=gas, now=clock.now())


@pytest.mark.parametrize("over", [-1, 0, 1])
@BEFORE_AT_AFTER
def test_the_relayer_spends_up_to_its_day_and_no_more(live_golem: LiveGolem, over: int, late: timedelta) -> None:
    """What it spent counts until it is a day old; what it may spend is used up to the wei."""
    spent, now = 7 * 10**15, clock.now()
    mirror = factories.make_cage_mirror(golem=live_golem.golem)
    make_relayed(mirror, sender=live_golem.golem.address, fee_wei=spent, created_at=now - timedelta(hours=24) - late)
    cost = settings.GOLEM_RELAYER_MOST_WEI_PER_DAY - spent + over
    if over <= 0 or late >= OVER:
        relay(live_golem, cost=cost, gas=1, now=now)
        return
    with pytest.raises(RelayerBudgetUsed) as refused:
        relay(live_golem, cost=cost, gas=1, now=now)
    assert int(refused.value.data["observed"]) == int(refused.value.data["limit"]) + 1


def test_one_owner_leaves_half_of_the_relayers_day_to_the_others(live_golem: LiveGolem) -> None:
    half, now = settings.GOLEM_RELAYER_MOST_WEI_PER_DAY // 2, clock.now()
    sender, golem = live_golem.golem.address, live_golem.golem
    other = factories.make_golem(owner=factories.make_owner(name="other"), name="Other")
    mirrors = [factories.make_cage_mirror(golem=each) for each in (golem, other)]
    make_relayed(mirrors[0], sender=sender, fee_wei=half, created_at=now)
    with pytest.raises(RelayerBudgetUsed) as refused:
        relay(live_golem, cost=1, gas=1, now=now, owner_id=golem.owner_id)
    assert int(refused.value.data["limit"]) == half
    relay(live_golem, cost=half, gas=1, now=now, owner_id=other.owner_id)
    CageMirror.objects.filter(pk=mirrors[1].pk).update(chain_id=1)
    relay(live_golem, cost=half, gas=1, now=now, owner_id=golem.owner_id)


def make_relayed(mirror: CageMirror, *, sender: str, fee_wei: int, created_at: datetime) -> None:
    """A change of a cage that the relayer sent and paid for."""
    row = RelayedTransaction.objects.create(
        mirror=mirror,
        purpose="APPLY",
        chain_id=31337,
        sender=sender,
        nonce=0,
        to=mirror.contract,
        data="0x",
        gas_limit=1,
        max_fee_per_gas="1",
        max_priority_fee_per_gas="1",
        raw="0x",
        tx_hash="0x" + "12" * 32,
        state="MINED",
        fee_wei=str(fee_wei),
    )
    RelayedTransaction.objects.filter(pk=row.pk).update(created_at=created_at)
