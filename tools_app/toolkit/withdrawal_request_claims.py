"""Defines who took what out of a request that is gone, where others may end it.

A request that is gone says nothing of where its money went. Its protocol's logs do, as far as the token's own transfers
show the same; what came to the account has arrived, and what went elsewhere is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tools_app.toolkit.positions import Leg, PositionRef, Trail
from tools_app.toolkit.views import LogEntry


@dataclass(frozen=True, slots=True)
class Taking:
    """One payment out of a request: what was paid, to whom, in which block."""

    to: str
    paid: Leg
    block: int


class Takings(Protocol):
    """Who got what was asked of one protocol."""

    def trails(self, ref: PositionRef, account: str) -> Sequence[Trail]:
        """Logs that tell of every payment out of it."""

    def read(self, ref: PositionRef, account: str, logs: Sequence[LogEntry]) -> tuple[Taking, ...]:
        """The payments that `logs`, those of `trails`, tell of; the first one first."""
