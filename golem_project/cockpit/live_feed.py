"""The newest events of a golem as short lines, and the tools that run now, both from the event log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from archetypes_app.models import Golem
from permits_app.words.address_book import AddressBook
from tools_app.core.events import EventType
from tools_app.core.models import OutboxEvent
from tools_app.core.running_tool_words import word_start

SHOWN_EVENTS: Final = 40
# A call that has not ended by then was cut off with its process; the slowest tool may take 15 s.
LONGEST_CALL_SECONDS: Final = 60
_MOST_CALL_EVENTS: Final = 200
_TOOL_EVENTS: Final = (EventType.TOOL_START, EventType.TOOL_UPDATE, EventType.TOOL_END, EventType.TOOL_ERROR)
# What a person reads first, in this order; the rest of a payload is on the event's own page.
TELLING: Final = (
    "tool_name",
    "step_name",
    "action_type",
    "error_code",
    "code",
    "from",
    "to",
    "tier",
    "reason",
    "gating_reason",
    "status",
    "document",
    "title",
    "venue",
    "alert",
    "event",
    "price",
    "summary",
    "statement",
    "risk_tier",
    "regime",
)


@dataclass(frozen=True, slots=True)
class FeedLine:
    """One event."""

    event_id: str
    type: str
    occurred_at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A tool that runs: how many of its declared steps it has reached, and what to expect of it (`hint`)."""

    call_id: str
    tool_name: str
    hint: str
    step: str
    percent: int


def list_feed(golem: Golem, book: AddressBook) -> tuple[FeedLine, ...]:
    """The newest events, newest first; before each address what it is called in `book`."""
    rows = OutboxEvent.objects.filter(golem_id=golem.pk).order_by("-sequence")[:SHOWN_EVENTS]
    return tuple(
        FeedLine(
            str(row.pk),
            row.type,
            row.occurred_at,
            book.in_full(golem.home_chain_id, describe_payload(row.payload)),
        )
        for row in rows
    )


def list_running(golem: Golem, *, now: datetime) -> tuple[RunningCall, ...]:
    """Calls that began within the last minute and have not ended, oldest first."""
    rows = OutboxEvent.objects.filter(
        golem_id=golem.pk,
        type__in=[str(kind) for kind in _TOOL_EVENTS],
        occurred_at__gt=now - timedelta(seconds=LONGEST_CALL_SECONDS),
    ).order_by("-sequence")[:_MOST_CALL_EVENTS]
    calls: dict[str, RunningCall] = {}
    for row in reversed(rows):
        call_id = str(row.payload.get("call_id") or "")
        if not call_id:
            continue
        if row.type == EventType.TOOL_START:
            calls[call_id] = RunningCall(
                call_id, _text(row.payload.get("tool_name")), word_start(row.payload), "starting", 0
            )
        elif row.type == EventType.TOOL_UPDATE and call_id in calls:
            calls[call_id] = _advance(calls[call_id], row.payload)
        else:
            calls.pop(call_id, None)
    return tuple(calls.values())


def describe_payload(payload: Mapping[str, object]) -> str:
    """The telling fields of a payload in a few words, at most 160 characters; text from outside stays text."""
    parts = [_text(payload[name]) for name in TELLING if payload.get(name)]
    words = " · ".join(part for part in parts if part)
    return words if len(words) <= 160 else f"{words[:159]}…"


def _advance(call: RunningCall, payload: Mapping[str, Any]) -> RunningCall:  # Any: JSON, of its own shape
    total = max(1, int(payload.get("total_steps") or 1))
    reached = int(payload.get("step_index") or 0)
    return replace(call, step=_text(payload.get("step_name")), percent=min(100, reached * 100 // total))


def _text(value: Any) -> str:  # Any: JSON, of its own shape
    if isinstance(value, Mapping):
        value = value.get("value", "")
    return str(value) if isinstance(value, str | int) else ""
