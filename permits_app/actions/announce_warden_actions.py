"""The Warden: announce an action, wait, then execute, cancel or expire it. Per golem, off by default.

A commit announces instead of starting; the delay follows the tier. When it is over the stored plan is judged anew and
committed by the server; an owner, the golem itself or a vault-watchdog of the same owner may cancel before that.
Silence approves nothing: a tier that needs owners is announced only after they approved. Emits approval:announced.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction

from archetypes_app.audit_actor_names import KEY_ACTOR
from archetypes_app.delegation import WATCHDOG
from archetypes_app.models import Golem
from permits_app.actions.commit import commit_permit
from permits_app.actions.release_permit import FreshJudgement, open_again, resimulate
from permits_app.actions.start_commit import start_commit
from permits_app.approval_errors import ChangeUnchanged
from permits_app.approvals.warden_announcements import wait_of
from permits_app.errors import PermitNotCancellable, PermitNotCommittable, PermitNotFound
from permits_app.limits import ledger
from permits_app.models import Announcement, Warden
from permits_app.models.permit import PermitStatus
from permits_app.models.warden import AnnouncementState
from permits_app.permits import lifecycle
from permits_app.permits.agent_spending import check_keys_may_spend
from permits_app.permits.permit_lifetime import cut_to_signed
from permits_app.permits.row_locks import lock_action, lock_golem_and_permit
from tools_app.core import audit_log, clock, event_bus
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.events import Event, EventType
from tools_app.core.fair_batches import in_turns
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import format_micro_usd

_ACTOR = "system:warden"
_MOST_ANNOUNCED: Final = 50


@retry_aborted
def turn_warden_on(*, golem: Golem, actor: str, reason: str, now: datetime) -> None:
    """Announce every action from now on; needs nobody's approval. Raises ChangeUnchanged. Appends WardenSet."""
    with transaction.atomic():
        row, _ = Warden.objects.select_for_update(no_key=True).get_or_create(golem=golem)
        if row.is_on:
            raise ChangeUnchanged("the Warden is on already")
        row.is_on = True
        row.save()
        facts = {"is_on": True, "reason": reason}
        audit_log.append(golem_id=golem.pk, event="WardenSet", actor=actor, data=facts, now=now)


@retry_aborted
def announce_permit(*, permit_id: UUID, golem: Golem, actor: str, now: datetime) -> Announcement | None:
    """Announce an open permit of a golem whose Warden is on; None when its tier has no delay, or it stops the golem.

    Raises PermitNotFound, KeysMayNotSpend, and PermitNotCommittable when it is not open or its time is over.
    """
    with transaction.atomic():
        locked, permit = lock_golem_and_permit(golem_id=golem.pk, permit_id=permit_id)
        if permit is None:
            raise PermitNotFound(f"this golem has no permit {str(permit_id)!r}", permit_id=str(permit_id))
        if actor.startswith(KEY_ACTOR):
            check_keys_may_spend(locked, permit)
        delay = wait_of(golem=golem, permit=permit)
        if not delay:
            return None
        executes_at = now + timedelta(seconds=delay)
        window_ends = executes_at + timedelta(seconds=settings.GOLEM_WARDEN_WINDOW_SECONDS)
        expires_at = cut_to_signed(permit, window_ends)
        if expires_at <= executes_at:
            raise PermitNotCommittable("what its owners signed ends before the delay does", permit_id=str(permit_id))
        done = lifecycle.transition(
            permit_id=permit_id,
            leaving=PermitStatus.CREATED,
            to=PermitStatus.ANNOUNCED,
            actor=actor,
            now=now,
            condition={"expires_at__gt": now},
            expires_at=expires_at,
            data={"executes_at": executes_at.isoformat()},
        )
        if not done:
            raise PermitNotCommittable(f"the permit is {permit.status}", permit_id=str(permit_id))
        announcement = Announcement.objects.create(
            permit=permit, announced_at=now, executes_at=executes_at, expires_at=expires_at, announced_by=actor
        )
        payload = {
            "request_id": str(permit_id),
            "permit_id": str(permit_id),
            "risk_tier": permit.risk_tier,
            "not_before": executes_at.isoformat(),
            "expires_at": expires_at.isoformat(),
        }
        event_bus.emit(golem_id=golem.pk, event=Event(EventType.APPROVAL_ANNOUNCED, payload), now=now)
    return announcement


def execute_announced(*, permit_id: UUID, now: datetime) -> JsonObject | None:
    """Judge an announced permit anew and commit it, when its delay is over; None when it is not due.

    What refuses it for good blocks it; what may pass (a node that is away) is tried again until its window ends.
    """
    row = (
        Announcement.objects.select_related("permit__golem__archetype")
        .filter(permit_id=permit_id, state=AnnouncementState.WAITING, executes_at__lte=now, expires_at__gt=now)
        .first()
    )
    if row is None or row.permit.status != PermitStatus.ANNOUNCED:
        return None
    permit, golem = row.permit, row.permit.golem
    try:
        fresh = resimulate(permit=permit, golem=golem, now=now)
        moment = clock.now()
        _start(row, golem, fresh, moment)
    except GolemError as error:
        if error.next_step is not Recovery.WAIT:
            _end(row, PermitStatus.BLOCKED, AnnouncementState.CANCELLED, _ACTOR, error.detail, now)
        return None
    return commit_permit(permit_id=permit.pk)


