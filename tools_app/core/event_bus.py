"""Events leave through an outbox: written with the change, published after it commits, numbered without gaps.

A broker that is down loses nothing: the row stays unpublished and `publish_pending` sends it later.
Seed: 002, "Event Fabric integration"; decisions, "Events and audit".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from django.db import connection, transaction

from tools_app.core.events import Event
from tools_app.core.models import EventSequence, OutboxEvent
from tools_app.core.taint import DataSink, clean_for

STREAM_KEY = "golem:events"
STREAM_LENGTH = 10_000


class StreamPipeline(Protocol):
    """Commands that travel together."""

    def xadd(self, name: str, fields: dict[str, str], *, maxlen: int, approximate: bool) -> Any: ...

    def execute(self) -> Any: ...


class StreamWriter(Protocol):
    """What the bus needs of a Redis client."""

    def pipeline(self, *, transaction: bool) -> StreamPipeline: ...


_open_stream: Callable[[], StreamWriter] | None = None


def configure(open_stream: Callable[[], StreamWriter]) -> None:
    """Hand the bus its stream once, at start-up. Called by wiring."""
    global _open_stream
    _open_stream = open_stream


def emit(*, golem_id: UUID, event: Event, now: datetime, heartbeat_tick: int = 0) -> OutboxEvent:
    """Write `event` to the outbox in the caller's transaction; it is published when that commits."""
    return emit_all(golem_id=golem_id, events=[event], now=now, heartbeat_tick=heartbeat_tick)[0]


def emit_all(*, golem_id: UUID, events: Sequence[Event], now: datetime, heartbeat_tick: int = 0) -> list[OutboxEvent]:
    """Write `events` in their order with consecutive numbers; they are published together."""
    rows = [
        OutboxEvent(
            golem_id=golem_id,
            type=str(event.type),
            version=event.version,
            heartbeat_tick=heartbeat_tick,
            occurred_at=now,
            payload=clean_for(DataSink.EVENTS, event.payload),
        )
        for event in events
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            _EMIT_SQL,
            {
                "golem": golem_id,
                "count": len(rows),
                "tick": heartbeat_tick,
                "at": now,
                "ids": [row.id for row in rows],
                "types": [row.type for row in rows],
                "versions": [row.version for row in rows],
                "payloads": [json.dumps(row.payload) for row in rows],
            },
        )
        numbers = dict(cursor.fetchall())
    for row in rows:
        row.sequence = numbers[row.id]
    transaction.on_commit(partial(_publish, rows, now), robust=True)
    return rows


# Numbered and written in one statement, because every tool call emits several events: it is atomic by itself, and the
# row of the counter stays locked until the caller's transaction ends, so no number is skipped or given twice.
_EMIT_SQL = f"""
WITH counted AS (
    INSERT INTO {EventSequence._meta.db_table} AS counter (golem_id, sequence) VALUES (%(golem)s, %(count)s)
    ON CONFLICT (golem_id) DO UPDATE SET sequence = counter.sequence + %(count)s
    RETURNING sequence
)
INSERT INTO {OutboxEvent._meta.db_table}
    (id, golem_id, sequence, type, version, heartbeat_tick, occurred_at, payload)
SELECT event.id, %(golem)s, counted.sequence - %(count)s + event.place, event.type, event.version, %(tick)s, %(at)s,
       event.payload::jsonb
  FROM counted, unnest(%(ids)s::uuid[], %(types)s::text[], %(versions)s::int[], %(payloads)s::text[])
       WITH ORDINALITY AS event(id, type, version, payload, place)
RETURNING id, sequence
"""  # noqa: S608  (the tables' own names)


def publish_pending(*, now: datetime, limit: int = 500) -> int:
    """Publish outbox rows whose first attempt failed, oldest first. Returns how many went out."""
    rows = list(OutboxEvent.objects.filter(published_at__isnull=True).order_by("occurred_at", "sequence")[:limit])
    if rows:
        _publish(rows, now)
    return len(rows)


def _publish(rows: Sequence[OutboxEvent], now: datetime) -> None:
    if _open_stream is None:
        return
    pipeline = _open_stream().pipeline(transaction=False)
    for row in rows:
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
        pipeline.xadd(STREAM_KEY, fields, maxlen=STREAM_LENGTH, approximate=True)
    pipeline.execute()
    OutboxEvent.objects.filter(pk__in=[row.id for row in rows]).update(published_at=now)
