"""Markets drawn from a seed, and what a claim costs in them by another computation: decimals with sixty places."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext

from tools_app.protocols.pendle.market_maths import WAD, YEAR_SECONDS, Market, price_of_claim

STATES = 1_000
SEED = 20_261_129
NOW = 1_795_000_000


def make_markets(count: int = STATES) -> list[Market]:
    chance = random.Random(SEED)
    found: list[Market] = []
    while len(found) < count:
        left = chance.randrange(86_400, 5 * YEAR_SECONDS)
        shares = chance.randrange(10**21, 10**26)
        market = Market(
            claims=shares * chance.randrange(20, 300) // 100,
            shares=shares,
            supply=shares,
            scalar_root=chance.randrange(10, 200) * WAD,
            expiry=NOW + left,
            fee_root=chance.randrange(1, 10) * 10**15,
            reserve_percent=80,
            ln_rate=chance.randrange(10**15, 3 * 10**17),
            index=chance.randrange(WAD, 2 * WAD),
            now=NOW,
        )
        found.append(market)
    return found


def _exact_price(market: Market) -> Decimal:
    """1 / e^(rt), with sixty places and the library's own exponential."""
    years = Decimal(market.seconds_left) / YEAR_SECONDS
    return (-(Decimal(market.ln_rate) / WAD) * years).exp()


def worst_price_bps() -> Decimal:
    """How far the market's price of a claim is from the exact one at worst, in basis points of it."""
    with localcontext() as context:
        context.prec = 60
        return 10_000 * max(
            abs(Decimal(price_of_claim(each.ln_rate, each.seconds_left)) / WAD / _exact_price(each) - 1)
            for each in make_markets()
        )
