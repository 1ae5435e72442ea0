"""Rates with 27 decimals (rays), as Maker's and Sky's contracts count them second by second."""

from __future__ import annotations

from typing import Final

RAY: Final = 10**27
SECONDS_PER_YEAR: Final = 365 * 86_400


def rpow(x: int, n: int) -> int:
    """x to the n in rays, rounded at each step as the contracts round."""
    z = x if n % 2 else RAY
    n //= 2
    while n:
        x = (x * x + RAY // 2) // RAY
        if n % 2:
            z = (z * x + RAY // 2) // RAY
        n //= 2
    return z
