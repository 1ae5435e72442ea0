"""Writes a liquidity position JSON-ready for drawing: its range and price, its fees and its hook."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from typing import Any, Final

from tools_app.core.units import BPS, format_units
from tools_app.portfolio.holdings import HeldPosition
from tools_app.standards.concentrated import ratio_of_sqrt_price, sqrt_price_at_tick
from tools_app.toolkit.views import TokenMeta

MIDDLE: Final = 50
"""The range is the middle half of what is drawn, from 25 to 75; so much of it lies on each side besides."""
FEES_DRAWN_BPS: Final = 1_000
"""Fees of so much of what is in the position fill the whole bar."""
_DIGITS: Final = 5


def tell_range(held: HeldPosition) -> dict[str, Any] | None:
    """`lower`, `upper`, `price` in `unit` (as `USDC per WETH`), `at` from 0 to 100 on the drawing, and whether it is
    within; None for a position without a range. The price is the pool's, not a feed's.

    `fees` are what waits of both tokens, `fees_bps` how much that is of what is in it, at that price, and `fees_at`
    from 0 to 100 on the drawing. `hook` says what a stranger's code in its pool could do, empty without one, and
    `powers` names it; `is_risky` is on where that is to take money or to keep it.
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
    return {
        "lower": shown[0],
        "upper": shown[1],
        "price": shown[2],
        "unit": unit,
        "at": at,
        "is_within": bool(facts["in_range"]),
        **_tell_fees(facts, (pair[0], pair[1])),
        "hook": str(facts.get("hook_could", "")),
        "powers": list(facts.get("hook_powers", ())),
        "is_risky": bool(facts.get("hook_is_risky", False)),
    }


def _tell_fees(facts: Mapping[str, Any], pair: tuple[TokenMeta, TokenMeta]) -> dict[str, object]:
    fees, held = ([int(facts[f"{name}{place}"]) for place in (0, 1)] for name in ("fees", "at_pool_price"))
    price = ratio_of_sqrt_price(sqrt_price_at_tick(int(facts["pool_tick"])))
    worth, of = (price.of(amounts[0]) + amounts[1] for amounts in (fees, held))
    bps = worth * BPS // of if of else 0
    units = [format_units(raw, token.decimals, token.symbol) for raw, token in zip(fees, pair, strict=True) if raw]
    return {"fees": units, "fees_bps": bps, "fees_at": min(100, bps * 100 // FEES_DRAWN_BPS)}


def _price(pool_tick: int, token0: TokenMeta, token1: TokenMeta) -> Decimal:
    """Token1 for one token0, both whole."""
    with localcontext(prec=40):
        root = Decimal(sqrt_price_at_tick(pool_tick)) / 2**96
        return root * root * Decimal(10) ** (token0.decimals - token1.decimals)


def _show(price: Decimal) -> str:
    with localcontext(prec=_DIGITS):
        rounded = +price
    return f"{rounded:,f}"
