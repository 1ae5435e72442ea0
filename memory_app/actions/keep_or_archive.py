"""Pin, archive, restore, quarantine and release single memories, as an owner asks; each in the audit log with why."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from django.db import transaction

from memory_app.insight_events import announce_insight
from memory_app.models import Episode, Insight
from memory_app.models.provenance import Trust
from tools_app.core import audit_log, event_bus
from tools_app.core.errors import InvalidParams
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted


class Keeping(StrEnum):
    """What may be done to how a memory is kept."""

    PIN = "pin"
    UNPIN = "unpin"
    ARCHIVE = "archive"
    RESTORE = "restore"
    QUARANTINE = "quarantine"
    RELEASE = "release"


@retry_aborted
def keep_memory(*, memory: Episode | Insight, keeping: Keeping, actor: str, reason: str, now: datetime) -> bool:
    """Change how one memory is kept; False when it was so already. One transaction, audit entry and event.

    Restoring counts as one access and keeps the stability. A pinned memory is not archived; text from outside is not
    released. Raises InvalidParams.
    """
    model = type(memory)
    with transaction.atomic():
        row = model.objects.select_for_update(no_key=True, of=("self",)).get(pk=memory.pk)
        columns = _decide(row, keeping, reason, now)
        if all(getattr(row, name) == value for name, value in columns.items()):
            return False
        model.objects.filter(pk=row.pk).update(**columns)
        for name, value in columns.items():
            setattr(row, name, value)
        store = "episode" if isinstance(row, Episode) else "insight"
        audit_log.append(
            golem_id=row.golem_id,
            event="MemoryKept",
            actor=actor,
            now=now,
            data={"store": store, "id": str(row.pk), "did": keeping.value, "reason": reason[:500]},
        )
        if isinstance(row, Insight):
            announce_insight(row, change=keeping.value, now=now, reason=reason)
        elif keeping in (Keeping.QUARANTINE, Keeping.RELEASE):
            payload = {"change": keeping.value, "store": "episodes", "counts": {"episodes": 1}, "reason": reason[:500]}
            event_bus.emit(golem_id=row.golem_id, event=Event(EventType.GRIMOIRE_PURGED, payload), now=now)
    return True


def _decide(row: Episode | Insight, keeping: Keeping, reason: str, now: datetime) -> dict[str, object]:
    if keeping in (Keeping.PIN, Keeping.UNPIN):
        return {"is_pinned": keeping is Keeping.PIN}
    if keeping is Keeping.ARCHIVE:
        if row.is_pinned:
            raise InvalidParams("a pinned memory is not archived; unpin it first", fields={"memory": "is pinned"})
        return {"archived_at": row.archived_at or now}
    if keeping is Keeping.RESTORE:
        if row.archived_at is None:
            return {"archived_at": None}
        return {"archived_at": None, "last_accessed_at": max(row.last_accessed_at, now)}
    if keeping is Keeping.QUARANTINE:
        return {"is_quarantined": True, "quarantine_reason": row.quarantine_reason or f"owner: {reason}"[:200]}
    if row.trust == Trust.UNTRUSTED:
        raise InvalidParams(
            "text from outside stays in quarantine; purge it, or write down yourself what is true in it",
            fields={"memory": "its text came from outside"},
        )
    return {"is_quarantined": False, "quarantine_reason": ""}
