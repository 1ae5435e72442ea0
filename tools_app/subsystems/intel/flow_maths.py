"""Order flow in figures: toxicity by volume buckets, what rebalancing loses, and how prices go on after trades. Pure.

VPIN after Easley, López de Prado and O'Hara (2012), with the true side of each trade instead of a guessed one; loss
versus rebalancing after Milionis, Moallemi, Roughgarden and Zhang (2022).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt, log, pi, sqrt
from typing import Final

from tools_app.portfolio.pool_history import Trade
from tools_app.toolkit.markets import FEE_DENOMINATOR, Pool

MODERATE_FROM: Final = 0.3
TOXIC_FROM: Final = 0.6
"""VPIN from which flow is moderate, and toxic; what an even market would show is told beside."""


@dataclass(frozen=True, slots=True)
class Vpin:
    """Mean imbalance of the buckets, each bucket's, and what the mean would be if a coin chose each trade's side."""

    value: float
    series: tuple[float, ...]
    by_chance: float


def signed_volumes(trades: Sequence[Trade]) -> list[int]:
    """Volume of each trade in base units of token1; below zero where the trader sold token0."""
    return [
        -(each.in0 * each.price.numerator // each.price.denominator) if each.in0 > 0 else each.in1 for each in trades
    ]


def compute_vpin(volumes: Sequence[int], buckets: int) -> Vpin:
    """Trades filled into `buckets` of one volume; a trade that is larger than what is left goes on in the next.

    Raises ValueError where nothing was traded.
    """
    whole = sum(map(abs, volumes))
    if whole <= 0 or buckets <= 0:
        raise ValueError("nothing was traded")
    # Everything times the number of buckets: then each bucket holds a whole number.
    series, chances = [], []
    imbalance, squares, room = 0, 0, whole
    for volume in volumes:
        left, sign = abs(volume) * buckets, 1 if volume > 0 else -1
        while left > 0:
            part = min(left, room)
            imbalance += sign * part
            squares += part * part
            left -= part
            room -= part
            if room == 0:
                series.append(abs(imbalance) / whole)
                chances.append(min(1.0, sqrt(2 / pi * squares) / whole))
                imbalance, squares, room = 0, 0, whole
    return Vpin(sum(series) / len(series), tuple(series), sum(chances) / len(chances))


def block_prices(trades: Sequence[Trade]) -> list[tuple[int, float]]:
    """The last price of each block with a trade."""
    last = {each.block: each.price for each in trades}
    return [(block, price.numerator / price.denominator) for block, price in last.items()]


def realised_variance(prices: Sequence[tuple[int, float]]) -> float:
    """The sum of squared log returns between blocks."""
    return sum(log(after / before) ** 2 for (_, before), (_, after) in zip(prices, prices[1:], strict=False))


def depth_value(pool: Pool) -> float:
    """L * sqrt(P) in base units of token1: what a price change of a pool is paid out of."""
    if pool.is_concentrated:
        return pool.liquidity * pool.sqrt_price / 2**96
    return isqrt(pool.reserve0 * pool.reserve1) * sqrt(pool.reserve1 / pool.reserve0) if pool.reserve0 else 0.0


def lost_to_rebalancing(pool: Pool, variance: float) -> float:
    """L * sqrt(P) / 4 times the variance of log prices, in base units of token1."""
    return depth_value(pool) / 4 * variance


def arbitrage_share(fee: int, variance_a_second: float, block_seconds: float) -> float:
    """The part of it that reaches arbitrageurs where blocks are `block_seconds` apart and a fee is in their way."""
    if variance_a_second <= 0:
        return 0.0
    return 1 / (1 + fee / FEE_DENOMINATOR * sqrt(2 / block_seconds) / sqrt(variance_a_second))


def mark_out(trades: Sequence[Trade], fee: int, blocks: int) -> tuple[float, int]:
    """What liquidity gained on trades at the price so many blocks later, in base units of token1, and of how many.

    A trade is filled at the geometric mean of the price before and after it, which is exact within one range.
    """
    prices = block_prices(trades)
    numbers = [block for block, _ in prices]
    kept = 1 - fee / FEE_DENOMINATOR
    total, counted = 0.0, 0
    if not numbers:
        return total, counted
    last = numbers[-1]
    for before, each in zip(trades, trades[1:], strict=False):
        if each.block + blocks > last:
            continue
        later = prices[bisect_right(numbers, each.block + blocks) - 1][1]
        filled = sqrt(
            before.price.numerator / before.price.denominator * (each.price.numerator / each.price.denominator)
        )
        if each.in0 > 0:
            total += each.in0 * later - each.in0 * kept * filled
        else:
            total += each.in1 - each.in1 * kept / filled * later
        counted += 1
    return total, counted


def adverse_moves(prices: Sequence[tuple[int, float]], blocks: int, *, rises: bool) -> list[float]:
    """By how much (a part of the price) it moved within so many blocks, each look from the end of the one before."""
    moves, at = [], 0
    numbers = [block for block, _ in prices]
    while at < len(prices) and numbers[at] + blocks <= numbers[-1]:
        end = bisect_right(numbers, numbers[at] + blocks) - 1
        change = prices[end][1] / prices[at][1] - 1
        moves.append(change if rises else -change)
        at = max(end, at + 1)
    return moves
