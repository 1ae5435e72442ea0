"""What a golem waits for, a line each: what, how far it is, what it holds, when it is expected, and whose permits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from permits_app.admin.promise_lines import say_amounts
from permits_app.models import PendingRequest
from permits_app.models.pending_request import FOLLOWED, RequestState
from tools_app.admin.display import NOTHING, format_age, show_age, show_badge
from tools_app.toolkit.protocol import SHELF

MOST_SHOWN = 20
_TONES = {
    RequestState.READY: "info",
    RequestState.CLAIMING: "busy",
    RequestState.DONE: "good",
    RequestState.STUCK: "bad",
    RequestState.LOST: "bad",
}


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One request under way. `problem` is what the last look ran into."""

    row: PendingRequest
    what: str
    state: SafeString
    holds: str
    asked: SafeString
    expected: str
    expected_exact: str
    looked: SafeString
    asked_by: UUID
    claimed_by: UUID | None
    problem: str


def list_request_lines(golem: Golem, *, now: datetime) -> tuple[RequestLine, ...]:
    """Requests that are still followed, the next one expected first."""
    rows = PendingRequest.objects.filter(golem=golem, state__in=FOLLOWED).order_by("expected_at", "created_at")
    return tuple(_describe(row, now) for row in rows[:MOST_SHOWN])


def name_request(row: PendingRequest) -> str:
    """`The queue of a protocol, request 7`."""
    return f"{SHELF.label_on(row.protocol, row.chain_id)}, request {row.ref.rpartition('/')[2]}"


def show_request_state(row: PendingRequest) -> SafeString:
    """Its state as a badge."""
    return show_badge(row.get_state_display(), _TONES.get(RequestState(row.state), "quiet"))


def say_held(row: PendingRequest) -> str:
    """Its legs as they were last seen, in units."""
    return say_amounts(row.chain_id, row.amounts)


def _describe(row: PendingRequest, now: datetime) -> RequestLine:
    unknown = "nobody knows" if row.checked_at else "not looked at yet"
    expected = format_age(row.expected_at, now=now) if row.expected_at else unknown
    if row.expected_at and row.expected_at <= now:
        expected = f"was expected {expected}"
    return RequestLine(
        row=row,
        what=name_request(row),
        state=show_request_state(row),
        holds=say_held(row) or "not seen yet",
        asked=show_age(row.created_at, now=now),
        expected="now" if row.state == RequestState.READY else expected,
        expected_exact=row.expected_at.strftime("%Y-%m-%d %H:%M UTC") if row.expected_at else "",
        looked=show_age(row.checked_at, now=now) if row.checked_at else NOTHING,
        asked_by=row.permit_id,
        claimed_by=row.claim_id,
        problem=row.last_error,
    )
