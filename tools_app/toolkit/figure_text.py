"""Writes figures as answers do: dollars, shares, yearly rates. Read cases use it."""

from __future__ import annotations

from decimal import Decimal, localcontext

_YEAR_SECONDS = 31_536_000


def dollars(micro_usd: int) -> str:
    """Micro-USD as answers write them."""
    return f"{Decimal(micro_usd).scaleb(-6):.6f}"


def worth(raw: int, decimals: int, price: int) -> str:
    """Dollars of base units at a feed's answer of eight decimals, rounded down."""
    return dollars(raw * price // 10 ** (decimals + 2))


def decimals_text(value: int, scale: int, places: int) -> str:
    """`value` of `scale` as a decimal with so many places, rounded down."""
    scaled = value * 10**places // scale
    return f"{'-' * (scaled < 0)}{abs(scaled) // 10**places}.{abs(scaled) % 10**places:0{places}d}"


def percent(part: int, whole: int, places: int = 4) -> str:
    """A part of a whole in percent, rounded down."""
    return decimals_text(100 * part, whole, places)


def compounded_percent(rate: int, scale: int, places: int = 4) -> str:
    """What a yearly rate of `scale` comes to when every second's interest bears interest, in percent."""
    with localcontext() as context:
        context.prec = 60
        grown = (1 + Decimal(rate) / scale / _YEAR_SECONDS) ** _YEAR_SECONDS - 1
        return decimals_text(int(grown * 10**30), 10**28, places)
