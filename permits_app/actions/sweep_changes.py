"""Sweeps approvals: ends requests that nobody decided in time, settles open ones, and finds those that are due."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import BigIntegerField, F, Q, TextField
from django.db.models.fields.json import KT, KeyTextTransform
from django.db.models.functions import Cast

from permits_app.actions.announce_warden_actions import expire_announced
from permits_app.actions.end_expired_signatures import end_expired_signatures
from permits_app.actions.end_older_resumes import end_older_resumes
from permits_app.actions.follow_approved_permits import follow_approved_permits
from permits_app.actions.release_permit import end_waiting_permit
from permits_app.actions.settle_change import settle_open_changes
from permits_app.approvals import request_states
from permits_app.approvals.operations.resume import RESUME
from permits_app.approvals.owner_states import follow_plan
from permits_app.models import ActionPermit, ChangeRequest, DeniedCall, OwnerTransaction
from permits_app.models.approval import LIVE_STATES, ChangeState
from permits_app.models.owner_transaction import OwnerTransactionState
from permits_app.models.permit import PermitStatus
from permits_app.permits.lifecycle import FINAL
from permits_app.permits.row_locks import lock_action, lock_request
from tools_app.core.compiled_query import CompiledStatement
from tools_app.core.fair_batches import in_turns
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.required_value import require
from tools_app.core.transaction_retry import retry_aborted

_ACTOR = "system:clock"
_LIVE = (OwnerTransactionState.SIGNING, OwnerTransactionState.RELEASED, OwnerTransactionState.SENT)
_BATCH = 100


def time_out_changes(*, now: datetime) -> int:
    """Reject what was not decided, or not executed, in time; cancel requests whose permit was ended. How many."""
    grace = timedelta(hours=settings.GOLEM_APPROVAL_HOURS)
    late = Q(state=ChangeState.OPEN, deadline_at__lte=now) | Q(state=ChangeState.APPROVED, executes_at__lte=now - grace)
    ended = 0
    # What was released may be on its way to a block; only the chain ends it.
    under_way = Q(owner_transaction__state__in=[OwnerTransactionState.RELEASED, OwnerTransactionState.SENT])
    late_rows = ChangeRequest.objects.select_related("permit").filter(late, withdrawal__isnull=True)
    timed_out = late_rows.exclude(under_way)[:_BATCH]
    reason = "not decided in time; a timeout is a rejection"
    ended += sum(one_by_one(timed_out, lambda row: _end(row, ChangeState.EXPIRED, reason, now), what="the late change"))
    # Approved in time, and not sent by the time that the signatures themselves name.
    approved = ChangeRequest.objects.select_related("permit").filter(state=ChangeState.APPROVED, deadline_at__lte=now)
    signed = approved.annotate(signed_until=Cast(KT("change__safe_tx__ends_at"), BigIntegerField()))
    # Also what was released: nothing that ended leaves any more, and only what was sent is the chain's to end.
    sent = Q(owner_transaction__state=OwnerTransactionState.SENT)
    over = signed.filter(signed_until__gt=0, signed_until__lte=int(now.timestamp())).exclude(sent)[:_BATCH]
    ended += sum(one_by_one(over, lambda row: end_expired_signatures(request=row, now=now), what="what was signed"))
    lost = (
        ChangeRequest.objects.select_related("permit")
        .filter(state__in=LIVE_STATES, permit__isnull=False, claimed_at__isnull=True)
        .exclude(permit__status=PermitStatus.AWAITING_APPROVAL)
        .exclude(under_way)
    )
    ended += sum(one_by_one(lost[:_BATCH], lambda row: _cancel_with_permit(row, now), what="the lost change"))
    ended += _end_older_resumes(now)
    ended += settle_open_changes(now=now)
    ended += follow_approved_permits(now=now)
    ended += expire_announced(now=now)
    follow_plans(now=now)
    return ended


def _end_older_resumes(now: datetime) -> int:
    """Close requests to resume that a later halt left open, where the process that halted died before it did."""
    rows = ChangeRequest.objects.filter(kind=RESUME, state__in=LIVE_STATES)
    current = Cast("golem__halt_epoch", TextField())
    behind = rows.annotate(epoch=current).annotate(of=KeyTextTransform("halt_epoch", "change")).exclude(of=F("epoch"))
    golems = list(behind.order_by("golem_id").values_list("golem_id", flat=True).distinct()[:_BATCH])
    ended = one_by_one(golems, lambda pk: end_older_resumes(golem_id=pk, now=now), what="the older resume of golem")
    return sum(len(each) for each in ended)


def follow_plans(*, now: datetime) -> None:
    """Close what a Safe's owners signed for a permit that has ended, where no worker was left to do it."""
    ended = ActionPermit.objects.filter(
        status__in=[str(status) for status in FINAL],
        is_local=False,
        change_request__owner_transaction__state__in=[str(state) for state in _LIVE],
    )
    list(one_by_one(ended[:_BATCH], lambda permit: _follow_plan(permit, now), what="the plan of permit"))


