"""Tells what markets pay for a restaked token: a feed of it where one is registered, and the pool with most ether in
it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.chain.networks import ChainNotSupported
from tools_app.portfolio.holdings import PriceBook
from tools_app.portfolio.markets import markets_on
from tools_app.portfolio.pool_history import InsufficientHistory, read_past
from tools_app.protocols.liquid_restaking.issuers import WAD
from tools_app.protocols.liquid_restaking.risk import LEAST_DEPTH_WEI
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.views import NATIVE

HOURS_OF_MONTH = 720


@dataclass(frozen=True, slots=True)
class MarketPrice:
    """Wei that a whole token brings, by who says it: `feed`, or the name of a pool."""

    price: int
    source: str
    pool: Pool | None = None


def read_prices(reader: ChainReader, token: str) -> tuple[MarketPrice, ...]:
    """What its feed and its deepest pool against wrapped ether say; nothing of a pool that is too shallow to believe.

    Raises the node's errors.
    """
    found = [each for each in (_read_feed(reader, token), _read_pool(reader, token)) if each is not None]
    return tuple(found)


def lowest(prices: tuple[MarketPrice, ...]) -> MarketPrice | None:
    """The price that says least; None where nobody says any."""
    return min(prices, key=lambda each: each.price, default=None)


def read_trades(reader: ChainReader, token: str, pool: Pool) -> tuple[tuple[int, int], ...]:
    """Block and price of the trades of 30 days in a pool, from this server's index where it follows the pool; nothing
    where they cannot be read. Raises the node's errors.
    """
    try:
        past = read_past(reader, markets_on(reader.chain_id).of_pool(pool), pool, hours=HOURS_OF_MONTH)
    except InsufficientHistory:
        return ()
    is_first = pool.token0 == token
    return tuple((each.block, (each.price if is_first else each.price.inverse()).of(WAD)) for each in past.trades)


def _read_feed(reader: ChainReader, token: str) -> MarketPrice | None:
    registered = next((each for each in reader.registered_tokens() if each.address == token), None)
    if registered is None:
        return None
    book = PriceBook(reader)
    of_token, of_coin = (book.weigh(each, WAD).micro_usd for each in (token, NATIVE))
    return MarketPrice(of_token * WAD // of_coin, "feed") if of_token and of_coin else None


def _read_pool(reader: ChainReader, token: str) -> MarketPrice | None:
    try:
        markets = markets_on(reader.chain_id)
    except ChainNotSupported:
        return None
    wrapped = markets.wrapped_native
    if wrapped is None:
        return None
    pools = [each for each in markets.find(reader, [(token, wrapped)]) if each.is_usable]
    depths = markets.depth(reader, pools) if pools else {}
    ether = {each.id: depths[each.id][0 if each.token0 == wrapped else 1] for each in pools if each.id in depths}
    deepest = max((each for each in pools if each.id in ether), key=lambda each: ether[each.id], default=None)
    if deepest is None or ether[deepest.id] < LEAST_DEPTH_WEI:
        return None
    return MarketPrice(deepest.spot_from(token).of(WAD), deepest.id, deepest)
