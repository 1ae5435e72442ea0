"""Classifies the market from the golem's own last prices and adapts the pace of ticks. Pure, integers.

Prices are integers of one unit, oldest first. A regime is a label of the past, not a forecast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median_low
from typing import Final

from archetypes_app.models.tick import LEAST_THETA_SECONDS, MOST_THETA_SECONDS, Regime
from tools_app.core.units import BPS

WINDOW: Final = 12
GAS_PAUSE_TIMES: Final = 5
_LEAST_SAMPLES: Final = 3
_LEAST_SAMPLES_OF_CALM: Final = 6
_CRISIS_FALL_BPS: Final = 1_000
_VOLATILE_RANGE_BPS: Final = 300
_TREND_RANGE_BPS: Final = 100
_TREND_SHARE_BPS: Final = 7_000
_CALM_RANGE_BPS: Final = 10
_PACE_BPS: Final[Mapping[Regime, int]] = {
    Regime.NORMAL: 10_000,
    Regime.VOLATILE: 5_000,
    Regime.CRISIS: 3_000,
    Regime.CALM: 20_000,
    Regime.TRENDING: 8_000,
}


def detect_regime(prices: Sequence[int]) -> Regime:
    """The regime of the last twelve prices; too few say NORMAL.

    CRISIS: a fall of 10% or more from the highest to what came after it. VOLATILE: a range of 3% or more. TRENDING: a
    range of 1% or more of which at least 70% was kept. CALM: at least six prices within 0.1%.
    """
    window = [price for price in prices[-WINDOW:] if price > 0]
    if len(window) < _LEAST_SAMPLES:
        return Regime.NORMAL
    low, high = min(window), max(window)
    spread = range_bps(window)
    if deepest_fall_bps(window) >= _CRISIS_FALL_BPS:
        return Regime.CRISIS
    if spread >= _VOLATILE_RANGE_BPS:
        return Regime.VOLATILE
    if spread >= _TREND_RANGE_BPS and abs(window[-1] - window[0]) * BPS >= _TREND_SHARE_BPS * (high - low):
        return Regime.TRENDING
    if len(window) >= _LEAST_SAMPLES_OF_CALM and spread <= _CALM_RANGE_BPS:
        return Regime.CALM
    return Regime.NORMAL


def range_bps(prices: Sequence[int]) -> int:
    """Highest over lowest price, in basis points of the lowest; 0 without two prices."""
    window = [price for price in prices[-WINDOW:] if price > 0]
    return (max(window) - min(window)) * BPS // min(window) if len(window) > 1 else 0


def deepest_fall_bps(prices: Sequence[int]) -> int:
    """The largest fall from a price to a later one, in basis points of the earlier."""
    deepest, highest = 0, 0
    for price in prices:
        highest = max(highest, price)
        if highest:
            deepest = max(deepest, (highest - price) * BPS // highest)
    return deepest


def is_gas_dear(base_fees: Sequence[int]) -> bool:
    """Whether the newest base fee is more than five times the median of what this golem saw: what can wait, waits."""
    return len(base_fees) > 1 and base_fees[-1] > GAS_PAUSE_TIMES * median_low(base_fees)


def choose_theta(*, base_seconds: int, regime: Regime) -> int:
    """Seconds to the next tick: the base times the regime's pace, between 30 and 120."""
    return max(LEAST_THETA_SECONDS, min(MOST_THETA_SECONDS, base_seconds * _PACE_BPS[regime] // BPS))
