"""Standing orders: what an account asks for and somebody else, a keeper, carries out some day or never.

An order is a position of the kind ORDER_KIND from its submission to its end. What it holds counts as its owner's, what
may come of it stands in `Position.standing`, and when it is gone its protocol says what became of it. That it is gone
is not enough: an order that nobody can tell of is never given up by the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tools_app.toolkit.positions import ExitStep, Leg, Position, PositionRef, Reads, Trail
from tools_app.toolkit.views import LogEntry


class OrderFate(StrEnum):
    """What became of an order, as its protocol says it.

    UNKNOWN says that the protocol does not know the order at all, as after a rollback of the chain.
    """

    OPEN = "OPEN"
    EXECUTED = "EXECUTED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class OrderEnd:
    """How an order ended.

    `came` is what it is said to have paid into the account, `block` the block it ended in: what no transfer of that
    block shows is not believed to have come. `successor` is the position that it became. `reason` is its protocol's
    word for people, such as why a keeper cancelled it.
    """

    fate: OrderFate
    came: tuple[Leg, ...] = ()
    block: int | None = None
    successor: PositionRef | None = None
    reason: str = ""


class Orders(Protocol):
    """The standing orders of one protocol."""

    def trails(self, ref: PositionRef, account: str) -> Sequence[Trail]:
        """Logs that tell of its end, where no state of the contract does; asked for once the order is gone."""

    def end(self, ref: PositionRef, account: str, logs: Sequence[LogEntry]) -> Reads[OrderEnd]:
        """What became of it; `logs` are those of `trails`. Raises PositionsUnreadable where nothing says so."""

    def cancel(self, position: Position, now: int) -> ExitStep:
        """How it is taken back at the block time `now`, which a halt does whatever its owner chose for positions."""
