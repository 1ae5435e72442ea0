"""Computes a liquidity range's worth at another price, in exact integers. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tools_app.standards.concentrated import (
    MAX_SQRT_PRICE,
    MIN_SQRT_PRICE,
    Q192,
    amounts_for_liquidity,
    sqrt_price_at_tick,
    sqrt_price_of_ratio,
)

_LIQUIDITY = 10**30
"""So much that no rounding of base units shows."""


@dataclass(frozen=True, slots=True)
class RangeChange:
    """Per one of token1 put in: what holding is worth afterwards, and what the range is. `il` is the difference over
    what holding is worth.
    """

    held: Fraction
    ranged: Fraction

    @property
    def il(self) -> Fraction:
        """Zero or less."""
        return self.ranged / self.held - 1 if self.held else Fraction(0)


def change_in_range(sqrt_price: int, multiple: Fraction, tick_lower: int, tick_upper: int) -> RangeChange:
    """A range from `tick_lower` to `tick_upper` when the price goes to `multiple` of what it is.

    Raises ValueError for a range upside down or empty, and a multiple no pool can reach.
    """
    if tick_lower >= tick_upper:
        raise ValueError("the lower tick must be below the upper one")
    if multiple <= 0:
        raise ValueError("a price must be above zero")
    after = sqrt_price_of_ratio(sqrt_price * sqrt_price * multiple.numerator, Q192 * multiple.denominator)
    if not MIN_SQRT_PRICE <= after < MAX_SQRT_PRICE:
        raise ValueError("no pool can have this price")
    edges = sqrt_price_at_tick(tick_lower), sqrt_price_at_tick(tick_upper)
    before0, before1 = amounts_for_liquidity(sqrt_price, *edges, _LIQUIDITY, round_up=False)
    after0, after1 = amounts_for_liquidity(after, *edges, _LIQUIDITY, round_up=False)
    price_then, price_now = Fraction(sqrt_price**2, Q192), Fraction(after**2, Q192)
    worth = before0 * price_then + before1
    if worth <= 0:
        raise ValueError("the range holds nothing at this price")
    return RangeChange((before0 * price_now + before1) / worth, (after0 * price_now + after1) / worth)
