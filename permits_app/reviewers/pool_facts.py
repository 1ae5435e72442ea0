"""The pools that calldata names, measured by the reviewers themselves: address, worth, price history."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.units import value_in_micro_usd
from tools_app.portfolio.markets import list_markets, markets_on
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, MarketRead
from tools_app.toolkit.markets import Pool, PricePoint


@dataclass(frozen=True, slots=True)
class PoolOfCalldata:
    """A pool of the calldata. `sold` and `bought` are token addresses, for a deposit in the pool's own order."""

    pool: Pool
    sold: str
    bought: str

    @property
    def id(self) -> str:
        return self.pool.id

    @property
    def version(self) -> str:
        return self.pool.version

    @property
    def sells_token0(self) -> bool:
        """Whether the token sold is the pool's first one."""
        return int(self.sold, 16) < int(self.bought, 16)


def find_markets(effects: Effects, chain: ChainReader) -> list[tuple[MarketRead, Pool | None]]:
    """The markets `effects` go through, once each; None where there is no pool of that pair and fee."""
    if not list_markets(chain.chain_id):
        return []
    return markets_on(chain.chain_id).of(effects, chain)


def find_pools(effects: Effects, chain: ChainReader) -> tuple[PoolOfCalldata, ...]:
    """The pools `effects` go through, once each; one that does not exist is left out."""
    found = find_markets(effects, chain)
    return tuple(PoolOfCalldata(pool, read.sold, read.bought) for read, pool in found if pool is not None)


def value_pool(pool: PoolOfCalldata, chain: ChainReader) -> int | None:
    """Micro-USD in the pool at feed prices; with one feed the priced side counts twice, with none it is unknown."""
    held = markets_on(chain.chain_id).depth(chain, [pool.pool])[pool.id]
    sides: list[int] = []
    for address, raw in zip((pool.pool.token0, pool.pool.token1), held, strict=True):
        token = chain.token(address)
        try:
            price = chain.price(token)
        except (PriceUnavailable, PriceStale):
            continue
        sides.append(
            value_in_micro_usd(
                raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals
            )
        )
    if not sides:
        return None
    return sum(sides) if len(sides) == len(held) else 2 * sides[0]


def read_prices(pool: PoolOfCalldata, chain: ChainReader, *, from_block: int) -> tuple[PricePoint, ...]:
    """The pool's price after each block in which it changed, from its own logs up to the pinned block."""
    return markets_on(chain.chain_id).of_pool(pool.pool).price_points(chain, pool.pool, from_block=from_block)
