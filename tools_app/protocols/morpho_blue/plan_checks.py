"""Checks what a plan must not do at Morpho Blue: stand a debt on too little, or trust an oracle that is off.

Collateral counts at the lower of the market's own oracle and the price feeds. The two must lie near each other for
anything that takes risk; what leaves never asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.core.errors import Recovery
from tools_app.core.units import format_units
from tools_app.protocols.morpho_blue import math
from tools_app.protocols.morpho_blue.errors import OracleUnusable
from tools_app.protocols.morpho_blue.market import Market
from tools_app.protocols.morpho_blue.plans import settle
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS, LEAST_FREE_BPS, MarketClosed
from tools_app.toolkit.positions import HealthTooLow
from tools_app.toolkit.views import FeedPrice, TokenMeta

ORACLE_TOLERANCE_BPS: Final = 500


@dataclass(frozen=True, slots=True)
class Priced:
    """A market with its tokens; `price` is the lower of oracle and feeds, as the oracle tells it."""

    market: Market
    loan: TokenMeta
    collateral: TokenMeta
    price: int


def price_market(reader: ChainReader, market: Market, loan: TokenMeta, collateral: TokenMeta) -> Priced:
    """The market at the lower price. Raises OracleUnusable, PriceUnavailable, PriceStale."""
    reader.preload(prices_of=[loan, collateral])
    feeds = scale_feeds(reader.price(loan), loan, reader.price(collateral), collateral)
    if market.price is None:
        raise OracleUnusable(f"the oracle of market {market.id} does not answer", market_id=market.id)
    apart = abs(market.price - feeds) * math.BPS // max(feeds, 1)
    if apart > ORACLE_TOLERANCE_BPS:
        raise OracleUnusable(
            f"the oracle of market {market.id} is {apart} bps away from the price feeds; at most"
            f" {ORACLE_TOLERANCE_BPS} are trusted",
            market_id=market.id,
            oracle_price=str(market.price),
            feeds_price=str(feeds),
        )
    return Priced(market, loan, collateral, min(market.price, feeds))


def scale_feeds(of_loan: FeedPrice, loan: TokenMeta, of_collateral: FeedPrice, collateral: TokenMeta) -> int:
    """Base units of the loan token for one of collateral at the feeds, times 1e36, rounded down."""
    numerator = math.ORACLE_SCALE * of_collateral.answer * 10 ** (of_loan.decimals + loan.decimals)
    return int(numerator // (of_loan.answer * 10 ** (of_collateral.decimals + collateral.decimals)))


def check_borrow(priced: Priced, *, collateral: int, owed: int, amount: int) -> int:
    """What is owed after borrowing `amount` more, with the interest until then; cover over it must be enough.

    Raises HealthTooLow naming the most that passes.
    """
    market = priced.market
    after = owed + amount + settle(market, owed + amount)
    most = math.most_debt(
        collateral=collateral, price=priced.price, lltv=market.params.lltv, floor_bps=DEFAULT_HEALTH_FLOOR_BPS
    )
    if after > most:
        spare = most - owed
        room = max(0, spare - settle(market, most))
        token = priced.loan
        raise HealthTooLow(
            f"borrowing {format_units(amount, token.decimals, token.symbol)} would leave a health under"
            f" {DEFAULT_HEALTH_FLOOR_BPS} bps; at most {format_units(room, token.decimals, token.symbol)} passes",
            most=str(room),
            least_health_bps=str(DEFAULT_HEALTH_FLOOR_BPS),
        )
    return after


def check_release(priced: Priced, *, collateral: int, owed: int, amount: int) -> None:
    """Collateral may leave a debt only down to the floor. Raises HealthTooLow naming the most that passes."""
    market = priced.market
    least = math.least_collateral(
        debt=owed + settle(market, owed),
        price=priced.price,
        lltv=market.params.lltv,
        floor_bps=DEFAULT_HEALTH_FLOOR_BPS,
    )
    if collateral - amount < least:
        token = priced.collateral
        room = max(0, collateral - least)
        raise HealthTooLow(
            f"taking {format_units(amount, token.decimals, token.symbol)} out would leave a health under"
            f" {DEFAULT_HEALTH_FLOOR_BPS} bps; at most {format_units(room, token.decimals, token.symbol)} passes",
            most=str(room),
            least_health_bps=str(DEFAULT_HEALTH_FLOOR_BPS),
        )


def check_used(market: Market, token: TokenMeta) -> None:
    """Nothing is lent into a market that has next to nothing to give out. Raises MarketClosed."""
    supplied = market.state.supply_assets
    if market.liquidity * math.BPS < supplied * LEAST_FREE_BPS:
        raise MarketClosed(
            f"the market is lent out whole: {format_units(market.liquidity, token.decimals, token.symbol)} of"
            f" {format_units(supplied, token.decimals, token.symbol)} can be taken out now",
            recovery=Recovery.WAIT,
            cleared_by="others repay or lend",
            market_id=market.id,
            reason="used",
        )


def check_liquidity(market: Market, token: TokenMeta, amount: int) -> None:
    """Raises MarketClosed where the market cannot give so much of its loan token."""
    if amount > market.liquidity:
        raise MarketClosed(
            f"the market can give {format_units(market.liquidity, token.decimals, token.symbol)} now",
            market_id=market.id,
            reason="liquidity",
            room=str(market.liquidity),
        )


def ratio_bps(priced: Priced, *, collateral: int, owed: int) -> int | None:
    """Collateral over debt by value; None without debt."""
    return math.quote_collateral(collateral, priced.price) * math.BPS // owed if owed else None
