"""Sky's savings rate: what sUSDS pays a second, made a yearly rate of it."""

from __future__ import annotations

from typing import Final

from tools_app.standards.rays import RAY, SECONDS_PER_YEAR, rpow
from tools_app.toolkit.lending import PPM

SSR: Final = "function ssr() view returns (uint256)"
"""What a unit becomes within a second, with 27 decimals; whoever governs Sky may change it any moment."""


def pays_nothing(ssr: int) -> bool:
    """Whether a unit stays what it is."""
    return ssr <= RAY


def yearly_ppm(ssr: int) -> int:
    """Millionths a year, with interest on interest as the vault counts it."""
    return ((rpow(ssr, SECONDS_PER_YEAR) - RAY) * PPM + RAY // 2) // RAY
