"""States what a figure rests on: the formula, the source of its numbers, and how many there were."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Annotated, Final, Literal

from pydantic import Field

from tools_app.core.ratio import decimal_text
from tools_app.portfolio.pool_history import InsufficientHistory, PoolPast
from tools_app.toolkit.params import DecimalText

LITTLE: Final = 100
MUCH: Final = 1_000
"""Below the first of these a sample is called little, from the second on much; nothing else follows from it."""
_MILLION: Final = 1_000_000
_HOURS: Final = {"1h": 1, "4h": 4, "24h": 24, "7d": 168, "30d": 720}

Lookback = Annotated[
    Literal["1h", "4h", "24h", "7d", "30d"], Field(description="How far back: 1h, 4h, 24h, 7d or 30d.")
]
Multiple = Annotated[
    DecimalText, Field(description="Price of token0 afterwards as a multiple of now: 2 is twice, 0.5 half.")
]


@dataclass(frozen=True, slots=True)
class Basis:
    """Why a figure may be believed. `confidence` is the size of its sample in a word: none, low, medium or high."""

    formula: str
    source: str
    sample: int
    since: str
    until: str
    is_cut: bool
    confidence: str


def hours_of(lookback: str) -> int:
    """A `Lookback` in hours."""
    return _HOURS[lookback]


def tell_basis(formula: str, past: PoolPast, *, sample: int | None = None) -> Basis:
    """What a figure over the trades of a window rests on."""
    count = len(past.trades) if sample is None else sample
    return Basis(
        formula, past.source, count, past.since.isoformat(), past.until.isoformat(), past.is_cut, name_size(count)
    )


def tell_state(formula: str, source: str, at: datetime) -> Basis:
    """What a figure computed from a state of the chain alone rests on: one exact look."""
    return Basis(formula, source, 1, at.isoformat(), at.isoformat(), False, "high")


def name_size(sample: int) -> str:
    """The size of a sample in a word."""
    if not sample:
        return "none"
    return "low" if sample < LITTLE else "medium" if sample < MUCH else "high"


def require(past: PoolPast, least: int) -> None:
    """Raises InsufficientHistory where there are fewer trades than a figure takes."""
    if len(past.trades) < least:
        raise InsufficientHistory(
            f"{len(past.trades)} trades are known of this time and the figure takes {least}; take a longer time",
            known=len(past.trades),
            needed=least,
        )


def show(value: float) -> str:
    """A computed figure as decimal text with six places."""
    return decimal_text(round(value * _MILLION), _MILLION)


def wilson(hits: int, sample: int) -> tuple[float, float]:
    """The 95 percent interval of a share after Wilson."""
    if not sample:
        return 0.0, 1.0
    z = 1.959964
    share, scale = hits / sample, 1 + z * z / sample
    centre = share + z * z / (2 * sample)
    spread = z * sqrt(share * (1 - share) / sample + z * z / (4 * sample * sample))
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
