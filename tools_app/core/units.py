"""Money in integers: base units of a token, micro-USD, basis points. Never float.

A raw amount is an integer in the token's base units; a USD value is an integer in millionths of a
dollar; a feed price is an integer with the feed's own number of decimals.
"""

from __future__ import annotations

from decimal import Decimal

MICRO_USD_PER_USD = 1_000_000
BPS = 10_000


def usd_to_micro(usd: str | int | Decimal) -> int:
    """Micro-USD of a dollar figure written as text, an integer or a Decimal; exact, refuses sub-micro digits."""
    scaled = Decimal(usd) * MICRO_USD_PER_USD
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{usd!r} has more than six decimals")
    return int(scaled)


def format_micro_usd(micro: int) -> str:
    """`1234567890` -> `$1,234.57`; values under a cent keep six decimals so that they never read as zero."""
    sign = "-" if micro < 0 else ""
    magnitude = abs(micro)
    if 0 < magnitude < 10_000:
        return f"{sign}${Decimal(magnitude) / MICRO_USD_PER_USD:.6f}"
    cents = (magnitude + 5_000) // 10_000
    return f"{sign}${cents // 100:,}.{cents % 100:02d}"


def format_units(raw: int, decimals: int, symbol: str = "") -> str:
    """`1500000`, 6, `USDC` -> `1.5 USDC`; exact, no rounding, no exponent."""
    sign = "-" if raw < 0 else ""
    whole, fraction = divmod(abs(raw), 10**decimals)
    tail = str(fraction).rjust(decimals, "0").rstrip("0") if fraction else ""
    text = f"{sign}{whole}.{tail}" if tail else f"{sign}{whole}"
    return f"{text} {symbol}" if symbol else text


def value_in_micro_usd(*, raw: int, token_decimals: int, price: int, price_decimals: int) -> int:
    """USD value of `raw` base units at a feed price, rounded up so that a limit never sees too little."""
    numerator = abs(raw) * price * MICRO_USD_PER_USD
    scale: int = 10 ** (token_decimals + price_decimals)
    value = -(-numerator // scale)
    return -value if raw < 0 else value


def net_value_in_micro_usd(*, raw: int, token_decimals: int, price: int, price_decimals: int) -> int:
    """USD value of signed base units, never taken for more than it is: what is held rounded down, what is owed up."""
    return raw * price * MICRO_USD_PER_USD // int(10 ** (token_decimals + price_decimals))


def apply_bps_down(amount: int, bps: int) -> int:
    """`amount` less `bps` basis points, rounded down: the least one accepts to receive."""
    return amount * (BPS - bps) // BPS


def apply_bps_up(amount: int, bps: int) -> int:
    """`amount` plus `bps` basis points, rounded up: the most one accepts to spend."""
    return -(-amount * (BPS + bps) // BPS)
