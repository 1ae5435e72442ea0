"""Says in a word how large a trade is for its pool. Pure."""

from __future__ import annotations

from typing import Final

_BOUNDS: Final = ((10, "LOW"), (100, "MEDIUM"), (500, "HIGH"))
"""Below so many basis points of what the pool holds."""
_LARGEST: Final = "CRITICAL"
_BPS: Final = 10_000
SIZES: Final = (*(name for _, name in _BOUNDS), _LARGEST)


def name_trade_size(part: int, of: int) -> str:
    """LOW under a tenth of a percent of what the pool holds, MEDIUM under one, HIGH under five, else CRITICAL."""
    return next((name for bound, name in _BOUNDS if part * _BPS < bound * of), _LARGEST)
