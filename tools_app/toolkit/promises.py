"""Signed promises: orders, offers, permits and delegations that an account signs and somebody else carries out.

From its signature until it is filled, cancelled or over, what a promise gives may go any moment. A protocol says what
its typed data does, how one sees what became of it, and which tool takes it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.effects import Effects
from tools_app.toolkit.positions import Act
from tools_app.toolkit.typed_data import TypedData


class Fate(StrEnum):
    """What became of a promise, as its contract says it; that its time is over the follower sees itself.

    PARTLY is open still and filled in part; one that nobody can fill any more after a part was taken is FILLED.
    """

    OPEN = "OPEN"
    PARTLY = "PARTLY"
    FILLED = "FILLED"
    CANCELLED = "CANCELLED"


class Promises(Protocol):
    """The promises of one protocol."""

    def read(self, typed: TypedData, *, account: str, into: Effects) -> None:
        """Add what comes of it when it is filled whole: what is spent and received, positions, the deadline.

        Written from the contract's interface, not from the tool that makes it. Raises UnknownCall for a field it cannot
        account for, and for a promise of somebody else.
        """

    def ask(self, typed: TypedData) -> list[ReadCall]:
        """What to read to see what became of it."""

    def judge(self, typed: TypedData, outcomes: Sequence[ReadOutcome]) -> Fate:
        """What the answers to `ask` say. Raises PositionsUnreadable where they say nothing."""

    def cancel(self, typed: TypedData) -> Act:
        """The tool that takes it back on the chain, which a halt uses too."""
