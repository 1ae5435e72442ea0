"""cancel_action, and what an owner may do to a permit: cancel, block, shorten its life, add a note.

Nobody rewrites or loosens what was simulated. Seed: decisions, "Permits".
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.actions.expire import expire_permit
from permits_app.errors import PermitNotCancellable
from permits_app.limits import ledger
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits import lifecycle
from permits_app.permits.selectors import get_permit, load_permit
from tools_app.core import audit_log
from tools_app.core.whole import whole

_OPEN = (PermitStatus.CREATED, PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED)


def cancel_permit(*, golem: Golem, permit_id: UUID, reason: str, actor: str, now: datetime) -> dict[str, Any]:
    """Cancel an open permit and give its reservation back. Raises PermitNotFound, PermitNotCancellable."""
    return _end(golem, permit_id, PermitStatus.CANCELLED, reason, actor, now)


def block_permit(*, golem: Golem, permit_id: UUID, reason: str, actor: str, now: datetime) -> dict[str, Any]:
    """Block an open permit, as an owner. Raises PermitNotFound, PermitNotCancellable."""
    return _end(golem, permit_id, PermitStatus.BLOCKED, reason, actor, now)


@whole
def shorten_permit(*, golem: Golem, permit_id: UUID, expires_at: datetime, actor: str, now: datetime) -> dict[str, Any]:
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


@whole
def annotate_permit(*, golem: Golem, permit_id: UUID, note: str, actor: str, now: datetime) -> None:
    """Set the owner's note; it changes nothing else. Raises PermitNotFound."""
    load_permit(golem=golem, permit_id=permit_id)
    with transaction.atomic():
        ActionPermit.objects.filter(golem=golem, pk=permit_id).update(owner_note=note)
        audit_log.append(
            golem_id=golem.pk, event="PermitAnnotated", actor=actor, data={"permit_id": str(permit_id)}, now=now
        )


@whole
def _end(golem: Golem, permit_id: UUID, to: PermitStatus, reason: str, actor: str, now: datetime) -> dict[str, Any]:
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
