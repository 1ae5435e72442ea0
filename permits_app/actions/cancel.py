"""cancel_action, and what an owner may do to a permit: cancel, block, shorten its life, add a note.

Nobody rewrites or loosens what was simulated.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.actions.expire import expire_permit
from permits_app.errors import PermitNotCancellable
from permits_app.limits import ledger
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.transaction import IN_A_BLOCK, PayloadPurpose
from permits_app.permits import lifecycle
from permits_app.permits.row_locks import lock_golem_and_permit
from permits_app.permits.selectors import get_permit, load_permit
from tools_app.core import audit_log
from tools_app.core.json_types import JsonObject
from tools_app.core.storable_text import make_plain
from tools_app.core.transaction_retry import retry_aborted

GIVEN_UP = "cancelled before a node took it; it ends once its nonces are used up"
_OPEN = (PermitStatus.CREATED, PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED)


def cancel_permit(*, golem: Golem, permit_id: UUID, reason: str, actor: str, now: datetime) -> JsonObject:
    """Cancel an open permit and give its reservation back, or give up one that was signed and that no node took.

    The latter ends once its nonces are used up; until then it holds its reservation, for bytes that left may be
    anywhere. Raises PermitNotFound, PermitNotCancellable.
    """
    permit = load_permit(golem=golem, permit_id=permit_id)
    if PermitStatus(permit.status) in UNFINISHED and not permit.is_local and permit.halt_epoch is None:
        return _give_up(permit, reason, actor, now)
    return _end(golem, permit_id, PermitStatus.CANCELLED, reason, actor, now)


def block_permit(*, golem: Golem, permit_id: UUID, reason: str, actor: str, now: datetime) -> JsonObject:
    """Block an open permit, as an owner. Raises PermitNotFound, PermitNotCancellable."""
    return _end(golem, permit_id, PermitStatus.BLOCKED, reason, actor, now)


@retry_aborted
def shorten_permit(*, golem: Golem, permit_id: UUID, expires_at: datetime, actor: str, now: datetime) -> JsonObject:
    """Let an open permit end earlier; a later end is refused. Raises PermitNotFound, PermitNotCancellable."""
    load_permit(golem=golem, permit_id=permit_id)
    with transaction.atomic():
        changed = ActionPermit.objects.filter(
            golem=golem, pk=permit_id, status=PermitStatus.CREATED, expires_at__gt=expires_at
        ).update(expires_at=expires_at)
        if not changed:
            raise PermitNotCancellable("only the life of an open permit can be shortened", permit_id=str(permit_id))
        audit_log.append(
            golem_id=golem.pk,
            event="PermitShortened",
            actor=actor,
            now=now,
            data={"permit_id": str(permit_id), "expires_at": expires_at.isoformat()},
        )
    expire_permit(permit_id=permit_id, now=now)
    return get_permit(golem=golem, permit_id=permit_id)


@retry_aborted
def annotate_permit(*, golem: Golem, permit_id: UUID, note: str, actor: str, now: datetime) -> None:
    """Set the owner's note; it changes nothing else. Raises PermitNotFound."""
    load_permit(golem=golem, permit_id=permit_id)
    with transaction.atomic():
        ActionPermit.objects.filter(golem=golem, pk=permit_id).update(owner_note=note)
        audit_log.append(
            golem_id=golem.pk, event="PermitAnnotated", actor=actor, data={"permit_id": str(permit_id)}, now=now
        )


@retry_aborted
def _give_up(permit: ActionPermit, reason: str, actor: str, now: datetime) -> dict[str, object]:
    facts: JsonObject = {"permit_id": str(permit.pk), "permit_status": permit.status}
    with transaction.atomic():
        # A worker that sends counts what it sends under the same locks.
        _, locked = lock_golem_and_permit(golem_id=permit.golem_id, permit_id=permit.pk)
        if locked is None or PermitStatus(locked.status) not in UNFINISHED:
            raise PermitNotCancellable("the permit moved on while it was being ended", **facts)
        payloads = OutboundTransaction.objects.filter(permit_id=permit.pk, purpose=PayloadPurpose.CALL)
        was_taken = Q(broadcast_at__isnull=False) | Q(state__in=[str(state) for state in IN_A_BLOCK])
        if not payloads.exists():
            raise PermitNotCancellable("the permit is being signed; look it up in a moment", **facts)
        if payloads.filter(was_taken).exists():
            raise PermitNotCancellable(f"the permit is {locked.status}: a node has taken what it sent", **facts)
        if payloads.filter(refusal="", broadcast_count__gt=0).exists():
            raise PermitNotCancellable(f"the permit is {locked.status}: what it sent may have arrived", **facts)
        if locked.cancel_asked_at is None:
            said = make_plain(f"{GIVEN_UP}: {reason}")
            ActionPermit.objects.filter(pk=permit.pk).update(cancel_asked_at=now, status_reason=said)
            audit_log.append(
                golem_id=permit.golem_id,
                event="PermitGivenUp",
                actor=actor,
                now=now,
                data={"permit_id": str(permit.pk), "reason": make_plain(reason)},
            )
    return get_permit(golem=permit.golem, permit_id=permit.pk)


@retry_aborted
def _end(golem: Golem, permit_id: UUID, to: PermitStatus, reason: str, actor: str, now: datetime) -> dict[str, object]:
    permit = load_permit(golem=golem, permit_id=permit_id)
    if PermitStatus(permit.status) not in _OPEN:
        raise PermitNotCancellable(
            f"the permit is {permit.status}", permit_id=str(permit_id), permit_status=permit.status
        )
    with transaction.atomic():
        done = lifecycle.transition(
            permit_id=permit_id,
            leaving=PermitStatus(permit.status),
            to=to,
            actor=actor,
            now=now,
            reason=reason,
            finished_at=now,
        )
        if not done:
            raise PermitNotCancellable("the permit moved on while it was being ended", permit_id=str(permit_id))
        ledger.release(permit_id=permit_id)
    return get_permit(golem=golem, permit_id=permit_id)
