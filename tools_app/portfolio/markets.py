"""The markets of a chain, of all protocols that have any, as one: what the data tools, streams and reviewers ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools_app.chain.chains import get_deployment
from tools_app.chain.networks import ChainNotSupported
from tools_app.core.ratio import Ratio
from tools_app.portfolio.indexed_days import read_kept_days
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, MarketRead
from tools_app.toolkit.markets import (
    CreatedPool,
    Markets,
    Pool,
    PoolDay,
    PoolNotFound,
    PositionNotFound,
    RangePosition,
    RangePositions,
    pool_asset,
)
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import TokenMeta


def list_markets(chain_id: int) -> dict[str, Markets]:
    """By protocol; empty on a chain without."""
    return {each.name: each.markets for each in SHELF.on(chain_id) if each.markets is not None}


def market_chains() -> frozenset[int]:
    """Every chain on which a protocol's markets are served."""
    return frozenset(chain for each in SHELF if each.markets is not None for chain in each.markets.chains)


def markets_on(chain_id: int) -> ChainMarkets:
    """All markets of a chain. Raises ChainNotSupported where there are none."""
    found = list_markets(chain_id)
    if not found:
        known = sorted(market_chains())
        raise ChainNotSupported(f"no markets are served on chain {chain_id}", chain_id=chain_id, chains=known)
    return ChainMarkets(chain_id, found)


@dataclass(frozen=True, slots=True)
class ChainMarkets:
    """The markets of one chain, by protocol. What concerns one pool is asked of the protocol it belongs to."""

    chain_id: int
    by_protocol: dict[str, Markets]

    def of_pool(self, pool: Pool) -> Markets:
        """Whose it is."""
        return self.by_protocol[pool.protocol]

    def asset(self, token: TokenMeta) -> str:
        """The address pools know a token by."""
        return pool_asset(self.wrapped_native, token)

    @property
    def wrapped_native(self) -> str | None:
        """What wraps the chain's coin."""
        return get_deployment(self.chain_id).wrapped_native

    def hubs(self, reader: ChainReader) -> list[str]:
        """The wrapped coin first, then dollar tokens."""
        return list(dict.fromkeys(hub for each in self.by_protocol.values() for hub in each.hubs(reader)))

    def find(self, reader: ChainReader, pairs: Sequence[tuple[str, str]], *, with_balances: bool = False) -> list[Pool]:
        """Every pool of these pairs with its state."""
        found = (each.find(reader, pairs, with_balances=with_balances) for each in self.by_protocol.values())
        return [pool for pools in found for pool in pools]

    def read(self, reader: ChainReader, name: str) -> Pool:
        """The pool of a name, which is an address or an id of 32 bytes. Raises PoolNotFound."""
        missing: PoolNotFound | None = None
        for each in self.by_protocol.values():
            try:
                return each.read(reader, name)
            except PoolNotFound as error:
                missing = missing or error
        raise missing or PoolNotFound(f"{name} is no pool", pool_address=name)

    def recognize(self, reader: ChainReader, names: Sequence[str]) -> dict[str, Pool]:
        """Which of these are pools, of any protocol."""
        found: dict[str, Pool] = {}
        for each in self.by_protocol.values():
            found.update(each.recognize(reader, [name for name in names if name not in found]))
        return found

    def states(self, reader: ChainReader, pools: Sequence[Pool]) -> list[Pool]:
        """With their state; one that does not answer is left out."""
        return [pool for markets, own in self._grouped(pools) for pool in markets.states(reader, own)]

    def depth(self, reader: ChainReader, pools: Sequence[Pool]) -> dict[str, tuple[int, int]]:
        """Token0 and token1 base units each holds."""
        return {at: held for markets, own in self._grouped(pools) for at, held in markets.depth(reader, own).items()}

    def days(self, reader: ChainReader, pools: Sequence[Pool]) -> dict[str, PoolDay]:
        """The last 24 hours of each; those that are followed are read from what is kept."""
        kept = read_kept_days(reader, [(self.of_pool(pool), pool) for pool in pools])
        others = [pool for pool in pools if pool.id not in kept]
        told = {at: day for markets, own in self._grouped(others) for at, day in markets.days(reader, own).items()}
        return {address: each.day for address, each in kept.items()} | told

    def price_a_day_ago(self, reader: ChainReader, pool: Pool) -> tuple[Ratio | None, str | None]:
        """Token1 per token0 then, or the reason."""
        kept = read_kept_days(reader, [(self.of_pool(pool), pool)]).get(pool.id)
        if kept is not None:
            return kept.before, None
        return self.of_pool(pool).price_a_day_ago(reader, pool)

    def preload_day(self, reader: ChainReader, pool: Pool) -> None:
        """Ask the node for what the two above look at, in one round trip, unless it is kept. Raises the node errors."""
        if pool.id not in read_kept_days(reader, [(self.of_pool(pool), pool)]):
            self.of_pool(pool).preload_day(reader, pool)

    def created(self, reader: ChainReader, *, from_block: int, to_block: int) -> list[CreatedPool]:
        """Pools made in a range of blocks, oldest first."""
        each = (markets.created(reader, from_block=from_block, to_block=to_block) for markets in self._all())
        found = [pool for pools in each for pool in pools]
        return (
            found if len(self.by_protocol) == 1 else sorted(found, key=lambda pool: (pool.block_number, pool.log_index))
        )

    def of(self, effects: Effects, reader: ChainReader) -> list[tuple[MarketRead, Pool | None]]:
        """The pools that calls trade in; None where there is none of that pair and fee."""
        return [found for each in self._all() for found in each.of(effects, reader)]

    @property
    def ranges(self) -> tuple[RangePositions, ...]:
        """Positions of concentrated liquidity, protocol by protocol."""
        return tuple(each.ranges for each in self._all())

    def read_range(self, reader: ChainReader, position_id: str) -> RangePosition:
        """A position by its id. Raises PositionNotFound."""
        missing: PositionNotFound | None = None
        for each in self.ranges:
            try:
                return each.read(reader, position_id)
            except PositionNotFound as error:
                missing = missing or error
        raise missing or PositionNotFound(f"there is no position {position_id}", position_id=position_id)

    def name_range(self, position: RangePosition) -> PositionRef:
        """How a position is called wherever holdings are counted."""
        return self.of_pool(position.pool).ranges.name(self.chain_id, position.position_id)

    def _all(self) -> Iterator[Markets]:
        return iter(self.by_protocol.values())

    def _grouped(self, pools: Sequence[Pool]) -> Iterator[tuple[Markets, list[Pool]]]:
        for name, markets in self.by_protocol.items():
            own = [pool for pool in pools if pool.protocol == name]
            if own:
                yield markets, own
