"""Prices as exact ratios: text of units per unit, square roots, basis points of impact and slippage.

A `Ratio` is base units of one token per base unit of another. Text is rounded down to a number of
significant digits and never passes through floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from tools_app.core.units import BPS
from tools_app.protocols.uniswap.v3 import math as v3_math

SIGNIFICANT_DIGITS = 18
_TEXT = Context(prec=SIGNIFICANT_DIGITS, rounding=ROUND_FLOOR)


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many base units of one token one base unit of another is worth, as an exact fraction."""

    numerator: int
    denominator: int

    def of(self, amount: int) -> int:
        """`amount` at this price, rounded down."""
        return amount * self.numerator // self.denominator

    def inverse(self) -> Ratio:
        return Ratio(self.denominator, self.numerator)

    def times(self, other: Ratio) -> Ratio:
        return Ratio(self.numerator * other.numerator, self.denominator * other.denominator)


def ratio_of_sqrt_price(sqrt_price: int) -> Ratio:
    """Token1 per token0 in base units of a V3 price."""
    return Ratio(sqrt_price * sqrt_price, v3_math.Q192)


def ratio_text(ratio: Ratio, *, base_decimals: int, quote_decimals: int) -> str:
    """Units of the quote token per unit of the base token as decimal text with up to 18 significant digits."""
    return decimal_text(ratio.numerator * 10**base_decimals, ratio.denominator * 10**quote_decimals)


def decimal_text(numerator: int, denominator: int) -> str:
    """`numerator / denominator` as plain decimal text, rounded down, without exponent or trailing zeros."""
    if denominator == 0:
        raise ValueError("a ratio needs a denominator that is not zero")
    # Integer division first: a Decimal made of a longer integer would be rounded before it is divided.
    scale = max(0, SIGNIFICANT_DIGITS + 2 - (len(str(abs(numerator))) - len(str(denominator))))
    quotient = abs(numerator) * 10**scale // denominator
    value = _TEXT.plus(Decimal(quotient)).scaleb(-scale, context=Context(prec=200))
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"-{text}" if numerator < 0 and text != "0" else text


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
    root = v3_math.sqrt_price_of_ratio(exact.numerator, exact.denominator)
    if not v3_math.MIN_SQRT_PRICE <= root < v3_math.MAX_SQRT_PRICE:
        raise ValueError("no pool can have this price")
    return root


def sqrt_price_moved(sqrt_price: int, *, bps: int) -> int:
    """The square-root price when the price is `bps` basis points higher (lower when negative), inside the range."""
    moved = v3_math.sqrt_price_of_ratio(sqrt_price * sqrt_price * max(0, BPS + bps), v3_math.Q192 * BPS)
    return min(max(moved, v3_math.MIN_SQRT_PRICE), v3_math.MAX_SQRT_PRICE - 1)


def shortfall_bps(*, ideal: int, actual: int) -> int:
    """By how many basis points `actual` is less than `ideal`, rounded up; zero when it is not less."""
    if ideal <= 0 or actual >= ideal:
        return 0
    return v3_math.ceil_div((ideal - actual) * BPS, ideal)


def excess_bps(*, ideal: int, actual: int) -> int:
    """By how many basis points `actual` is more than `ideal`, rounded up; zero when it is not more."""
    if ideal <= 0 or actual <= ideal:
        return 0
    return v3_math.ceil_div((actual - ideal) * BPS, ideal)


def bps_as_percent(bps: int) -> str:
    """`125` -> `1.25`."""
    return decimal_text(bps, 100)
