"""Sky's savings rate: what sUSDS pays a second, made a yearly rate of it."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.lending import PPM

SSR: Final = "function ssr() view returns (uint256)"
"""What a unit becomes within a second, with 27 decimals; whoever governs Sky may change it any moment."""
RAY: Final = 10**27
YEAR_SECONDS: Final = 365 * 86_400


def yearly_ppm(ssr: int) -> int:
    """Millionths a year, with interest on interest as the vault counts it."""
    return ((_power(ssr, YEAR_SECONDS) - RAY) * PPM + RAY // 2) // RAY


def _power(x: int, n: int) -> int:
    """x to the n with 27 decimals, rounded at each step as the vault rounds."""
    z = x if n % 2 else RAY
    n //= 2
    while n:
        x = (x * x + RAY // 2) // RAY
        if n % 2:
            z = (z * x + RAY // 2) // RAY
        n //= 2
    return z
