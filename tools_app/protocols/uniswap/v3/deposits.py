"""How much of each token a range takes at a price, and how little may be used before a deposit must revert. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tools_app.protocols.uniswap.errors import AmountTooSmall, InvalidRange
from tools_app.standards import concentrated as v3_math
from tools_app.standards.concentrated import sqrt_price_moved, sqrt_price_of_text

_FAR_TICKS: Final = 46_054
"""A hundredfold in price."""


@dataclass(frozen=True, slots=True)
class RangeDeposit:
    """A deposit as the position manager will compute it, in base units of (token0, token1).

    `offered` is approved and the most that can be taken, `used` is taken at the present price, `least` at the worst.
    `least_liquidity` is what comes of it then.
    """

    offered: tuple[int, int]
    used: tuple[int, int]
    least: tuple[int, int]
    liquidity: int
    least_liquidity: int


def ticks_of_range(
    price_lower: str,
    price_upper: str,
    *,
    decimals0: int,
    decimals1: int,
    spacing: int,
    is_inverse: bool,
) -> tuple[int, int]:
    """The smallest usable tick range that contains the prices; the pool's token1 per token0 unless `is_inverse`.

    Raises InvalidRange when the prices are reversed, equal, zero, or none a pool can have.
    """
    try:
        if Fraction(price_lower) >= Fraction(price_upper):
            raise InvalidRange(
                f"price_lower {price_lower} is not below price_upper {price_upper}",
                price_lower=price_lower,
                price_upper=price_upper,
            )
        edges = sorted(
            sqrt_price_of_text(text, decimals0=decimals0, decimals1=decimals1, is_inverse=is_inverse)
            for text in (price_lower, price_upper)
        )
    except ValueError as error:
        raise InvalidRange(f"{error}", price_lower=price_lower, price_upper=price_upper) from error
    lowest, highest = v3_math.usable_tick_bounds(spacing)
    lower = v3_math.floor_to_spacing(v3_math.tick_at_sqrt_price(edges[0]), spacing)
    upper_tick = v3_math.tick_at_sqrt_price(edges[1])
    if v3_math.sqrt_price_at_tick(upper_tick) < edges[1]:
        upper_tick += 1
    upper = v3_math.ceil_to_spacing(upper_tick, spacing)
    return max(lower, lowest), min(upper, highest)


def check_way_round(
    tick_now: int,
    ticks: tuple[int, int],
    price_lower: str,
    price_upper: str,
    *,
    decimals0: int,
    decimals1: int,
    spacing: int,
    is_inverse: bool,
) -> None:
    """Raises InvalidRange where the pool's price lies in the range only if its prices are of the other token."""
    if ticks[0] - _FAR_TICKS <= tick_now <= ticks[1] + _FAR_TICKS:
        return
    try:
        lower, upper = ticks_of_range(
            price_lower,
            price_upper,
            decimals0=decimals0,
            decimals1=decimals1,
            spacing=spacing,
            is_inverse=not is_inverse,
        )
    except InvalidRange:
        return
    if lower <= tick_now <= upper:
        raise InvalidRange(
            f"the pool's price is nowhere near {price_lower} to {price_upper} token1 for one token0, and in that range"
            " with the two tokens exchanged: name them the other way round, or turn the prices",
            price_lower=price_lower,
            price_upper=price_upper,
        )


def plan_deposit(
    sqrt_price: int,
    tick_lower: int,
    tick_upper: int,
    *,
    amount0: int | None,
    amount1: int | None,
    slippage_bps: int,
) -> RangeDeposit:
    """The deposit that `amount0` and `amount1` allow; one of them may be None and is then what the other needs.

    Raises AmountTooSmall when no liquidity results, InvalidRange when the given token is not the one this
    range takes at this price.
    """
    lower, upper = v3_math.sqrt_price_at_tick(tick_lower), v3_math.sqrt_price_at_tick(tick_upper)
    wanted = _liquidity_wanted(sqrt_price, lower, upper, amount0, amount1)
    offered = v3_math.amounts_for_liquidity(sqrt_price, lower, upper, wanted, round_up=True)
    liquidity = v3_math.liquidity_for_amounts(sqrt_price, lower, upper, *offered)
    if liquidity == 0:
        raise AmountTooSmall("these amounts are too small to give any liquidity in this range")
    used = v3_math.amounts_for_liquidity(sqrt_price, lower, upper, liquidity, round_up=True)
    least, least_liquidity = used, liquidity
    for bps in (-slippage_bps, slippage_bps):
        moved = sqrt_price_moved(sqrt_price, bps=bps)
        less = v3_math.liquidity_for_amounts(moved, lower, upper, *offered)
        there = v3_math.amounts_for_liquidity(moved, lower, upper, less, round_up=False)
        least_liquidity = min(least_liquidity, less)
        least = (min(least[0], there[0]), min(least[1], there[1]))
    return RangeDeposit(offered=offered, used=used, least=least, liquidity=liquidity, least_liquidity=least_liquidity)