@retry_aborted
def _start(row: Announcement, golem: Golem, fresh: FreshJudgement, now: datetime) -> None:
    with transaction.atomic():
        lock_action(golem_id=golem.pk, permit_id=row.permit_id)
        open_again(permit=row.permit, fresh=fresh, leaving=PermitStatus.ANNOUNCED, actor=_ACTOR, now=now)
        _close(row, AnnouncementState.EXECUTED, now)
        is_by_key = row.announced_by.startswith(KEY_ACTOR)
        start_commit(golem=golem, permit_id=row.permit_id, actor=_ACTOR, now=now, is_by_key=is_by_key)


def cancel_announced(*, golem: Golem, permit_id: UUID, reason: str, actor: str, now: datetime) -> None:
    """Cancel an announced permit of `golem`. Raises PermitNotFound, PermitNotCancellable."""
    row = Announcement.objects.select_related("permit").filter(permit_id=permit_id, permit__golem=golem).first()
    if row is None:
        raise PermitNotFound(f"this golem has no announced permit {str(permit_id)!r}", permit_id=str(permit_id))
    if not _end(row, PermitStatus.CANCELLED, AnnouncementState.CANCELLED, actor, reason, now):
        raise PermitNotCancellable("the action is not announced any more", permit_id=str(permit_id))


def is_watchdog(golem: Golem) -> bool:
    """Whether a golem may stop what others of its owner announced."""
    return bool(golem.archetype.name == WATCHDOG and golem.archetype.is_builtin)


def list_announced_elsewhere(watchdog: Golem) -> list[JsonObject]:
    """What other golems of the watchdog's owner have announced, the soonest first; nothing to any other golem."""
    if not is_watchdog(watchdog):
        return []
    rows = Announcement.objects.filter(
        state=AnnouncementState.WAITING,
        permit__status=PermitStatus.ANNOUNCED,
        permit__golem__owner_id=watchdog.owner_id,
    ).exclude(permit__golem=watchdog)
    return [
        {
            "permit_id": str(row.permit_id),
            "golem": row.permit.golem.name,
            "action_type": row.permit.action_type,
            "venue": row.permit.venue,
            "chain_id": row.permit.chain_id,
            "risk_tier": row.permit.risk_tier,
            "value_usd": format_micro_usd(row.permit.value_micro_usd),
            "expected": row.permit.expected_outcome,
            "executes_at": row.executes_at.isoformat(),
        }
        for row in rows.select_related("permit__golem").order_by("executes_at", "pk")[:_MOST_ANNOUNCED]
    ]


def cancel_as_watchdog(*, watchdog: Golem, permit_id: UUID, reason: str, actor: str, now: datetime) -> None:
    """Cancel an announced permit of another golem of the same owner, as a golem of the archetype vault-watchdog.

    Raises PermitNotFound for every other caller, as for a permit that does not exist.
    """
    row = Announcement.objects.select_related("permit__golem").filter(permit_id=permit_id).first()
    if row is None or not is_watchdog(watchdog) or watchdog.is_halted or row.permit.golem.owner_id != watchdog.owner_id:
        raise PermitNotFound(f"this golem has no permit {str(permit_id)!r}", permit_id=str(permit_id))
    cancel_announced(golem=row.permit.golem, permit_id=permit_id, reason=reason, actor=actor, now=now)


def expire_announced(*, now: datetime) -> int:
    """End announcements whose window is over, and close those whose permit was ended otherwise; how many ended."""
    waiting = Announcement.objects.select_related("permit").filter(state=AnnouncementState.WAITING)
    ended = one_by_one(waiting.filter(expires_at__lte=now)[:200], lambda row: _end_late(row, now), what="the late")
    done = sum(ended)
    closed = waiting.exclude(permit__status=PermitStatus.ANNOUNCED)[:200]
    list(one_by_one(closed, lambda row: _close(row, AnnouncementState.CANCELLED, now), what="the ended"))
    return done


def _end_late(row: Announcement, now: datetime) -> bool:
    return _end(row, PermitStatus.EXPIRED, AnnouncementState.EXPIRED, _ACTOR, "the window is over", now)


def list_due_announcements(*, now: datetime) -> list[UUID]:
    """Permits whose delay is over; those of each golem in its turn, since one that fails for now stays due."""
    rows = Announcement.objects.filter(
        state=AnnouncementState.WAITING,
        executes_at__lte=now,
        expires_at__gt=now,
        permit__status=PermitStatus.ANNOUNCED,
    )
    return list(in_turns(rows, "executes_at", of="permit__golem_id").values_list("permit_id", flat=True)[:50])


@retry_aborted
def _end(row: Announcement, to: PermitStatus, state: AnnouncementState, actor: str, reason: str, now: datetime) -> bool:
    with transaction.atomic():
        done = lifecycle.transition(
            permit_id=row.permit_id,
            leaving=PermitStatus.ANNOUNCED,
            to=to,
            actor=actor,
            now=now,
            reason=reason,
            finished_at=now,
        )
        if done:
            ledger.release(permit_id=row.permit_id)
            _close(row, state, now)
    return done


def _close(row: Announcement, state: AnnouncementState, now: datetime) -> None:
    Announcement.objects.filter(pk=row.pk, state=AnnouncementState.WAITING).update(state=state, closed_at=now)
