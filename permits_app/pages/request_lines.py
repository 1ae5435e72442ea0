"""Lists what a golem waits for at protocols, a line each: how far it is, what it holds, when it is expected."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from permits_app.models import PendingRequest
from permits_app.models.pending_request import FOLLOWED, RequestState
from permits_app.pages.promise_lines import say_amounts
from tools_app.pages.html import NOTHING, show_age, show_badge
from tools_app.toolkit.protocol import SHELF
from tools_app.wording.formats import format_age, format_chain

MOST_SHOWN = 20
_TONES = {
    RequestState.READY: "info",
    RequestState.CLAIMING: "busy",
    RequestState.DONE: "good",
    RequestState.STUCK: "bad",
    RequestState.LOST: "bad",
    RequestState.EXECUTED: "good",
    RequestState.CANCELLED: "quiet",
    RequestState.EXPIRED: "quiet",
}


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One request under way. `problem` is what the last look ran into.

    Of a standing order `may_happen` says what has to happen, what it brings then, and that a halt takes it back.
    """

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
    may_happen: str = ""


def list_request_lines(golem: Golem, *, now: datetime) -> tuple[RequestLine, ...]:
    """Requests that are still followed, the next one expected first."""
    rows = PendingRequest.objects.filter(golem=golem, state__in=FOLLOWED).order_by("expected_at", "created_at")
    return tuple(_describe(row, now) for row in rows[:MOST_SHOWN])


def name_request(row: PendingRequest) -> str:
    """`The queue of a protocol, request 7`, `order 7` where somebody else carries it out, or where it goes."""
    if _is_crossing(row):
        way = f"{format_chain(row.chain_id)} to {format_chain(int(row.expects_chain_id))}"
        return f"{SHELF.label_on(row.protocol, row.chain_id)}, {way}"
    kind = "order" if row.is_order else "request"
    return f"{SHELF.label_on(row.protocol, row.chain_id)}, {kind} {row.ref.rpartition('/')[2]}"


def show_request_state(row: PendingRequest) -> SafeString:
    """Its state as a badge."""
    return show_badge(row.get_state_display(), _TONES.get(RequestState(row.state), "quiet"))


def say_held(row: PendingRequest) -> str:
    """Its legs as they were last seen, in units."""
    return say_amounts(row.expects_chain_id or row.chain_id, row.amounts)


def say_what_may_happen(row: PendingRequest) -> str:
    """What has to happen for a standing order to be carried out, and what comes of it; nothing for a request."""
    if not row.is_order:
        return ""
    awaits = row.awaits or "somebody carries it out, or nobody does"
    brings = say_amounts(row.chain_id, row.brings)
    return f"{awaits}{f', for at least {brings}' if brings else ''}; a halt cancels it"


def say_due(row: PendingRequest, *, now: datetime) -> str:
    """When a request is expected, or until when an order stands."""
    if not row.checked_at:
        return "not looked at yet"
    if not row.is_order:
        return format_age(row.expected_at, now=now) if row.expected_at else "nobody knows"
    if row.ended_at:
        return f"ended {format_age(row.ended_at, now=now)}"
    return f"stands until {format_age(row.ends_at, now=now)}" if row.ends_at else "stands until it is cancelled"


def _is_crossing(row: PendingRequest) -> bool:
    """Whether it was sent on one chain and is expected on another."""
    return row.expects_chain_id is not None and row.expects_chain_id != row.chain_id


def _describe(row: PendingRequest, now: datetime) -> RequestLine:
    if row.is_order:
        return _describe_order(row, now)
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


def _describe_order(row: PendingRequest, now: datetime) -> RequestLine:
    return RequestLine(
        row=row,
        what=name_request(row),
        state=show_request_state(row),
        holds=say_held(row) or "not seen yet",
        asked=show_age(row.created_at, now=now),
        expected=say_due(row, now=now),
        expected_exact=row.ends_at.strftime("%Y-%m-%d %H:%M UTC") if row.ends_at else "",
        looked=show_age(row.checked_at, now=now) if row.checked_at else NOTHING,
        asked_by=row.permit_id,
        claimed_by=row.claim_id,
        problem=row.last_error,
        may_happen=say_what_may_happen(row),
    )
