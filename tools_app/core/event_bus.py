"""Events leave through an outbox: written with the change, published after it commits, numbered without gaps.

A broker that is down loses nothing: the row stays unpublished and `publish_pending` sends it later.
Seed: 002, "Event Fabric integration"; decisions, "Events and audit".
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from django.db import connection, transaction

from tools_app.core.events import Event
from tools_app.core.models import EventSequence, OutboxEvent

STREAM_KEY = "golem:events"
STREAM_LENGTH = 10_000


class StreamWriter(Protocol):
    """What the bus needs of a Redis client."""

    def xadd(self, name: str, fields: dict[str, str], *, maxlen: int, approximate: bool) -> Any: ...


_open_stream: Callable[[], StreamWriter] | None = None


def configure(open_stream: Callable[[], StreamWriter]) -> None:
    """Hand the bus its stream once, at start-up. Called by wiring."""
    global _open_stream
    _open_stream = open_stream


def emit(*, golem_id: UUID, event: Event, now: datetime, heartbeat_tick: int = 0) -> OutboxEvent:
    """Write `event` to the outbox in the caller's transaction; it is published when that commits."""
    row = OutboxEvent(
        golem_id=golem_id,
        type=str(event.type),
        version=event.version,
        heartbeat_tick=heartbeat_tick,
        occurred_at=now,
        payload=event.payload,
    )
    with connection.cursor() as cursor:
        cursor.execute(
            _EMIT_SQL,
            {
                "id": row.id,
                "golem": golem_id,
                "type": row.type,
                "version": row.version,
                "tick": heartbeat_tick,
                "at": now,
                "payload": json.dumps(event.payload),
            },
        )
        row.sequence = int(cursor.fetchone()[0])
    transaction.on_commit(partial(_publish, row, now), robust=True)
    return row


# Numbered and written in one statement, because every tool call emits several events: it is atomic by itself, and the
# row of the counter stays locked until the caller's transaction ends, so no number is skipped or given twice.
_EMIT_SQL = f"""
WITH counted AS (
    INSERT INTO {EventSequence._meta.db_table} AS counter (golem_id, sequence) VALUES (%(golem)s, 1)
    ON CONFLICT (golem_id) DO UPDATE SET sequence = counter.sequence + 1
    RETURNING sequence
)
INSERT INTO {OutboxEvent._meta.db_table}
    (id, golem_id, sequence, type, version, heartbeat_tick, occurred_at, payload)
SELECT %(id)s, %(golem)s, sequence, %(type)s, %(version)s, %(tick)s, %(at)s, %(payload)s::jsonb FROM counted
RETURNING sequence
"""  # noqa: S608  (the tables' own names)


def publish_pending(*, now: datetime, limit: int = 500) -> int:
    """Publish outbox rows whose first attempt failed, oldest first. Returns how many went out."""
    rows = OutboxEvent.objects.filter(published_at__isnull=True).order_by("occurred_at", "sequence")[:limit]
    for row in rows:
        _publish(row, now)
    return len(rows)


def _publish(row: OutboxEvent, now: datetime) -> None:
    if _open_stream is None:
        return
    fields = {
        "id": str(row.id),
        "golem_id": str(row.golem_id),
        "sequence": str(row.sequence),
        "type": row.type,
        "version": str(row.version),
        "heartbeat_tick": str(row.heartbeat_tick),
        "occurred_at": row.occurred_at.isoformat(),
        "payload": json.dumps(row.payload),
    }
    _open_stream().xadd(STREAM_KEY, fields, maxlen=STREAM_LENGTH, approximate=True)
    OutboxEvent.objects.filter(pk=row.pk).update(published_at=now)
