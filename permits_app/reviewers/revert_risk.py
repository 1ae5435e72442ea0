"""Computes from past prices how often the market moved further than a plan tolerates.

An empirical figure from the pools' own logs, in integer millionths, and no model: each stretch of the recent past as
long as the wait is one trial. Pure but for what it is handed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.core.units import BPS
from tools_app.toolkit.markets import PricePoint
from tools_app.toolkit.plan import TxPlan

MILLION: Final = 1_000_000
MOST_REVERT_MILLIONTHS: Final = 50_000
LOOKBACK_BLOCKS: Final = 1_000


def estimate_revert(
    *,
    prices: Sequence[PricePoint],
    first_block: int,
    last_block: int,
    wait_blocks: int,
    tolerance_bps: int,
    falls_hurt: bool,
    rises_hurt: bool,
) -> int:
    """Millionths of trials in which the price moved against the plan by more than `tolerance_bps`.

    `prices` are of token0 in token1, one for each block that changed it, in order; before the first of them nothing is
    known and nothing is tried. No change at all is a quiet market: zero.
    """
    if not prices or wait_blocks <= 0:
        return 0
    begin = max(first_block, prices[0].block_number)
    moved = trials = 0
    start_index = end_index = 0
    for block in range(begin, last_block - wait_blocks + 1):
        start_index = _advance(prices, start_index, block)
        end_index = _advance(prices, max(start_index, end_index), block + wait_blocks)
        trials += 1
        before, after = prices[start_index], prices[end_index]
        falls, rises = _moves_beyond(before, after, tolerance_bps)
        moved += (falls and falls_hurt) or (rises and rises_hurt)
    return moved * MILLION // trials if trials else 0


def join_risks(risks: Sequence[int]) -> int:
    """The most the chance of any of several reverts can be, in millionths: their sum, at most one million."""
    return min(MILLION, sum(risks))


def measure_tolerance(plan: TxPlan) -> int:
    """How far a plan's worst result lies from its quote, in basis points, rounded down: what the market may move.

    Of all flows the one with the most room: what an exact-in swap receives, what an exact-out one spends. A deposit
    spends what it says; how far the pool may move under it is its slippage.
    """
    room = [(flow.expected - flow.bound) * BPS // flow.expected for flow in plan.receives if flow.expected > 0]
    room += [(flow.bound - flow.expected) * BPS // flow.bound for flow in plan.spends if flow.bound > 0]
    return max([0, *room]) or plan.slippage_bps or 0


def count_wait_blocks(*, wait_seconds: int, blocks: int, seconds: int) -> int:
    """Blocks mined within `wait_seconds` at the pace of `blocks` in `seconds`; at least one, at most half of them."""
    if blocks <= 0:
        return 1
    pace = max(seconds, blocks)  # no faster than one a second, or a burst of blocks would look like hours
    return max(1, min(-(-wait_seconds * blocks // pace), blocks // 2 or 1))


def _advance(prices: Sequence[PricePoint], index: int, block: int) -> int:
    while index + 1 < len(prices) and prices[index + 1].block_number <= block:
        index += 1
    return index


def _moves_beyond(before: PricePoint, after: PricePoint, tolerance_bps: int) -> tuple[bool, bool]:
    """Whether the price fell, and whether it rose, by more than the tolerance; by cross-multiplication, exactly."""
    old, new = before.numerator * after.denominator, after.numerator * before.denominator
    return new * BPS < old * (BPS - tolerance_bps), old * BPS < new * (BPS - tolerance_bps)
