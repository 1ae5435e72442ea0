"""Names the regime of a price from its hourly moves. Pure; floats are right here, for nothing is paid by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log, sqrt
from statistics import pstdev
from typing import Final

REGIMES: Final = ("strong_bear", "weak_bear", "sideways", "weak_bull", "strong_bull")
WINDOW_HOURS: Final = 24
WEEK_HOURS: Final = 168
LEAST_REGIMES: Final = 6
LEAST_HOURS: Final = WINDOW_HOURS + LEAST_REGIMES + 1
"""Prices of so many hours: a day behind each of the least regimes, and one move more than that."""
WEAK: Final = 0.5
STRONG: Final = 1.5
"""Drift of a day in standard deviations of a day: from here on a trend is weak, or strong."""


def close_hours(trades: Sequence[tuple[int, float]], *, since: int, hours: int) -> list[float]:
    """The price at the end of each hour, from trades as (unix seconds, price) in their order; an hour without a trade
    keeps the price before. Hours before the first trade are left out.
    """
    closes: list[float] = []
    price, place = None, 0
    for hour in range(1, hours + 1):
        end = since + hour * 3_600
        while place < len(trades) and trades[place][0] < end:
            price = trades[place][1]
            place += 1
        if price is not None:
            closes.append(price)
    return closes


def list_moves(closes: Sequence[float]) -> list[float]:
    """The logarithm of each hour's close over the one before."""
    return [log(after / before) for before, after in pairwise(closes)]


def list_drifts(moves: Sequence[float]) -> list[float]:
    """For each hour with a day behind it: the day's move over what a day moves by chance at this volatility."""
    spread = pstdev(moves) * sqrt(WINDOW_HOURS)
    days = [sum(moves[end - WINDOW_HOURS : end]) for end in range(WINDOW_HOURS, len(moves) + 1)]
    return [each / spread if spread else 0.0 for each in days]


def name_regime(drift: float) -> str:
    """The regime of a drift in standard deviations."""
    if abs(drift) < WEAK:
        return "sideways"
    strength = "strong" if abs(drift) >= STRONG else "weak"
    return f"{strength}_{'bull' if drift > 0 else 'bear'}"


def count_transitions(regimes: Sequence[str]) -> dict[str, float]:
    """How often an hour in the newest regime was followed by an hour in each. One case more of each is counted than was
    seen (Laplace), so that what was never seen is not called impossible.
    """
    followed = Counter(after for before, after in pairwise(regimes) if before == regimes[-1])
    whole = sum(followed.values()) + len(REGIMES)
    return {each: (followed[each] + 1) / whole for each in REGIMES}
