"""A pool looked at once: its tokens, its state, and what an amount of it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from tools_app.chain.feeds import PriceUnavailable
from tools_app.chain.networks import get_network
from tools_app.core.errors import GolemError
from tools_app.core.ratio import Ratio
from tools_app.core.units import value_in_micro_usd
from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import ChainMarkets, markets_on
from tools_app.portfolio.pool_history import PoolPast, read_past
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.markets import Markets, Pool, PoolNotFound
from tools_app.toolkit.result import UsdAmount
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class PoolSnapshot:
    """A pool of a market at one block."""

    reader: ChainReader
    chain: ChainMarkets
    pool: Pool
    valuer: TokenPricer

    @property
    def markets(self) -> Markets:
        """Whose pool it is."""
        return self.chain.of_pool(self.pool)

    @property
    def at(self) -> datetime:
        """The time of the block."""
        return datetime.fromtimestamp(self.reader.block.timestamp, UTC)

    @property
    def tokens(self) -> tuple[TokenMeta, TokenMeta]:
        """Of the pool, in its order."""
        return self.reader.token(self.pool.token0), self.reader.token(self.pool.token1)

    @property
    def block_seconds(self) -> float:
        """How far apart the blocks of its chain are."""
        return get_network(self.reader.chain_id).block_seconds

    def past(self, hours: int) -> PoolPast:
        """Its trades. Raises InsufficientHistory."""
        return read_past(self.reader, self.markets, self.pool, hours=hours)

    def dollars1(self, amount1: float) -> UsdAmount | None:
        """What base units of token1 are worth; None without a price."""
        price = self.valuer.price(self.pool.token1)
        if price is None:
            return None
        return UsdAmount(round(amount1 * price.numerator / price.denominator))

    def price_of(self, token: str) -> Ratio:
        """Micro-USD per base unit. Raises PriceUnavailable."""
        price = self.valuer.price(token)
        if price is None:
            raise PriceUnavailable(f"{self.reader.token(token).symbol} has no dollar price", token=token)
        return price

    def price_gas(self, gas: int) -> int | None:
        """Micro-USD of so much gas at the fees of the next block; None where the coin has no price."""
        return price_gas(self.reader, gas)

    def worth(self) -> int | None:
        """Micro-USD of what it holds; None where a token has no price."""
        held0, held1 = self.chain.depth(self.reader, [self.pool])[self.pool.id]
        return self.valuer.value([(self.pool.token0, held0), (self.pool.token1, held1)])


def look_at(ctx: ReadContext, chain_id: int | None, address: str) -> PoolSnapshot:
    """The pool at `address`. Raises PoolNotFound, also for one that never had a price."""
    reader = ctx.chain(chain_id)
    markets = markets_on(reader.chain_id)
    pool = markets.read(reader, address)
    if not pool.is_usable:
        raise PoolNotFound(f"the pool {address} was made but has no price", pool_address=address)
    return PoolSnapshot(reader, markets, pool, TokenPricer(reader, markets))


def price_gas(reader: ChainReader, gas: int) -> int | None:
    """Micro-USD of so much gas at the fees of the next block; None where the coin has no price."""
    try:
        coin = reader.native()
        feed = reader.price(coin)
        fees = reader.fees()
    except GolemError:
        return None
    wei = gas * (fees.base_fee + fees.priority_fee)
    return value_in_micro_usd(raw=wei, token_decimals=coin.decimals, price=feed.answer, price_decimals=feed.decimals)
