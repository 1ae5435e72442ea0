"""Makes what is drawn of a liquidity position: its range and price, its fees and its hook."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from typing import Any, Final

from permits_app.permits.kept_holdings import KeptRange
from tools_app.core.units import BPS, format_units
from tools_app.portfolio.holdings import HeldPosition
from tools_app.standards.concentrated import ratio_of_sqrt_price, sqrt_price_at_tick
from tools_app.toolkit.views import TokenMeta

MIDDLE: Final = 50
"""The range is the middle half of what is drawn, from 25 to 75; so much of it lies on each side besides."""
FEES_DRAWN_BPS: Final = 1_000
"""Fees of so much of what is in the position fill the whole bar."""
_DIGITS: Final = 5


def tell_range(held: HeldPosition) -> KeptRange | None:
    """The range of a position with its fees and its hook; None for one without a range. The price is the pool's, not
    a feed's.
    """
    facts = held.position.facts
    tokens = {part.token.address: part.token for part in held.parts}
    pair = [tokens.get(str(facts.get(name, ""))) for name in ("token0", "token1")]
    if "pool_tick" not in facts or pair[0] is None or pair[1] is None:
        return None
    lower, upper, tick = (int(facts[name]) for name in ("tick_lower", "tick_upper", "pool_tick"))
    at = max(0, min(100, MIDDLE // 2 + (tick - lower) * MIDDLE // (upper - lower)))
    prices = [_price(each, pair[0], pair[1]) for each in (lower, upper, tick)]
    unit = f"{pair[1].symbol} per {pair[0].symbol}"
    if prices[2] < 1:
        # One is told in the token of which more is paid.
        prices = [1 / prices[1], 1 / prices[0], 1 / prices[2]]
        unit, at = f"{pair[0].symbol} per {pair[1].symbol}", 100 - at
    shown = [_show(each) for each in prices]
    fees, fees_bps = _tell_fees(facts, (pair[0], pair[1]))
    return KeptRange(
        lower=shown[0],
        upper=shown[1],
        price=shown[2],
        unit=unit,
        at=at,
        is_within=bool(facts["in_range"]),
        fees=fees,
        fees_bps=fees_bps,
        fees_at=min(100, fees_bps * 100 // FEES_DRAWN_BPS),
        hook=str(facts.get("hook_could", "")),
        powers=tuple(facts.get("hook_powers", ())),
        is_risky=bool(facts.get("hook_is_risky", False)),
    )


def _tell_fees(
    facts: Mapping[str, Any],  # Any: a protocol's own facts of a position
    pair: tuple[TokenMeta, TokenMeta],
) -> tuple[tuple[str, ...], int]:
    """What waits of both tokens in units, and how much that is of what is in it, in basis points."""
    fees, held = ([int(facts[f"{name}{place}"]) for place in (0, 1)] for name in ("fees", "at_pool_price"))
    price = ratio_of_sqrt_price(sqrt_price_at_tick(int(facts["pool_tick"])))
    worth, of = (price.of(amounts[0]) + amounts[1] for amounts in (fees, held))
    bps = worth * BPS // of if of else 0
    units = [format_units(raw, token.decimals, token.symbol) for raw, token in zip(fees, pair, strict=True) if raw]
    return tuple(units), bps


def _price(pool_tick: int, token0: TokenMeta, token1: TokenMeta) -> Decimal:
    """Token1 for one token0, both whole."""
    with localcontext(prec=40):
        root = Decimal(sqrt_price_at_tick(pool_tick)) / 2**96
        return root * root * Decimal(10) ** (token0.decimals - token1.decimals)


def _show(price: Decimal) -> str:
    with localcontext(prec=_DIGITS):
        rounded = +price
    return f"{rounded:,f}"
