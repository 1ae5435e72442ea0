"""Events leave through an outbox: written with the change, placed in one log after it commits, numbered without gaps.

Two numbers: `sequence` counts the events of one golem and is given with the change; `position` counts through the log
of all golems and is given once the change is committed, lower sequences first. PostgreSQL is the log; the Redis stream
is a ring of its newest events that wakes readers. A broker that is down, or a process that dies between commit and
publishing, loses nothing: `publish_pending` places what was left behind.
Seed: 002, "Event Fabric integration"; decisions, "Events and audit".
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from django.db import connection, transaction
from redis.exceptions import RedisError, ResponseError

from tools_app.core import clock
from tools_app.core.event_schemas import check_payload
from tools_app.core.events import Event
from tools_app.core.models import EventSequence, OutboxEvent
from tools_app.core.taint import DataSink, clean_for

logger = logging.getLogger(__name__)

STREAM_KEY = "golem:events"
STREAM_LENGTH = 10_000
# A ring that does not answer is left alone this long; readers take the log itself meanwhile.
_RING_REST_MS = 1_000.0


class StreamPipeline(Protocol):
    """Commands that travel together."""

    def xadd(self, name: str, fields: dict[str, str], *, id: str, maxlen: int, approximate: bool) -> Any: ...

    def execute(self, *, raise_on_error: bool) -> list[Any]: ...


class StreamClient(Protocol):
    """What the bus and the log need of a Redis client."""

    def pipeline(self, *, transaction: bool) -> StreamPipeline: ...

    def xrange(self, name: str, min: str, max: str, count: int) -> list[tuple[bytes, dict[bytes, bytes]]]: ...


_open_stream: Callable[[], StreamClient] | None = None
_checks_payloads = False
_ring_rests_until_ms = 0.0
_heartbeat_tick: ContextVar[int] = ContextVar("heartbeat_tick", default=0)


def configure(open_stream: Callable[[], StreamClient], *, checks_payloads: bool = False) -> None:
    """Hand the bus its ring once, at start-up. With `checks_payloads` an undeclared payload raises."""
    global _open_stream, _checks_payloads
    _open_stream = open_stream
    _checks_payloads = checks_payloads


def open_ring() -> StreamClient | None:
    """The ring, or None when this process has none or it failed a moment ago."""
    if _open_stream is None or clock.monotonic_ms() < _ring_rests_until_ms:
        return None
    return _open_stream()


def rest_ring(error: Exception) -> None:
    """Note that the ring failed: it is left alone for a moment."""
    global _ring_rests_until_ms
    _ring_rests_until_ms = clock.monotonic_ms() + _RING_REST_MS
    logger.warning("the event ring does not answer: %s", type(error).__name__)


def ring_key(log_id: UUID | str) -> str:
    """The Redis key of the ring of one log."""
    return f"{STREAM_KEY}:{log_id}"


@contextmanager
def within_tick(heartbeat_tick: int) -> Iterator[None]:
    """Everything emitted inside belongs to this heartbeat tick, however deep the call is."""
    token = _heartbeat_tick.set(heartbeat_tick)
    try:
        yield
    finally:
        _heartbeat_tick.reset(token)


def emit(*, golem_id: UUID, event: Event, now: datetime, heartbeat_tick: int | None = None) -> OutboxEvent:
    """Write `event` to the outbox in the caller's transaction; it is published when that commits."""
    return emit_all(golem_id=golem_id, events=[event], now=now, heartbeat_tick=heartbeat_tick)[0]


def emit_all(
    *, golem_id: UUID, events: Sequence[Event], now: datetime, heartbeat_tick: int | None = None
) -> list[OutboxEvent]:
    """Write `events` in their order with consecutive numbers; they are published together.

    Without `heartbeat_tick` they belong to the tick that `within_tick` set, or to none (0).
    """
    tick = _heartbeat_tick.get() if heartbeat_tick is None else heartbeat_tick
    rows = [
        OutboxEvent(
            golem_id=golem_id,
            type=str(event.type),
            version=event.version,
            heartbeat_tick=tick,
            occurred_at=now,
            payload=clean_for(DataSink.EVENTS, event.payload),
        )
        for event in events
    ]
    if _checks_payloads:
        for event, row in zip(events, rows, strict=True):
            check_payload(event.type, row.payload)
    with connection.cursor() as cursor:
        cursor.execute(
            _EMIT_SQL,
            {
                "golem": golem_id,
                "count": len(rows),
                "tick": tick,
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
    _publish_on_commit(golem_id, now)
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


def lock_golem(golem_id: UUID) -> None:
    """Hold the row of the golem's event counter until the transaction ends: one writer of this golem at a time."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_GOLEM_SQL, {"golem": golem_id})


_LOCK_GOLEM_SQL = f"""
INSERT INTO {EventSequence._meta.db_table} AS counter (golem_id, sequence) VALUES (%(golem)s, 0)
    ON CONFLICT (golem_id) DO UPDATE SET sequence = counter.sequence
"""  # noqa: S608  (the tables' own names)


def publish_pending(*, now: datetime, limit: int = 500) -> int:
    """Place events that no process placed after their commit. Returns how many."""
    return _publish(None, now, limit=limit)


def _publish_on_commit(golem_id: UUID, now: datetime) -> None:
    """Publish once per transaction and golem, however many events it emits."""
    living = set(connection.savepoint_ids)
    for registered in connection.run_on_commit:
        savepoints, function = registered[0], registered[1]
        # One registered in a savepoint that may still be undone does not count.
        if isinstance(function, partial) and function.args[:1] == (golem_id,) and savepoints <= living:
            return
    transaction.on_commit(partial(_publish, golem_id, now), robust=True)


def _publish(golem_id: UUID | None, now: datetime, *, limit: int = 10_000) -> int:
    with connection.cursor() as cursor:
        # One statement, one round trip; it holds the lock of the head for no longer than it runs.
        cursor.execute("SELECT * FROM tools_app_place_events(%s, %s, %s)", (golem_id, now, limit))
        placed = cursor.fetchall()
    if placed:
        _add_to_ring(placed)
    return len(placed)


def encode_event(row: tuple[Any, ...]) -> str:
    """The wire form of an event, from its columns: id, golem, sequence, type, version, tick, time, payload."""
    event_id, golem_id, sequence, kind, version, tick, occurred_at, payload = row
    return json.dumps(
        {
            "event_id": str(event_id),
            "type": kind,
            "version": version,
            "golem_id": str(golem_id),
            "sequence": sequence,
            "heartbeat_tick": tick,
            "occurred_at": occurred_at.isoformat(),
            "payload": json.loads(payload) if isinstance(payload, str) else payload,
        },
        separators=(",", ":"),
    )


def _add_to_ring(placed: list[tuple[Any, ...]]) -> None:
    ring = open_ring()
    if ring is None:
        return
    pipeline = ring.pipeline(transaction=False)
    for log_id, position, *columns in placed:
        row = tuple(columns)
        fields = {"golem_id": str(row[1]), "type": row[3], "event": encode_event(row)}
        pipeline.xadd(ring_key(log_id), fields, id=f"{position}-0", maxlen=STREAM_LENGTH, approximate=True)
    try:
        answers = pipeline.execute(raise_on_error=False)
    except (RedisError, OSError) as error:
        rest_ring(error)
        return
    for answer in answers:
        # Another process added later events first: the ring has a hole there, and readers take it from the log.
        if isinstance(answer, Exception) and not isinstance(answer, ResponseError):
            rest_ring(answer)
            return
