"""Ranges tried on many drawn price paths at once. numpy, and loaded by whoever needs it: it takes a moment. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from tools_app.subsystems.intel.lp_maths import PriceRange, range_around


@dataclass(frozen=True, slots=True)
class TriedWidth:
    """One width over all paths: means of fees and of impermanent loss as parts of what was put in, the median of both
    together, how much of the time was in range, and the share of paths that end in range.
    """

    width: float
    place: PriceRange
    fees: float
    il: float
    net_median: float
    time_in_range: float
    ends_in_range: float


def try_widths(
    price: float,
    widths: Sequence[float],
    *,
    hourly_volatility: float,
    hours: int,
    paths: int,
    fees_an_hour: float,
    pool_liquidity: float,
    amount: float,
    seed: int,
) -> list[TriedWidth]:
    """Each width on the same geometric Brownian paths without drift, an hour a step.

    `fees_an_hour` are of the whole pool, in base units of token1; a position has its share of the liquidity while in
    range. Nothing is rebalanced.
    """
    draw = np.random.default_rng(seed)
    counts = [np.zeros(paths, dtype=np.int32) for _ in widths]
    places = [range_around(price, width) for width in widths]
    edges = [(np.float32(np.log(place.low / price)), np.float32(np.log(place.high / price))) for place in places]
    at = np.zeros(paths, dtype=np.float32)
    drift = np.float32(-(hourly_volatility**2) / 2)
    for _ in range(hours):
        at += draw.standard_normal(paths, dtype=np.float32) * np.float32(hourly_volatility) + drift
        for count, (low, high) in zip(counts, edges, strict=True):
            count += (at >= low) & (at < high)
    ends = price * np.exp(at.astype(np.float64))
    found = []
    for width, place, count, (low, high) in zip(widths, places, counts, edges, strict=True):
        liquidity = amount / place.worth(price)
        share = liquidity / (liquidity + pool_liquidity)
        roots = np.clip(np.sqrt(ends), sqrt(place.low), sqrt(place.high))
        worth = ends * (1 / roots - 1 / sqrt(place.high)) + roots - sqrt(place.low)
        held = ends * (1 / sqrt(price) - 1 / sqrt(place.high)) + sqrt(price) - sqrt(place.low)
        il = liquidity * (worth - held) / amount
        fees = count * (fees_an_hour * share / amount)
        found.append(
            TriedWidth(
                width=width,
                place=place,
                fees=float(fees.mean()),
                il=float(il.mean()),
                net_median=float(np.median(fees + il)),
                time_in_range=float(count.mean()) / hours,
                ends_in_range=float(((at >= low) & (at < high)).mean()),
            )
        )
    return found
