"""`data_get_token_price`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from tools_app.chain.feeds import PriceUnavailable
from tools_app.core.errors import GolemError
from tools_app.core.ratio import Ratio, decimal_text, ratio_text
from tools_app.core.units import BPS, MICRO_USD_PER_USD
from tools_app.portfolio.history_from_logs import read_answer_at
from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import ChainMarkets, markets_on
from tools_app.subsystems.data.family import data
from tools_app.subsystems.data.pool_figures import read_figures
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.params import Token
from tools_app.toolkit.result import UsdAmount
from tools_app.toolkit.views import FeedPrice, TokenMeta

US_DOLLAR = "USD"
DAY_SECONDS = 86_400
_OF_FEED = "of the price feed, since no pool tells it"


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """What `data_get_token_price` answers. Prices are decimal text per whole token, percentages decimal text."""

    token: TokenMeta
    chain: int
    quote_currency: str
    price: str
    source: str
    pool_address: str | None
    feed_price_usd: str | None
    deviation_from_feed_bps: int | None
    price_change_24h: str | None
    price_change_reason: str | None
    volume_24h_usd: UsdAmount | None
    volume_reason: str | None
    timestamp: str


@data.read(
    budget=TickBudget.FAST,
    aliases=("get_token_price",),
    snippet=(
        "token_price: what one token is worth now, in dollars or another token, from its deepest pool, beside"
        " its price feed and its change in 24 hours."
    ),
    guidelines=(
        "A price that deviates from its feed by more than 100 basis points is a warning: do not trade on it alone.",
    ),
)
def data_get_token_price(ctx: ReadContext, token: Token, quote_currency: Token = US_DOLLAR) -> TokenPrice:
    """Read the price of one token, in US dollars or in another token.

    Use to value a holding or to check a quote. The price is that of the deepest pool of a market against a token
    with a feed (source `slot0` for V3, `reserves` for V2), or the feed's own when there is no pool (`feed`).
    Does not average over time: a large swap in the same block moves it, so compare it with the feed.
    """
    reader = ctx.chain()
    markets = markets_on(reader.chain_id)
    valuer = TokenPricer(reader, markets)
    meta = reader.token(token)
    ctx.step("Reading pools")
    _preload(reader, markets, meta, quote_currency)
    priced = _price_in_pool(reader, markets, valuer, meta)
    feed = valuer.feed(meta)
    if priced is None and feed is None:
        raise PriceUnavailable(
            f"{meta.symbol} has neither a feed nor a pool against a token with one", token=meta.address
        )
    pool, hub, usd = priced if priced is not None else (None, None, feed[1] if feed else Ratio(0, 1))
    ctx.step("Reading 24 hours of trades")
    if pool is not None:
        with suppress(GolemError):
            # Whatever the node cannot tell is told by the reads themselves, with its reason.
            markets.preload_day(reader, pool)
    change, change_reason = _change(reader, valuer, pool, hub, markets.asset(meta))
    if change is None and feed is not None:
        change = _change_of_feed(reader, feed[0])
        change_reason = _OF_FEED if change is not None else change_reason
    volume, volume_reason = None, "the price comes from the feed, not from a pool"
    if pool is not None:
        figures = read_figures(reader, markets, [pool])[0]
        volume, volume_reason = figures.volume_24h, figures.history_reason or ""
    return TokenPrice(
        token=meta,
        chain=reader.chain_id,
        quote_currency=quote_currency.upper() if quote_currency.upper() == US_DOLLAR else quote_currency,
        price=_in_currency(reader, valuer, markets, meta, usd, quote_currency),
        source="feed" if pool is None else ("slot0" if pool.is_concentrated else "reserves"),
        pool_address=pool.id if pool else None,
        feed_price_usd=_dollars(feed[1], meta) if feed else None,
        deviation_from_feed_bps=_deviation(usd, feed[1]) if feed and pool else None,
        price_change_24h=change,
        price_change_reason=change_reason,
        volume_24h_usd=volume,
        volume_reason=volume_reason or None,
        timestamp=datetime.fromtimestamp(reader.block.timestamp, UTC).isoformat(),
    )


def _preload(reader: ChainReader, markets: ChainMarkets, meta: TokenMeta, quote_currency: str) -> None:
    """Two round trips for all that follows but logs: which pools there are beside all feeds, then what is in them."""
    hubs = markets.hubs(reader)
    priced = [meta] if quote_currency.upper() == US_DOLLAR else [meta, reader.token(quote_currency)]
    tokens = [markets.asset(each) for each in priced]
    reader.expect(prices_of=[*priced, *(reader.token(hub) for hub in hubs)], since=reader.block.timestamp - DAY_SECONDS)
    pairs = [(token, hub) for token in tokens for hub in hubs if hub != token]
    markets.find(reader, pairs, with_balances=True)


def _price_in_pool(
    reader: ChainReader, markets: ChainMarkets, valuer: TokenPricer, meta: TokenMeta
) -> tuple[Pool, str, Ratio] | None:
    """Deepest pool, its hub, and micro-USD per base unit; dollar tokens are asked before the wrapped coin."""
    token = markets.asset(meta)
    wrapped, *dollars = markets.hubs(reader)
    for hubs in (dollars, [wrapped]):
        found = valuer.deepest_pool(token, hubs)
        if found is not None:
            pool, hub = found
            price = valuer.price(hub)
            if price is not None:
                return pool, hub, pool.spot_from(token).times(price)
    return None


def _change(
    reader: ChainReader, valuer: TokenPricer, pool: Pool | None, hub: str | None, token: str
) -> tuple[str | None, str | None]:
    """Percent by which the pool's price moved in 24 hours, against a dollar token."""
    if pool is None or hub is None:
        return None, "the price comes from the feed, whose past is not known; data_get_feed_history has it followed"
    if hub == valuer.markets.wrapped_native:
        return None, "the deepest pool is not against a dollar token"
    before, reason = valuer.markets.price_a_day_ago(reader, pool)
    if before is None:
        return None, reason
    then = before if token == pool.token0 else before.inverse()
    now = pool.spot_from(token)
    moved = now.numerator * then.denominator - then.numerator * now.denominator
    hundredths = abs(moved) * 100 * BPS // (then.numerator * now.denominator)
    return decimal_text(hundredths if moved >= 0 else -hundredths, BPS), None


