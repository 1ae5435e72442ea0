"""Signs that an agent turns in circles or that a venue fails: the loop guard and the circuit breaker. Part of hook 4.

Both are folds over rows that exist anyway, so there is no second state that could disagree with the permits.
Leaving a position is stopped by neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from permits_app.errors import ActionRepeated, VenueFailing
from permits_app.hook_rejection import Reject
from permits_app.safety.call_records import PastCall, VenueOutcome
from tools_app.toolkit.enums import LEAVING, ActionClass

LOOP_WINDOW = 20
LOOP_MOST_IDENTICAL = 5
LOOP_MOST_OF_ONE_TOOL = 16
LOOP_HORIZON = timedelta(hours=1)
"""Calls longer ago are no loop: the same purchase every day is a plan."""

BREAKER_REQUESTS = 10
BREAKER_FAILURES = 5
BREAKER_HALF_OPEN_AFTER = timedelta(seconds=30)
BREAKER_HORIZON = timedelta(hours=24)
TRY_SETTLES_SECONDS = 5
"""When to look again while the one try of a half-open breaker is under way: mostly it is decided by then."""


class BreakerState(StrEnum):
    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"


@dataclass(frozen=True, slots=True)
class Breaker:
    """A venue's breaker. `failures` of the last requests; `half_opens_at` while it is open."""

    state: BreakerState
    failures: int = 0
    requests: int = 0
    half_opens_at: datetime | None = None


def judge_loop(*, earlier: Sequence[PastCall], action_hash: str, action_class: ActionClass) -> Reject | None:
    """The fifth identical call within the window, this one counted. `earlier` are the calls before it, newest first."""
    if action_class in LEAVING:
        return None
    equal = [call.at for call in earlier[: LOOP_WINDOW - 1] if call.action_hash == action_hash]
    identical = 1 + len(equal)
    if identical < LOOP_MOST_IDENTICAL:
        return None
    # Once all but the three newest are older than the horizon, this one is the fourth.
    free_at = (sorted(equal, reverse=True)[LOOP_MOST_IDENTICAL - 2] + LOOP_HORIZON).isoformat()
    return Reject(
        rule="rate_limiter.loop",
        reason=f"this is identical call {identical} among the last {LOOP_WINDOW}: it looks like a loop",
        observed=f"{identical} identical calls",
        limit=f"{LOOP_MOST_IDENTICAL - 1} identical calls within the last {LOOP_WINDOW} of one hour",
        remaining="0 identical calls",
        resets_at=free_at,
        would_pass="a call with other parameters, propose_standing_plan (owners agree once to equal trades at set"
        f" times), or this one from {free_at} on",
        error=ActionRepeated,
    )


def list_alike(*, earlier: Sequence[PastCall], alike_hash: str) -> tuple[datetime, ...]:
    """When calls of the window were made that differ from this one in numbers only, or in nothing; newest first."""
    if not alike_hash:
        return ()
    return tuple(call.at for call in earlier[: LOOP_WINDOW - 1] if call.alike_hash == alike_hash)


def judge_alike(*, alike: Sequence[datetime], most: int, action_class: ActionClass) -> Reject | None:
    """Refuse one more than the owner's `most` of calls that differ in numbers only. The window's size is no limit."""
    if action_class in LEAVING or most >= LOOP_WINDOW or len(alike) < most:
        return None
    free_at = (sorted(alike, reverse=True)[most - 1] + LOOP_HORIZON).isoformat()
    return Reject(
        rule="rate_limiter.alike",
        reason=f"{len(alike)} of the last {LOOP_WINDOW} actions differ from this one in numbers only",
        observed=f"{len(alike) + 1} alike actions, this one counted",
        limit=f"{most} alike actions within the last {LOOP_WINDOW} of one hour",
        remaining="0 alike actions",
        resets_at=free_at,
        would_pass="an action with other tokens or at another position, propose_standing_plan (owners agree once to"
        f" equal trades at set times), or this one from {free_at} on",
        error=ActionRepeated,
    )


def warn_same_tool(*, earlier: Sequence[PastCall], tool_name: str) -> str:
    """A note when more than four fifths of a full window are calls of one tool; empty otherwise."""
    window = (tool_name, *(call.tool_name for call in earlier[: LOOP_WINDOW - 1]))
    of_one_tool = window.count(tool_name)
    if len(window) < LOOP_WINDOW or of_one_tool <= LOOP_MOST_OF_ONE_TOOL:
        return ""
    return f"{of_one_tool} of the last {len(window)} calls are {tool_name}"


def fold_breaker(*, outcomes: Sequence[VenueOutcome], now: datetime) -> Breaker:
    """The breaker after `outcomes`, oldest first: opens when half of ten fail; 30 s later one try decides."""
    window: list[bool] = []
    opened_at: datetime | None = None
    for outcome in outcomes:
        if opened_at is not None:
            # What was under way when it opened says nothing about now.
            if outcome.at < opened_at + BREAKER_HALF_OPEN_AFTER:
                continue
            opened_at, window = (None, []) if outcome.succeeded else (outcome.at, window)
            continue
        window = [*window, outcome.succeeded][-BREAKER_REQUESTS:]
        if len(window) == BREAKER_REQUESTS and window.count(False) >= BREAKER_FAILURES:
            opened_at = outcome.at
    failures = window.count(False)
    if opened_at is None:
        return Breaker(BreakerState.CLOSED, failures, len(window))
    half_opens_at = opened_at + BREAKER_HALF_OPEN_AFTER
    state = BreakerState.OPEN if now < half_opens_at else BreakerState.HALF_OPEN
    return Breaker(state, failures, len(window), half_opens_at)


def judge_breaker(*, breaker: Breaker, venue: str, is_tried: bool, action_class: ActionClass) -> Reject | None:
    """Refuse a venue whose breaker is open, and a second try while the one of a half-open breaker is under way."""
    if breaker.state is BreakerState.CLOSED or action_class in LEAVING:
        return None
    if breaker.state is BreakerState.HALF_OPEN and not is_tried:
        return None
    free_at = breaker.half_opens_at.isoformat() if breaker.half_opens_at and breaker.state is BreakerState.OPEN else ""
    data = {} if free_at else {"retry_after_seconds": TRY_SETTLES_SECONDS}
    return Reject(
        rule="rate_limiter.circuit_breaker",
        reason=f"{breaker.failures} of the last {breaker.requests} transactions at {venue} failed; its breaker is open",
        observed=f"{breaker.failures} of {breaker.requests} failed",
        limit=f"fewer than {BREAKER_FAILURES} of {BREAKER_REQUESTS} failed",
        resets_at=free_at,
        would_pass=f"one try from {free_at} on" if free_at else "the same action after the try that is under way",
        error=VenueFailing,
        data=data,
    )
