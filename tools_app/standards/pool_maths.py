"""Computes exactly what a trade does to a pool, of constant product or concentrated liquidity.

Integers and roundings are those of the pools themselves, so that a swap of the same block gives the same base units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt

from tools_app.core.ratio import Ratio, ceil_div
from tools_app.standards.concentrated import (
    MAX_SQRT_PRICE,
    MIN_SQRT_PRICE,
    Q96,
    amount0_between,
    amount1_between,
    sqrt_price_at_tick,
    tick_at_sqrt_price,
)
from tools_app.toolkit.markets import FEE_DENOMINATOR, InitialisedTick, Pool


class BeyondKnownTicks(ValueError):
    """The trade goes further than the ticks that were read, or than the pool has liquidity."""


@dataclass(frozen=True, slots=True)
class Depths:
    """A pool with the initialised ticks around its price; a trade beyond `lowest` and `highest` is not computed."""

    pool: Pool
    ticks: tuple[InitialisedTick, ...] = ()
    lowest: int = 0
    highest: int = 0
    spacing: int = 1


@dataclass(frozen=True, slots=True)
class Swapped:
    """What came out, the pool after it, and how many initialised ticks the price went through."""

    amount_out: int
    after: Depths
    crossed: int


def swap(depths: Depths, token_in: str, amount_in: int) -> Swapped:
    """All of `amount_in` traded. Raises BeyondKnownTicks."""
    if depths.pool.version == "v3":
        return _swap_ranges(depths, token_in, amount_in)
    return _swap_product(depths, token_in, amount_in)


def _swap_product(depths: Depths, token_in: str, amount_in: int) -> Swapped:
    pool = depths.pool
    reserve_in, reserve_out = pool.reserves_from(token_in)
    if reserve_in <= 0 or reserve_out <= 0 or amount_in <= 0:
        raise BeyondKnownTicks("the pool is empty or nothing is paid")
    kept = amount_in * (FEE_DENOMINATOR - pool.fee)
    out = kept * reserve_out // (reserve_in * FEE_DENOMINATOR + kept)
    left = (reserve_in + amount_in, reserve_out - out)
    reserve0, reserve1 = left if token_in == pool.token0 else left[::-1]
    return Swapped(out, replace(depths, pool=replace(pool, reserve0=reserve0, reserve1=reserve1)), 0)


def _swap_ranges(depths: Depths, token_in: str, amount_in: int) -> Swapped:
    pool = depths.pool
    falls = token_in == pool.token0
    price, liquidity, left, out, crossed = pool.sqrt_price, pool.liquidity, amount_in, 0, 0
    stops = _list_stops(depths, falls=falls)
    here = pool.pool_tick
    for tick, net, is_initialised in stops:
        if left <= 0:
            break
        target = min(max(sqrt_price_at_tick(tick), MIN_SQRT_PRICE + 1), MAX_SQRT_PRICE - 1)
        moved = _step(price, target, liquidity, left, pool.fee, falls=falls)
        price, left, out = moved.price, left - moved.paid, out + moved.out
        if not moved.reached:
            here = tick_at_sqrt_price(price)
            break
        here = tick - 1 if falls else tick
        if is_initialised:
            crossed += 1
            liquidity += -net if falls else net
        if liquidity < 0:
            raise BeyondKnownTicks("the ticks that were read contradict the pool's liquidity")
    if left > 0:
        raise BeyondKnownTicks("the trade goes beyond the ticks that were read")
    after = replace(pool, sqrt_price=price, liquidity=liquidity, pool_tick=here)
    return Swapped(out, replace(depths, pool=after), crossed)


def _list_stops(depths: Depths, *, falls: bool) -> list[tuple[int, int, bool]]:
    """Where a swap takes a step of its own: initialised ticks, and the ends of the words they are kept in."""
    here, word = depths.pool.pool_tick, 256 * depths.spacing
    stops = {each.pool_tick: (each.pool_tick, each.net, True) for each in depths.ticks}
    offset = 0 if falls else word - depths.spacing
    for number in range(depths.lowest // word, depths.highest // word + 1):
        edge = number * word + offset
        if depths.lowest <= edge <= depths.highest:
            stops.setdefault(edge, (edge, 0, False))
    for edge in (depths.lowest, depths.highest):
        stops.setdefault(edge, (edge, 0, False))
    if falls:
        return [stops[tick] for tick in sorted(stops, reverse=True) if tick <= here]
    return [stops[tick] for tick in sorted(stops) if tick > here]


@dataclass(frozen=True, slots=True)
class _Step:
    price: int
    paid: int
    out: int
    reached: bool


def _step(price: int, target: int, liquidity: int, left: int, fee: int, *, falls: bool) -> _Step:
    """Within one range: to `target`, or as far as `left` goes, as the pools' SwapMath computes it."""
    if falls:
        to_target = amount0_between(target, price, liquidity, round_up=True)
    else:
        to_target = amount1_between(price, target, liquidity, round_up=True)
    after_fee = left * (FEE_DENOMINATOR - fee) // FEE_DENOMINATOR
    if after_fee >= to_target:
        paid_in, reached, new = to_target, True, target
    else:
        reached, new = False, _price_after(price, liquidity, after_fee, falls=falls)
        paid_in = (
            amount0_between(new, price, liquidity, round_up=True)
            if falls
            else amount1_between(price, new, liquidity, round_up=True)
        )
    if falls:
        out = amount1_between(new, price, liquidity, round_up=False)
    else:
        out = amount0_between(price, new, liquidity, round_up=False)
    paid = paid_in + ceil_div(paid_in * fee, FEE_DENOMINATOR - fee) if reached else left
    return _Step(new, paid, out, reached)


def _price_after(price: int, liquidity: int, amount: int, *, falls: bool) -> int:
    """The price after `amount` (fee taken) is paid in; rounded against the trader, as the pools do."""
    if liquidity <= 0:
        raise BeyondKnownTicks("the pool has no liquidity at this price")
    if falls:
        numerator = liquidity << 96
        return ceil_div(numerator * price, numerator + amount * price)
    return price + amount * Q96 // liquidity


def reserves_at(ratio: Ratio, reserve0: int, reserve1: int) -> tuple[int, int]:
    """What a constant-product pool would hold if its price were token1 per token0 = `ratio`, rounded down."""
    product = reserve0 * reserve1
    return (
        isqrt(product * ratio.denominator // ratio.numerator),
        isqrt(product * ratio.numerator // ratio.denominator),
    )
