"""Reads the log of events from a place on: the newest from the ring, older ones from PostgreSQL, without a seam.

A place is a cursor, `<log>-<position>`; it is what an SSE client sends back as Last-Event-ID.
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
    "position",
    "id",
    "golem_id",
    "sequence",
    "type",
    "version",
    "heartbeat_tick",
    "occurred_at",
    "payload_text",
)

_FORGOTTEN_AT_ONCE = 5_000


class CursorUnknown(GolemError, status=409, recovery=Recovery.FIX_PARAMS, title="This place is not in the event log"):
    """A cursor or Last-Event-ID that does not belong to this log."""


class CursorExpired(
    GolemError, status=410, recovery=Recovery.FIX_PARAMS, title="Events after this place are no longer kept"
):
    """A cursor or Last-Event-ID before the oldest event that is kept: what followed it is gone."""


@dataclass(frozen=True, slots=True)
class LogHead:
    """Which log this is, how far it goes, and up to where it was forgotten."""

    log_id: UUID
    position: int
    forgotten: int = 0

    def cursor(self, position: int | None = None) -> str:
        """The cursor of `position`, or of the head."""
        return f"{self.log_id.hex[:8]}-{self.position if position is None else position}"

    def parse_cursor(self, text: str) -> int:
        """The position of a cursor. Raises CursorUnknown, CursorExpired."""
        found = _CURSOR.match(text)
        if found is None or found[1] != self.log_id.hex[:8] or int(found[2]) > self.position:
            raise CursorUnknown("start again without a cursor, or with `since`", cursor=text[:40])
        self.check_kept(int(found[2]))
        return int(found[2])

    def check_kept(self, position: int) -> None:
        """Raises CursorExpired when events that follow `position` are no longer kept."""
        if position < self.forgotten:
            raise CursorExpired(
                "events between this place and `oldest_cursor` are gone; go on from there",
                cursor=self.cursor(position),
                oldest_cursor=self.cursor(self.forgotten),
            )


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
    columns = ("log_id", "position", "forgotten")
    row = EventHead.objects.filter(pk=1).values_list(*columns).first()
    if row is None:
        # The first event of a database makes the row; a reader that comes earlier does.
        EventHead.objects.bulk_create([EventHead(pk=1)], ignore_conflicts=True)
        row = EventHead.objects.values_list(*columns).get(pk=1)
    return LogHead(log_id=row[0], position=row[1], forgotten=row[2])


def begin_new_log(*, log_id: UUID) -> None:
    """From here on this is another log: places that readers hold in the one before are known no more."""
    EventHead.objects.filter(pk=1).update(log_id=log_id)


def read_after(position: int, *, head: LogHead, wanted: EventFilter = EVERYTHING, limit: int = 500) -> LogPage:
    """Events after `position` that pass `wanted`, at most `limit`. `head` was read before this call.

    Raises CursorExpired.
    """
    head.check_kept(position)
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
        .order_by("position")
        .values_list("position", flat=True)
        .first()
    )
    return head.position if first is None else int(first) - 1


def read_rows(position: int, *, until: int) -> list[LoggedEvent]:
    """The events after `position` up to `until`, from PostgreSQL."""
    return _fetch(OutboxEvent.objects.filter(position__gt=position, position__lte=until))


def find_position_before(moment: datetime) -> int:
    """The place of the last event that was published before `moment`; 0 when there is none."""
    # Places follow the time of publication, so this reads along the index from the oldest on, and no further.
    later = OutboxEvent.objects.filter(published_at__gte=moment, position__isnull=False).order_by("position")
    first = later.values_list("position", flat=True).first()
    return read_head().position if first is None else int(first) - 1


def forget_until(position: int) -> int:
    """Delete published events up to `position`, for good. Returns how many.

    The mark comes first, in a transaction of its own: a reader is told that they are gone before they are.
    """
    EventHead.objects.filter(pk=1, forgotten__lt=position, position__gte=position).update(forgotten=position)
    mark = read_head().forgotten
    count = 0
    while True:
        page = OutboxEvent.objects.filter(position__lte=mark).order_by("position").values("pk")[:_FORGOTTEN_AT_ONCE]
        deleted = OutboxEvent.objects.filter(pk__in=page).delete()[0]
        count += deleted
        if deleted < _FORGOTTEN_AT_ONCE:
            return count


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