def _change_of_feed(reader: ChainReader, feed: FeedPrice) -> str | None:
    """Percent by which the feed moved in 24 hours; None where the index does not know."""
    before = read_answer_at(reader, feed.feed, reader.block.timestamp - DAY_SECONDS)
    if before is None:
        return None
    then = before.numerator
    moved = feed.answer * before.denominator - then
    hundredths = abs(moved) * 100 * BPS // then
    return decimal_text(hundredths if moved >= 0 else -hundredths, BPS)


def _in_currency(
    reader: ChainReader, valuer: TokenPricer, markets: ChainMarkets, meta: TokenMeta, usd: Ratio, quote_currency: str
) -> str:
    if quote_currency.upper() == US_DOLLAR:
        return _dollars(usd, meta)
    quoted = reader.token(quote_currency)
    other = valuer.price(markets.asset(quoted))
    if other is None:
        raise PriceUnavailable(f"{quoted.symbol} has no dollar price to quote in", token=quoted.address)
    return ratio_text(usd.times(other.inverse()), base_decimals=meta.decimals, quote_decimals=quoted.decimals)


def _dollars(price: Ratio, token: TokenMeta) -> str:
    return decimal_text(price.numerator * 10**token.decimals, price.denominator * MICRO_USD_PER_USD)


def _deviation(price: Ratio, feed: Ratio) -> int:
    difference = abs(price.numerator * feed.denominator - feed.numerator * price.denominator)
    return difference * BPS // (feed.numerator * price.denominator)
