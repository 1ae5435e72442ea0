"""cancel_action: a golem gives up its own permit; a vault-watchdog also stops what its owner's golems announced."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from archetypes_app.models import Golem
from permits_app.actions.announce_warden_actions import cancel_as_watchdog
from permits_app.actions.cancel import cancel_permit
from permits_app.errors import PermitNotFound
from permits_app.models import ActionPermit
from permits_app.permits.selectors import view_permit
from tools_app.core.json_types import JsonObject


def request_cancel(*, golem: Golem, permit_id: UUID, reason: str, actor: str, now: datetime) -> JsonObject:
    """The cancelled permit. Raises PermitNotFound, PermitNotCancellable."""
    try:
        return cancel_permit(golem=golem, permit_id=permit_id, reason=reason, actor=actor, now=now)
    except PermitNotFound:
        cancel_as_watchdog(watchdog=golem, permit_id=permit_id, reason=reason, actor=actor, now=now)
    return view_permit(ActionPermit.objects.get(pk=permit_id))