def plan_exact_deposit(
    sqrt_price: int,
    tick_lower: int,
    tick_upper: int,
    *,
    amount0: int | None,
    amount1: int | None,
    slippage_bps: int,
) -> RangeDeposit:
    """The same where liquidity is named exactly: as much as these amounts allow wherever the price moves within the
    slippage, so that it costs no more of either. Raises AmountTooSmall, InvalidRange.
    """
    lower, upper = v3_math.sqrt_price_at_tick(tick_lower), v3_math.sqrt_price_at_tick(tick_upper)
    liquidity = _liquidity_wanted(sqrt_price, lower, upper, amount0, amount1)
    prices = [sqrt_price_moved(sqrt_price, bps=bps) if bps else sqrt_price for bps in (-slippage_bps, 0, slippage_bps)]
    for price in prices:
        if amount0 is not None and price < upper:
            liquidity = min(liquidity, v3_math.liquidity_for_amount0(max(price, lower), upper, amount0))
        if amount1 is not None and price > lower:
            liquidity = min(liquidity, v3_math.liquidity_for_amount1(lower, min(price, upper), amount1))
    if liquidity == 0:
        raise AmountTooSmall("these amounts are too small to give any liquidity in this range")
    below, used, above = (
        v3_math.amounts_for_liquidity(price, lower, upper, liquidity, round_up=True) for price in prices
    )
    return RangeDeposit(
        offered=(max(below[0], used[0], above[0]), max(below[1], used[1], above[1])),
        used=used,
        least=(min(below[0], used[0], above[0]), min(below[1], used[1], above[1])),
        liquidity=liquidity,
        least_liquidity=liquidity,
    )


def amount_to_swap(sqrt_price: int, tick_lower: int, tick_upper: int, *, amount0: int, amount1: int) -> tuple[int, int]:
    """(token0 to sell, token1 to sell), one of them 0, so that the rest is what the range takes at this price.

    Fees and the price's own move are left out: what they make of it stays over.
    """
    lower, upper = v3_math.sqrt_price_at_tick(tick_lower), v3_math.sqrt_price_at_tick(tick_upper)
    per0, per1 = v3_math.amounts_for_liquidity(sqrt_price, lower, upper, v3_math.Q192, round_up=False)
    square = sqrt_price * sqrt_price
    worth = per1 * v3_math.Q192 + per0 * square
    surplus = amount0 * per1 - amount1 * per0
    if surplus >= 0:
        return min(amount0, surplus * v3_math.Q192 // worth), 0
    return 0, min(amount1, -surplus * square // worth)


def _liquidity_wanted(sqrt_price: int, lower: int, upper: int, amount0: int | None, amount1: int | None) -> int:
    if sqrt_price <= lower:
        if amount0 is None:
            raise InvalidRange("the price is below the range, which therefore takes token0 only; give amount0")
        return v3_math.liquidity_for_amount0(lower, upper, amount0)
    if sqrt_price >= upper:
        if amount1 is None:
            raise InvalidRange("the price is above the range, which therefore takes token1 only; give amount1")
        return v3_math.liquidity_for_amount1(lower, upper, amount1)
    limits = []
    if amount0 is not None:
        limits.append(v3_math.liquidity_for_amount0(sqrt_price, upper, amount0))
    if amount1 is not None:
        limits.append(v3_math.liquidity_for_amount1(lower, sqrt_price, amount1))
    return min(limits)