@retry_aborted
def _follow_plan(permit: ActionPermit, now: datetime) -> None:
    with transaction.atomic():
        lock_action(golem_id=permit.golem_id, permit_id=permit.pk)
        follow_plan(permit=permit, actor=_ACTOR, now=now)


def forget_denials(*, now: datetime) -> int:
    """Delete refused plans that are older than a back-test looks; how many."""
    old = now - timedelta(days=settings.GOLEM_DENIED_CALL_DAYS)
    return int(DeniedCall.objects.filter(denied_at__lt=old).delete()[0])


def list_due_changes(*, now: datetime) -> list[UUID]:
    """Approved requests whose wait is over and on which nobody works; those of each golem in its turn, since many may
    wait for long for what their owners have to do.
    """
    dead = now - timedelta(seconds=settings.GOLEM_CHANGE_CLAIM_SECONDS)
    free = Q(claimed_at__isnull=True) | Q(claimed_at__lte=dead)
    rows = ChangeRequest.objects.filter(free, state=ChangeState.APPROVED, executes_at__lte=now)
    return list(in_turns(rows, "executes_at", of="golem_id").values_list("pk", flat=True)[:_BATCH])


_ASKED_OF_OWNERS = CompiledStatement(
    lambda permit_id: ChangeRequest.objects.filter(permit_id=permit_id).values_list("pk"), UUID(int=0)
)


def list_next_in_line(*, now: datetime, **of: UUID) -> list[UUID]:
    """What waited behind an owners' transaction that is executed now, and is approved; at most one.

    `of` names that by `request_id` or by `request__permit_id`.
    """
    # A permit that no owner signed is asked about after each commit.
    if "request__permit_id" in of and not _ASKED_OF_OWNERS.fetch(of["request__permit_id"]):
        return []
    asked = OwnerTransaction.objects.filter(state=OwnerTransactionState.EXECUTED, **of).first()
    if asked is None:
        return []
    rows = ChangeRequest.objects.filter(
        state=ChangeState.APPROVED,
        executes_at__lte=now,
        claimed_at__isnull=True,
        owner_transaction__chain_id=asked.chain_id,
        owner_transaction__safe=asked.safe,
        owner_transaction__safe_nonce=asked.safe_nonce + 1,
        owner_transaction__state=OwnerTransactionState.SIGNING,
    )
    return list(rows.values_list("pk", flat=True))


def _cancel_with_permit(request: ChangeRequest, now: datetime) -> bool:
    return _end(request, ChangeState.CANCELLED, f"its permit is {require(request.permit).status.lower()}", now)


@retry_aborted
def _end(request: ChangeRequest, to: ChangeState, reason: str, now: datetime) -> bool:
    with transaction.atomic():
        lock_request(request)
        done = request_states.move_request(request=request, to=to, actor=_ACTOR, now=now, reason=reason)
        if done:
            end_waiting_permit(request, PermitStatus.EXPIRED, _ACTOR, reason, now)
    return done
