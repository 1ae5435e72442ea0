"""note_safe: an owner has looked at the Safe behind their golem's cage, and its warnings count from there on.

Nothing is sent: the Safe is as it is. Appends SafeNoted.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from permits_app.approval_errors import ChangeUnchanged
from permits_app.models import CageMirror
from tools_app.core import audit_log
from tools_app.core.whole import whole


@whole
def note_safe(*, golem_id: UUID, actor: str, reason: str, now: datetime) -> CageMirror:
    """Take the Safe as it was last seen for what is agreed. Raises ChangeUnchanged when it is."""
    with transaction.atomic():
        mirror = CageMirror.objects.select_for_update(no_key=True, of=("self",)).get(cage__golem_id=golem_id)
        if mirror.safe == mirror.safe_noted:
            raise ChangeUnchanged("the Safe is as its owners last saw it")
        mirror.safe_noted = mirror.safe
        mirror.save(update_fields=["safe_noted", "updated_at"])
        data = {"contract": mirror.contract, "account": mirror.account, "reason": reason}
        audit_log.append(golem_id=golem_id, event="SafeNoted", actor=actor, data=data, now=now)
    return mirror
