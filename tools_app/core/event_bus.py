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
    with transaction.atomic():
        sequence = _next_sequence(golem_id)
        row = OutboxEvent.objects.create(
            golem_id=golem_id,
            sequence=sequence,
            type=str(event.type),
            version=event.version,
            heartbeat_tick=heartbeat_tick,
            occurred_at=now,
            payload=event.payload,
        )
        transaction.on_commit(partial(_publish, row, now), robust=True)
    return row


def _next_sequence(golem_id: UUID) -> int:
    """Count up under the row's lock, in one statement: every tool call emits several events."""
    table = EventSequence._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (golem_id, sequence) VALUES (%s, 1)"  # noqa: S608  (the table's own name)
            f" ON CONFLICT (golem_id) DO UPDATE SET sequence = {table}.sequence + 1 RETURNING sequence",
            [golem_id],
        )
        return int(cursor.fetchone()[0])


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
