"""Reads how far back the cockpit's charts go from the page's address (`span`)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

PARAMETER: Final = "span"


class Span(StrEnum):
    """ALL is as far as charts go anyhow, which is a number of ticks and outcomes."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    ALL = "all"

    @property
    def words(self) -> str:
        return {Span.DAY: "24 h", Span.WEEK: "7 days", Span.MONTH: "30 days", Span.ALL: "All"}[self]

    def begins(self, now: datetime) -> datetime | None:
        """The first moment that is drawn; None where nothing is too old."""
        days = {Span.DAY: 1, Span.WEEK: 7, Span.MONTH: 30}.get(self)
        return None if days is None else now - timedelta(days=days)


def read_span(asked: Mapping[str, object]) -> Span:
    """What the address asks for; ALL where it names none there is."""
    try:
        return Span(str(asked.get(PARAMETER, Span.ALL)))
    except ValueError:
        return Span.ALL
