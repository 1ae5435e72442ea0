"""Scores how sound a pool is, from 0 to 100, in integers. Pure.

tvl_score               0 at $1,000, then 20 for every tenfold: $10k 20, $100k 40, $1M 60, $10M 80, $100M 100
volume_score            24 h volume as a share of what the pool holds; 100 from 50% a day
fee_score               24 h fees as percent a year of what it holds; 100 from 50% a year
liquidity_distribution  square root of the share of its value that trades within 2% of the price: 100% 100, 25% 50
il_risk                 100 less one point for every 10 bps between the highest and lowest price of 24 h

The health score is the mean weighted 30, 20, 15, 20, 15; a score that cannot be known is left out of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isqrt

from tools_app.core.ratio import Ratio
from tools_app.core.units import BPS, MICRO_USD_PER_USD

WEIGHTS = {"tvl_score": 30, "volume_score": 20, "fee_score": 15, "liquidity_distribution": 20, "il_risk": 15}
SOUND_FROM = 70
USABLE_FROM = 40
_LEAST_TVL = 1_000 * MICRO_USD_PER_USD


@dataclass(frozen=True, slots=True)
class Scores:
    """Five sub-scores from 0 to 100; None where the figure behind it is unknown."""

    tvl_score: int | None
    volume_score: int | None
    fee_score: int | None
    liquidity_distribution: int | None
    il_risk: int | None

    def total(self) -> int | None:
        """The weighted mean of the known scores, rounded down; None when none is known."""
        known = [(weight, getattr(self, name)) for name, weight in WEIGHTS.items() if getattr(self, name) is not None]
        return sum(w * s for w, s in known) // sum(w for w, _ in known) if known else None


def score_tvl(micro_usd: int) -> int:
    """20 points for every tenfold above $1,000, straight lines between."""
    if micro_usd < _LEAST_TVL:
        return 0
    decades, floor = 0, _LEAST_TVL
    while micro_usd >= floor * 10:
        decades, floor = decades + 1, floor * 10
    return min(100, 20 * decades + 20 * (micro_usd - floor) // (9 * floor))


def score_volume(volume_micro_usd: int, tvl_micro_usd: int) -> int | None:
    """100 when half of what the pool holds, or more, is traded in a day."""
    return None if tvl_micro_usd <= 0 else min(100, 200 * volume_micro_usd // tvl_micro_usd)


def score_fees(fees_micro_usd: int, tvl_micro_usd: int) -> int | None:
    """100 when a day's fees are 50% a year of what the pool holds, or more."""
    return None if tvl_micro_usd <= 0 else min(100, 200 * 365 * fees_micro_usd // tvl_micro_usd)


def score_distribution(near_micro_usd: int, tvl_micro_usd: int) -> int | None:
    """Square root of the share of value that trades near the price."""
    if tvl_micro_usd <= 0:
        return None
    return min(100, isqrt(max(0, near_micro_usd) * BPS // tvl_micro_usd))


def score_calm(prices: Iterable[Ratio]) -> int | None:
    """100 for a price that did not move, 0 for one whose highest was 10% above its lowest."""
    ordered = list(prices)
    if not ordered:
        return None
    low = high = ordered[0]
    for price in ordered[1:]:
        if price.numerator * low.denominator < low.numerator * price.denominator:
            low = price
        if price.numerator * high.denominator > high.numerator * price.denominator:
            high = price
    swing_bps = (high.numerator * low.denominator * BPS) // (high.denominator * low.numerator) - BPS
    return max(0, 100 - swing_bps // 10)


def recommend(total: int | None) -> str:
    """One word for a person and a model: sound, usable with care, or avoid."""
    if total is None:
        return "unknown: nothing about this pool could be measured"
    if total >= SOUND_FROM:
        return "sound: deep enough and in use"
    if total >= USABLE_FROM:
        return "with care: keep amounts small against what the pool holds"
    return "avoid: thin, idle or moving too much"
