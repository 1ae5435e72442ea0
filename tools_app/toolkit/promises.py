"""Signed promises: orders, offers, permits and delegations that an account signs and somebody else carries out.

From its signature until it is filled, cancelled or over, what a promise gives may go any moment. A protocol says what
its typed data does, how one sees what became of it, and which tool takes it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.effects import Effects
from tools_app.toolkit.order_desks import HandIn
from tools_app.toolkit.positions import Act, Trail
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import LogEntry


class Fate(StrEnum):
    """What became of a promise, as its contract says it; that its time is over the follower sees itself.

    PARTLY is open still and filled in part, or used up and nobody tells by what; one that nobody can fill any more
    after a part was taken is FILLED.
    """

    OPEN = "OPEN"
    PARTLY = "PARTLY"
    FILLED = "FILLED"
    CANCELLED = "CANCELLED"


class Promises(Protocol):
    """The promises of one protocol."""

    def read(self, typed: TypedData, *, account: str, chain: ChainReader, into: Effects) -> None:
        """Add what comes of it when it is filled whole: what is spent and received, positions, the deadline.

        Of amounts that change while it waits the worst counts: the most that leaves, the least that arrives.
        Written from the contract's interface, not from the tool that makes it. Raises UnknownCall for a field it cannot
        account for, and for a promise of somebody else; and what the chain raises.
        """

    def ask(self, typed: TypedData) -> list[ReadCall]:
        """What to read to see what became of it."""

    def trails(self, typed: TypedData) -> Sequence[Trail]:
        """Logs that tell what became of it where no state does; asked for only once `judge` needs them."""

    def judge(self, typed: TypedData, outcomes: Sequence[ReadOutcome], logs: Sequence[LogEntry] | None) -> Fate | None:
        """What the answers to `ask` say, and the logs of `trails`; None where these are needed and were not read.

        Raises PositionsUnreadable where the answers say nothing.
        """

    def hand_in(self, typed: TypedData, signature: bytes) -> HandIn | None:
        """What is posted to the desk of this protocol, for those who fill it to hear of it; None where there is none.

        A signature of a contract's owner stands for the contract's.
        """

    def cancel(self, typed: TypedData) -> Act:
        """The tool that takes it back on the chain, which a halt uses too."""
