"""Price, tick and liquidity maths of concentrated liquidity in exact integers, rounding as the V3 contracts round.

Prices are square roots in Q64.96 (`sqrt_price`), ticks are powers of 1.0001, amounts are base units.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from tools_app.core.ratio import Ratio, ceil_div
from tools_app.core.units import BPS

MIN_POOL_TICK = -887_272
MAX_POOL_TICK = 887_272
MIN_SQRT_PRICE = 4_295_128_739
MAX_SQRT_PRICE = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342
Q96 = 2**96
Q128 = 2**128
Q192 = 2**192
UINT128_MAX = 2**128 - 1
FEE_DENOMINATOR = 1_000_000

TICK_SPACING_OF_FEE = {100: 1, 500: 10, 3_000: 60, 10_000: 200}


def _powers_of_inverse_base() -> tuple[int, ...]:
    """Q128 values of 1.0001^(-2^i / 2) for i = 0..19, rounded to nearest, as the contract's constants are."""
    extra_bits = 320
    one = 1 << (128 + extra_bits)
    # 1.0001^(-1/2) with 320 guard bits, then squared up; the guard bits absorb the squaring error.
    power = isqrt((one * one * 10_000) // 10_001)
    found = []
    for _ in range(20):
        found.append((power + (1 << (extra_bits - 1))) >> extra_bits)
        power = (power * power) >> (128 + extra_bits)
    return tuple(found)


_INVERSE_POWERS = _powers_of_inverse_base()


def sqrt_price_at_tick(pool_tick: int) -> int:
    """The Q64.96 square-root price of a tick, bit-equal to the contract. Raises ValueError outside the tick range."""
    magnitude = abs(pool_tick)
    if magnitude > MAX_POOL_TICK:
        raise ValueError(f"tick {pool_tick} is outside {MIN_POOL_TICK}..{MAX_POOL_TICK}")
    ratio = Q128
    for bit, power in enumerate(_INVERSE_POWERS):
        if magnitude >> bit & 1:
            ratio = ratio * power >> 128
    if pool_tick > 0:
        ratio = (2**256 - 1) // ratio
    return -(-ratio >> 32)


def tick_at_sqrt_price(sqrt_price: int) -> int:
    """The greatest tick whose price is at most `sqrt_price`. Raises ValueError outside the price range."""
    if not MIN_SQRT_PRICE <= sqrt_price < MAX_SQRT_PRICE:
        raise ValueError("the square-root price is outside the range of a V3 pool")
    # log2 of the price in 1/2^16 steps gives the tick to within one; the exact price decides.
    bits = sqrt_price.bit_length() - 1
    mantissa = (sqrt_price << 64) >> bits
    log2_q16 = (bits - 96) << 16
    for position in range(15, -1, -1):
        mantissa = mantissa * mantissa >> 64
        if mantissa >> 65:
            mantissa >>= 1
            log2_q16 |= 1 << position
    # 1 / log2(sqrt(1.0001)) = 13863.6…; kept as a Q32 integer.
    guess = log2_q16 * 59_543_866_431_248 >> 48
    low = max(MIN_POOL_TICK, guess - 2)
    high = min(MAX_POOL_TICK, guess + 3)
    while low < high:
        middle = (low + high + 1) // 2
        if sqrt_price_at_tick(middle) <= sqrt_price:
            low = middle
        else:
            high = middle - 1
    return low


def sqrt_price_of_ratio(numerator: int, denominator: int) -> int:
    """Floor of sqrt(numerator / denominator) in Q64.96, for a price of token1 per token0 in base units."""
    return isqrt((numerator << 192) // denominator)


def amount0_between(sqrt_a: int, sqrt_b: int, liquidity: int, *, round_up: bool) -> int:
    """Token0 that `liquidity` holds between two prices."""
    low, high = sorted((sqrt_a, sqrt_b))
    numerator = (liquidity << 96) * (high - low)
    if round_up:
        return ceil_div(ceil_div(numerator, high), low)
    return numerator // high // low


def amount1_between(sqrt_a: int, sqrt_b: int, liquidity: int, *, round_up: bool) -> int:
    """Token1 that `liquidity` holds between two prices."""
    low, high = sorted((sqrt_a, sqrt_b))
    product = liquidity * (high - low)
    return ceil_div(product, Q96) if round_up else product >> 96


def amounts_for_liquidity(
    sqrt_price: int, sqrt_lower: int, sqrt_upper: int, liquidity: int, *, round_up: bool
) -> tuple[int, int]:
    """Token0 and token1 of a range at a price: rounded up as a mint takes them, down as a burn gives them."""
    price = min(max(sqrt_price, sqrt_lower), sqrt_upper)
    return (
        amount0_between(price, sqrt_upper, liquidity, round_up=round_up),
        amount1_between(sqrt_lower, price, liquidity, round_up=round_up),
    )


def liquidity_for_amount0(sqrt_a: int, sqrt_b: int, amount0: int) -> int:
    """Most liquidity `amount0` of token0 buys between two prices, as the periphery computes it."""
    low, high = sorted((sqrt_a, sqrt_b))
    return amount0 * (low * high // Q96) // (high - low)


def liquidity_for_amount1(sqrt_a: int, sqrt_b: int, amount1: int) -> int:
    """Most liquidity `amount1` of token1 buys between two prices, as the periphery computes it."""
    low, high = sorted((sqrt_a, sqrt_b))
    return amount1 * Q96 // (high - low)


def liquidity_for_amounts(sqrt_price: int, sqrt_lower: int, sqrt_upper: int, amount0: int, amount1: int) -> int:
    """Most liquidity both amounts buy in a range at a price; one side limits."""
    if sqrt_price <= sqrt_lower:
        return liquidity_for_amount0(sqrt_lower, sqrt_upper, amount0)
    if sqrt_price >= sqrt_upper:
        return liquidity_for_amount1(sqrt_lower, sqrt_upper, amount1)
    return min(
        liquidity_for_amount0(sqrt_price, sqrt_upper, amount0),
        liquidity_for_amount1(sqrt_lower, sqrt_price, amount1),
    )


def fee_growth_inside(
    *, pool_tick: int, tick_lower: int, tick_upper: int, fee_global: int, outside_lower: int, outside_upper: int
) -> int:
    """Fees per unit of liquidity (Q128, modulo 2**256) earned between two ticks since the pool began."""
    below = outside_lower if pool_tick >= tick_lower else fee_global - outside_lower
    above = outside_upper if pool_tick < tick_upper else fee_global - outside_upper
    return (fee_global - below - above) % 2**256


def fees_owed(*, liquidity: int, inside_now: int, inside_last: int) -> int:
    """Base units of fees that `liquidity` earned between two readings of the growth inside its range."""
    return ((inside_now - inside_last) % 2**256) * liquidity // Q128


def floor_to_spacing(pool_tick: int, spacing: int) -> int:
    """The greatest usable tick at or below `pool_tick`."""
    return pool_tick // spacing * spacing


def ceil_to_spacing(pool_tick: int, spacing: int) -> int:
    """The least usable tick at or above `pool_tick`."""
    return -(-pool_tick // spacing) * spacing


def usable_tick_bounds(spacing: int) -> tuple[int, int]:
    """The lowest and highest tick a position of this spacing may use."""
    highest = MAX_POOL_TICK // spacing * spacing
    return -highest, highest


def ratio_of_sqrt_price(sqrt_price: int) -> Ratio:
    """Token1 per token0 in base units of a V3 price."""
    return Ratio(sqrt_price * sqrt_price, Q192)


def sqrt_price_of_text(price: str, *, decimals0: int, decimals1: int, is_inverse: bool = False) -> int:
    """Q64.96 square root of a price given as text in units of token1 per token0 (of token0 per token1 if inverse).

    Raises ValueError for zero and for a price no pool can have.
    """
    exact = Fraction(price)
    if exact <= 0:
        raise ValueError("a price must be above zero")
    if is_inverse:
        exact = 1 / exact
    exact *= Fraction(10**decimals1, 10**decimals0)
    root = sqrt_price_of_ratio(exact.numerator, exact.denominator)
    if not MIN_SQRT_PRICE <= root < MAX_SQRT_PRICE:
        raise ValueError("no pool can have this price")
    return root


def sqrt_price_moved(sqrt_price: int, *, bps: int) -> int:
    """The square-root price when the price is `bps` basis points higher (lower when negative), inside the range."""
    moved = sqrt_price_of_ratio(sqrt_price * sqrt_price * max(0, BPS + bps), Q192 * BPS)
    return min(max(moved, MIN_SQRT_PRICE), MAX_SQRT_PRICE - 1)
