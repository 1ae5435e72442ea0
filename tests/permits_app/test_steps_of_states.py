"""Which state follows which, of permits, requests of owners, their transactions and stored payloads.

Each line is a state with all that may follow it; a state without one ends a life. Nothing else is a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

import pytest

from permits_app.approvals import owner_states, request_states
from permits_app.execution import payload_states
from permits_app.permits import lifecycle

PERMIT: Final = """
CREATED: COMMITTING AWAITING_APPROVAL ANNOUNCED EXPIRED CANCELLED BLOCKED
AWAITING_APPROVAL: CREATED EXPIRED CANCELLED BLOCKED
ANNOUNCED: CREATED EXPIRED CANCELLED BLOCKED
COMMITTING: COMMITTED REVERTED UNKNOWN BLOCKED
UNKNOWN: COMMITTED REVERTED
COMMITTED: UNKNOWN
REVERTED: UNKNOWN
EXPIRED:
CANCELLED:
BLOCKED:
"""
REQUEST: Final = """
OPEN: APPROVED REJECTED STALE EXPIRED CANCELLED
APPROVED: EXECUTED STALE FAILED EXPIRED CANCELLED
EXECUTED: FAILED
STALE: EXECUTED
FAILED: EXECUTED
REJECTED:
EXPIRED:
CANCELLED:
"""
OWNER_TRANSACTION: Final = """
SIGNING: RELEASED EXECUTED DEAD
RELEASED: SENT EXECUTED FAILED DEAD
SENT: EXECUTED FAILED DEAD
EXECUTED: SENT DEAD
FAILED: EXECUTED DEAD
DEAD: EXECUTED
"""
PAYLOAD: Final = """
SIGNED: BROADCAST UNKNOWN MINED REVERTED DROPPED
BROADCAST: BROADCAST UNKNOWN MINED REVERTED DROPPED
UNKNOWN: BROADCAST MINED REVERTED DROPPED
MINED: FINAL REORGED
REVERTED: FINAL REORGED
REORGED: BROADCAST UNKNOWN MINED REVERTED DROPPED
DROPPED: MINED REVERTED
FINAL: REORGED
"""


@pytest.mark.parametrize(
    ("lines", "steps"),
    [
        (PERMIT, lifecycle.TRANSITIONS),
        (REQUEST, request_states.TRANSITIONS),
        (OWNER_TRANSACTION, owner_states.TRANSITIONS),
        (PAYLOAD, payload_states.TRANSITIONS),
    ],
    ids=["permit", "request", "owner transaction", "payload"],
)
def test_a_state_is_followed_by_those_of_its_line_alone(lines: str, steps: Mapping[Any, frozenset[Any]]) -> None:
    drawn = {
        state: set(after.split()) for state, _, after in (line.partition(":") for line in lines.split("\n") if line)
    }
    assert {state.name: {each.name for each in following} for state, following in steps.items()} == drawn
    kind: type[Enum] = type(next(iter(steps)))
    assert {each.name for each in kind} == set(drawn), "every state has its line"


def test_a_permit_is_over_where_it_moves_no_money_any_more() -> None:
    assert {each.name for each in lifecycle.FINAL} == {"COMMITTED", "REVERTED", "EXPIRED", "CANCELLED", "BLOCKED"}
