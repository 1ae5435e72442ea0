"""Events leave through an outbox: written with the change, placed in one log after it commits, numbered without gaps.

Two numbers: `sequence` counts the events of one golem and is given with the change; `position` counts through the log
of all golems and is given once the change is committed, lower sequences first. PostgreSQL is the log; the Redis stream
is a ring of its newest events that wakes readers. A broker that is down, or a process that dies between commit and
publishing, loses nothing: `publish_pending` places what was left behind.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from tools_app.core import event_publisher, event_ring
from tools_app.core.event_ring import RingClient
from tools_app.core.event_schemas import check_payload, keep_declared
from tools_app.core.events import Event
from tools_app.core.json_types import JsonObject
from tools_app.core.models import EventSequence, OutboxEvent
from tools_app.core.prepared_statements import Filled, Prepared
from tools_app.core.storable_text import make_plain_value
from tools_app.core.taint import DataSink, about, clean_for

logger = logging.getLogger(__name__)

_checks_payloads = False
_after_commit: Callable[[], None] = event_publisher.ask_to_publish
_heartbeat_tick: ContextVar[int] = ContextVar("heartbeat_tick", default=0)


@dataclass(slots=True)
class _HeldEvents:
    golem_id: UUID
    events: list[Event] = field(default_factory=list)


_held: ContextVar[_HeldEvents | None] = ContextVar("held_events", default=None)


def configure(
    open_ring: Callable[[], RingClient], *, checks_payloads: bool = False, awaits_publication: bool = False
) -> None:
    """Hand the bus its ring once, at start-up.

    With `checks_payloads` an undeclared payload raises; with `awaits_publication` a commit returns when its events are
    published, so that the next step finds them in the log.
    """
    global _checks_payloads, _after_commit
    event_ring.configure(open_ring)
    _checks_payloads = checks_payloads
    _after_commit = event_publisher.ask_and_wait if awaits_publication else event_publisher.ask_to_publish


@contextmanager
def within_tick(heartbeat_tick: int) -> Iterator[None]:
    """Everything emitted inside belongs to this heartbeat tick, however deep the call is."""
    token = _heartbeat_tick.set(heartbeat_tick)
    try:
        yield
    finally:
        _heartbeat_tick.reset(token)


def current_tick() -> int:
    """The tick that is under way in this context; 0 between ticks."""
    return _heartbeat_tick.get()


def emit(*, golem_id: UUID, event: Event, now: datetime, heartbeat_tick: int | None = None) -> None:
    """Write `event` to the outbox in the caller's transaction; it is published when that commits."""
    emit_all(golem_id=golem_id, events=[event], now=now, heartbeat_tick=heartbeat_tick)


def emit_all(*, golem_id: UUID, events: Sequence[Event], now: datetime, heartbeat_tick: int | None = None) -> None:
    """Write `events` in their order with consecutive numbers; they are published together.

    Without `heartbeat_tick` they belong to the tick that `within_tick` set, else to the golem's newest, which the
    counter remembers: what an agent does between two ticks happens in the life of the one before.
    """
    _fill(golem_id, events, now, heartbeat_tick).fetch()
    _publish_on_commit()


@contextmanager
def holding(*, golem_id: UUID, now: datetime) -> Iterator[None]:
    """Inside, events that are held wait for the next ones of this golem, and share their fate.

    Those that are left are written at the end, whether it is an answer or an error.
    """
    held = _HeldEvents(golem_id)
    token = _held.set(held)
    try:
        yield
    finally:
        _held.reset(token)
        if held.events and not connection.needs_rollback:
            emit_all(golem_id=golem_id, events=held.events, now=now)


def hold(*, golem_id: UUID, events: Sequence[Event], now: datetime) -> None:
    """Write `events` with the next ones of this golem, before them; at once where nothing is holding."""
    held = _held.get()
    if held is not None and held.golem_id == golem_id:
        held.events += events
    else:
        emit_all(golem_id=golem_id, events=events, now=now)


def list_held() -> list[Event]:
    """What waits for the next events; whoever may have to begin anew hands it back to `hold_again`."""
    held = _held.get()
    return list(held.events) if held is not None else []


def hold_again(events: Sequence[Event]) -> None:
    """Let `events` wait again: those they travelled with were rolled back."""
    held = _held.get()
    if held is not None:
        held.events = list(events)


