"""acknowledge_drawdown: an owner has seen a fall of their golem's holdings and lets it act again.

The high-water mark starts anew with the next value that is measured. Takes the lock of the mark's row; appends
DrawdownAcknowledged; emits policy:cage_updated.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from permits_app.errors import NothingToAcknowledge
from permits_app.models import HighWaterMark
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def acknowledge_drawdown(*, golem_id: UUID, actor: str, reason: str, now: datetime) -> HighWaterMark:
    """Lift the block of a recorded violation. Raises NothingToAcknowledge when there is none."""
    with transaction.atomic():
        row = (
            HighWaterMark.objects.select_for_update(no_key=True)
            .filter(golem_id=golem_id, violated_at__isnull=False)
            .first()
        )
        if row is None:
            raise NothingToAcknowledge("no drawdown of this golem waits for its owner", golem_id=str(golem_id))
        facts = {"violated_at": str(row.violated_at), "violated_bps": str(row.violated_bps), "reason": reason}
        row.value_micro_usd, row.reached_at, row.later = 0, now, []
        row.violated_at, row.violated_bps, row.paused_until = None, 0, None
        row.acknowledged_at, row.acknowledged_by, row.acknowledged_reason = now, actor, reason
        row.save()
        audit_log.append(golem_id=golem_id, event="DrawdownAcknowledged", actor=actor, data=facts, now=now)
        payload = {"row": "high-water mark", "fields": ["violated_at"]}
        event_bus.emit(golem_id=golem_id, event=Event(EventType.POLICY_CAGE_UPDATED, payload), now=now)
    return row
