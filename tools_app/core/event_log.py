"""Reads the log of events from a place on: the newest from the ring, older ones from PostgreSQL, without a seam.

A place is a cursor, `<log>-<position>`; it is what an SSE client sends back as Last-Event-ID.
Seed: decisions, "Events and audit".
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from tools_app.core import event_ring
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.events import LoggedEvent, encode_event
from tools_app.core.models import EventHead, OutboxEvent

_CURSOR = re.compile(r"^([0-9a-f]{8})-(\d{1,18})$")
_COLUMNS = (
    "position", "id", "golem_id", "sequence", "type", "version", "heartbeat_tick", "occurred_at", "payload_text",
)  # fmt: skip


class CursorUnknown(GolemError):
    """A cursor or Last-Event-ID that does not belong to this log."""

    code = "CURSOR_UNKNOWN"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "This place is not in the event log"


@dataclass(frozen=True, slots=True)
class LogHead:
    """Which log this is and how far it goes."""

    log_id: UUID
    position: int

    def cursor(self, position: int | None = None) -> str:
        """The cursor of `position`, or of the head."""
        return f"{self.log_id.hex[:8]}-{self.position if position is None else position}"

    def parse_cursor(self, text: str) -> int:
        """The position of a cursor. Raises CursorUnknown."""
        found = _CURSOR.match(text)
        if found is None or found[1] != self.log_id.hex[:8] or int(found[2]) > self.position:
            raise CursorUnknown("start again without a cursor, or with `since`", cursor=text[:40])
        return int(found[2])


@dataclass(frozen=True, slots=True)
class EventFilter:
    """What a reader wants. `golem_ids` None means all golems; `types` None all types, `tool:*` a whole family."""

    golem_ids: frozenset[str] | None = None
    types: frozenset[str] | None = None

    def accepts(self, event: LoggedEvent) -> bool:
        """Whether `event` passes."""
        if self.golem_ids is not None and event.golem_id not in self.golem_ids:
            return False
        return self.types is None or event.type in self.types or f"{event.type.partition(':')[0]}:*" in self.types


EVERYTHING = EventFilter()


@dataclass(frozen=True, slots=True)
class LogPage:
    """Events in order; everything up to `reached` was looked at."""

    events: list[LoggedEvent]
    reached: int


def read_head() -> LogHead:
    """The head of the log."""
    row = EventHead.objects.filter(pk=1).values_list("log_id", "position").first()
    if row is None:
        # The first event of a database makes the row; a reader that comes earlier does.
        EventHead.objects.bulk_create([EventHead(pk=1)], ignore_conflicts=True)
        row = EventHead.objects.values_list("log_id", "position").get(pk=1)
    return LogHead(log_id=row[0], position=row[1])


def read_after(position: int, *, head: LogHead, wanted: EventFilter = EVERYTHING, limit: int = 500) -> LogPage:
    """Events after `position` that pass `wanted`, at most `limit`. `head` was read before this call."""
    if position >= head.position:
        return LogPage(events=[], reached=position)
    if head.position - position <= event_ring.STREAM_LENGTH:
        events = event_ring.read_events(head.log_id, after=position, until=head.position, limit=limit)
        if events:
            return LogPage([event for event in events if wanted.accepts(event)], reached=events[-1].position)
    return _read_table(position, head=head, wanted=wanted, limit=limit)


def find_position(since: datetime, *, head: LogHead) -> int:
    """The place just before the first event that happened at `since` or later."""
    first = (
        OutboxEvent.objects.filter(occurred_at__gte=since, position__isnull=False)
        .order_by("position").values_list("position", flat=True).first()
    )  # fmt: skip
    return head.position if first is None else int(first) - 1


def read_rows(position: int, *, until: int) -> list[LoggedEvent]:
    """The events after `position` up to `until`, from PostgreSQL."""
    return _fetch(OutboxEvent.objects.filter(position__gt=position, position__lte=until))


def _read_table(position: int, *, head: LogHead, wanted: EventFilter, limit: int) -> LogPage:
    rows = OutboxEvent.objects.filter(position__gt=position, position__lte=head.position)
    if wanted.golem_ids is not None:
        rows = rows.filter(golem_id__in=wanted.golem_ids)
    if wanted.types is not None:
        rows = rows.filter(_match_types(wanted.types))
    found = _fetch(rows, limit)
    return LogPage(found, reached=found[-1].position if len(found) == limit else head.position)


def _fetch(rows: QuerySet[OutboxEvent], limit: int | None = None) -> list[LoggedEvent]:
    rows = rows.annotate(payload_text=Cast("payload", TextField())).order_by("position")
    return [
        LoggedEvent(row[0], str(row[2]), row[4], encode_event(row[1:])) for row in rows.values_list(*_COLUMNS)[:limit]
    ]


def _match_types(types: Collection[str]) -> Q:
    exact = [name for name in types if not name.endswith(":*")]
    condition = Q(type__in=exact)
    for name in types:
        if name.endswith(":*"):
            condition |= Q(type__startswith=name[:-1])
    return condition
