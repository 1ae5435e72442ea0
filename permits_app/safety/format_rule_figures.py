"""How a rule writes what it saw: every figure is text with its unit."""

from __future__ import annotations

from decimal import Decimal

from tools_app.core.units import format_units
from tools_app.toolkit.views import TokenMeta


def format_bps(bps: int) -> str:
    """`250` -> `250 bps (2.5%)`."""
    percent = f"{Decimal(bps) / 100:f}"
    return f"{bps} bps ({percent.rstrip('0').rstrip('.') if '.' in percent else percent}%)"


def format_ratio(bps: int) -> str:
    """`15000` -> `1.50`, rounded down: health and cover, where 1.00 is liquidation."""
    return f"{bps // 10_000}.{bps % 10_000 // 100:02d}"


def format_amount(raw: int, token: TokenMeta) -> str:
    """`1500000` USDC -> `1.5 USDC (1500000 base units)`."""
    return f"{format_units(raw, token.decimals, token.symbol)} ({raw} base units)"
