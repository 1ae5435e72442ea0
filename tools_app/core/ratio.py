"""Computes prices as exact ratios: text of units per unit, basis points of impact and slippage.

A `Ratio` is base units of one token per base unit of another. Text is rounded down to a number of
significant digits and never passes through floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal

from tools_app.core.units import BPS

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


def shortfall_bps(*, ideal: int, actual: int) -> int:
    """By how many basis points `actual` is less than `ideal`, rounded up; zero when it is not less."""
    if ideal <= 0 or actual >= ideal:
        return 0
    return ceil_div((ideal - actual) * BPS, ideal)


def excess_bps(*, ideal: int, actual: int) -> int:
    """By how many basis points `actual` is more than `ideal`, rounded up; zero when it is not more."""
    if ideal <= 0 or actual <= ideal:
        return 0
    return ceil_div((actual - ideal) * BPS, ideal)


def bps_as_percent(bps: int) -> str:
    """`125` -> `1.25`."""
    return decimal_text(bps, 100)


def percent_text(bps: int | None) -> str | None:
    """The same, and nothing of what is not known."""
    return None if bps is None else bps_as_percent(bps)


def ceil_div(numerator: int, denominator: int) -> int:
    """Division rounded up."""
    return -(-numerator // denominator)