def fill_events(*, golem_id: UUID, events: Sequence[Event], now: datetime) -> Filled:
    """The statement of `emit_all`, for whoever sends it along with another one of the transaction that is open."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("events that travel with a change are written in its transaction")
    _publish_on_commit()
    return _fill(golem_id, events, now, None)


def _keep_declared(event: Event, payload: dict[str, object]) -> JsonObject:
    """What a schema does not name is not told, however it came here; the log names the field and no value."""
    kept, undeclared = keep_declared(event.type, payload)
    if undeclared:
        logger.error("%s: left out what no schema declares: %s", event.type, ", ".join(undeclared))
    return kept


def _fill(golem_id: UUID, events: Sequence[Event], now: datetime, heartbeat_tick: int | None) -> Filled:
    held = _held.get()
    if held is not None and held.golem_id == golem_id:
        events, held.events = [*held.events, *events], []
    with about(golem_id):
        payloads = [clean_for(DataSink.EVENTS, event.payload) for event in events]
    if _checks_payloads:
        for event, payload in zip(events, payloads, strict=True):
            check_payload(event.type, payload)
    else:
        payloads = [_keep_declared(event, payload) for event, payload in zip(events, payloads, strict=True)]
    rows = [[event.type, event.version, payload] for event, payload in zip(events, payloads, strict=True)]
    return _EMIT.fill(
        golem=golem_id,
        count=len(rows),
        tick=_heartbeat_tick.get() if heartbeat_tick is None else heartbeat_tick,
        at=now,
        events=_encode_rows(rows),
    )


# Numbered and written in one statement, because every tool call emits several events: it is atomic by itself, and the
# row of the counter stays locked until the caller's transaction ends, so no number is skipped or given twice.
_EMIT = Prepared(
    "emit_events",
    f"""
WITH counted AS (
    INSERT INTO {EventSequence._meta.db_table} AS counter (golem_id, sequence, heartbeat_tick)
    VALUES (%(golem)s, %(count)s::bigint, %(tick)s::bigint)
    ON CONFLICT (golem_id) DO UPDATE SET sequence = counter.sequence + %(count)s,
        heartbeat_tick = GREATEST(counter.heartbeat_tick, %(tick)s::bigint)
    RETURNING sequence, CASE WHEN %(tick)s::bigint > 0 THEN %(tick)s::bigint ELSE heartbeat_tick END AS tick
)
INSERT INTO {OutboxEvent._meta.db_table}
    (id, golem_id, sequence, type, version, heartbeat_tick, occurred_at, payload)
SELECT gen_random_uuid(), %(golem)s, counted.sequence - %(count)s + event.place, event.item->>0,
       (event.item->>1)::int, counted.tick, %(at)s::timestamptz, event.item->2
  FROM counted, jsonb_array_elements(%(events)s::jsonb) WITH ORDINALITY AS event(item, place)
""",  # noqa: S608  (the tables' own names)
)


def _encode_rows(rows: list[Any]) -> str:  # Any: JSON, of any shape
    text = json.dumps(rows)
    # PostgreSQL keeps neither U+0000 nor half a surrogate pair; text from outside must not undo the change it tells of,
    # nor write over the screen of whoever reads it.
    if "\\u" in text or "\\b" in text or "\\f" in text or "\\r" in text:
        text = json.dumps(make_plain_value(rows))
    return text


def lock_golem(golem_id: UUID) -> None:
    """Hold the row of the golem's event counter until the transaction ends: one writer of this golem at a time."""
    _LOCK_GOLEM.fetch(golem=golem_id)


_LOCK_GOLEM = Prepared(
    "lock_event_counter",
    f"""
INSERT INTO {EventSequence._meta.db_table} AS counter (golem_id, sequence) VALUES (%(golem)s, 0)
    ON CONFLICT (golem_id) DO UPDATE SET sequence = counter.sequence
""",  # noqa: S608  (the tables' own names)
)


def _publish_on_commit() -> None:
    """Ask once per transaction, however many events it emits."""
    living = set(connection.savepoint_ids)
    for registered in connection.run_on_commit:
        # One registered in a savepoint that may still be undone does not count.
        if registered[1] is _after_commit and registered[0] <= living:
            return
    transaction.on_commit(_after_commit, robust=True)
