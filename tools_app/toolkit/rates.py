"""Defines which rates a protocol's contracts log: of lending markets and of issuers' tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tools_app.core.ratio import Ratio
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import LogEntry


class LoggedRates(Protocol):
    """Rates of one protocol, told by logs, so that an index of logs knows their past."""

    @property
    def meaning(self) -> str:
        """For people: what a rate is here."""

    @property
    def topics(self) -> tuple[str, ...]:
        """Topic 0 of what its contracts say of rates."""

    def about(self, chain_id: int, token: str) -> PoolId | None:
        """Whose logs tell the rate of a token, and how they name it; None where nothing tells it."""

    def held(self, chain_id: int, ref: PositionRef) -> Sequence[PoolId]:
        """Those whose logs tell the rates of a position, by its name alone."""

    def read(self, log: LogEntry) -> Ratio | None:
        """The rate that a log tells; None for one of another shape."""
