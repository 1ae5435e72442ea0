"""What happened in pools during the last 24 hours, from their own logs at the pinned block; no subgraph.

A figure that the chain's history cannot support is absent with its reason, never zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tools_app.chain.abi import event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.core.errors import GolemError
from tools_app.core.ratio import Ratio
from tools_app.protocols.uniswap.addresses import NAME, UniswapDeployment
from tools_app.protocols.uniswap.v2 import math as v2_math
from tools_app.protocols.uniswap.v4.addresses import V4Contracts, v4_on
from tools_app.protocols.uniswap.v4.opened_pools import OPENED, read_opened
from tools_app.standards.concentrated import ratio_of_sqrt_price
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import CreatedPool, Pool, PoolDay, TradeRead
from tools_app.toolkit.views import LogEntry, LogQuery

DAY_SECONDS = 86_400
SWAP_V3 = (
    "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1,"
    " uint160 sqrtPriceX96, uint128 liquidity, int24 tick)"
)
SWAP_V4 = (
    "event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,"
    " uint128 liquidity, int24 tick, uint24 fee)"
)
SWAP_V2 = (
    "event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out,"
    " uint256 amount1Out, address indexed to)"
)
SYNC_V2 = "event Sync(uint112 reserve0, uint112 reserve1)"
_NOT_COUNTED = (
    "days of V4 pools are counted from this server's index alone; stream_pool_events, or a position in it, has a pool"
    " followed"
)
NOT_COMPUTED = (
    "swaps in V4 pools are not computed here: their ticks are not read, and a hook may change what a swap gives"
)
INITIALIZE_V3 = "event Initialize(uint160 sqrtPriceX96, int24 tick)"
POOL_CREATED = (
    "event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing,"
    " address pool)"
)
PAIR_CREATED = "event PairCreated(address indexed token0, address indexed token1, address pair, uint256 number)"

# How far back before the window the last price is looked for, and in what steps.
_PRICE_STEPS = (2_000, 20_000, 100_000)


@dataclass(slots=True)
class _Running:
    in0: int = 0
    in1: int = 0
    swaps: int = 0
    prices: list[Ratio] = field(default_factory=list)


def first_block_of_day(reader: ChainReader) -> int | None:
    """The first block of the last 24 hours; None when the chain itself is younger than that."""
    since = reader.block.timestamp - DAY_SECONDS
    first = reader.first_block_since(since).number
    return first if first > 0 else None


def read_days(reader: ChainReader, deployment: UniswapDeployment, pools: Sequence[Pool]) -> dict[str, PoolDay]:
    """The last 24 hours of each pool by address; a node that cannot tell makes every one a reason."""
    if not pools:
        return {}
    shared = [pool for pool in pools if pool.version == "v4"]
    if shared:
        others = [pool for pool in pools if pool.version != "v4"]
        return {**read_days(reader, deployment, others), **_all_missing(shared, _NOT_COUNTED)}
    try:
        first = first_block_of_day(reader)
        if first is None:
            return _all_missing(pools, "the chain's history is shorter than 24 hours")
        made = _look_for(reader, _pools_created(deployment, first, reader.block.number))
        young = {created.id for log in made if (created := _created(log)) is not None}
        logs = _look_for(reader, _trades_since(reader, pools, first))
    except GolemError as error:
        return _all_missing(pools, f"the chain's logs cannot be read ({error.code})")
    running = {pool.id: _Running() for pool in pools}
    for log in logs:
        if log.address in running:
            _count(running[log.address], log)
    return {
        pool.id: PoolDay(reason="the pool is younger than 24 hours")
        if pool.id in young
        else PoolDay(found.in0, found.in1, found.swaps, tuple(found.prices))
        for pool in pools
        for found in (running[pool.id],)
    }


def read_price_a_day_ago(reader: ChainReader, pool: Pool) -> tuple[Ratio | None, str | None]:
    """Token1 per token0 24 hours ago: that of the last trade before then. (None, reason) when it cannot be known."""
    if pool.version == "v4":
        return None, _NOT_COUNTED
    try:
        first = first_block_of_day(reader)
        if first is None:
            return None, "the chain's history is shorter than 24 hours"
        end = first - 1
        for step in _PRICE_STEPS:
            start = max(0, end - step + 1)
            logs = _look_for(reader, _prices_between(pool, start, end))
            if logs:
                return _price_in(logs[-1]), None
            if start == 0:
                return None, "the pool is younger than 24 hours"
            end = start - 1
    except GolemError as error:
        return None, f"the chain's logs cannot be read ({error.code})"
    return None, f"the pool had no trade in the {first - end} blocks before the last 24 hours"


def list_created(
    reader: ChainReader, deployment: UniswapDeployment, *, from_block: int, to_block: int | None = None
) -> list[CreatedPool]:
    """Pools the factories and V4's manager made from a block to another (the head), oldest first.

    Raises RpcUnavailable.
    """
    end = reader.block.number if to_block is None else min(to_block, reader.block.number)
    v4 = v4_on(reader.chain_id)
    found: list[CreatedPool | None] = []
    for log in _look_for(reader, _pools_created(deployment, from_block, end, v4)):
        of_v4 = read_opened(log, v4, deployment.wrapped_native) if v4 is not None else None
        found.append(of_v4 or _created(log))
    return [created for created in found if created is not None]


def preload_day(reader: ChainReader, deployment: UniswapDeployment, pool: Pool) -> None:
    """Ask for what `read_days` and `read_price_a_day_ago` of one pool look at, in one round trip of logs.

    Raises the node errors; without history there is nothing to ask.
    """
    if pool.version == "v4":
        return
    first = first_block_of_day(reader)
    if first is None:
        return
    head = reader.block.number
    before = _prices_between(pool, max(0, first - _PRICE_STEPS[0]), first - 1)
    reader.preload_logs([_pools_created(deployment, first, head), _trades_since(reader, [pool], first), before])


def _trades_since(reader: ChainReader, pools: Sequence[Pool], first: int) -> LogQuery:
    topics = (event_topic(SWAP_V3), event_topic(SWAP_V2), event_topic(SYNC_V2))
    return LogQuery(tuple(pool.id for pool in pools), (topics,), first, reader.block.number)


def _prices_between(pool: Pool, start: int, end: int) -> LogQuery:
    signatures = (SYNC_V2,) if pool.version == "v2" else (SWAP_V3, INITIALIZE_V3)
    return LogQuery((pool.id,), (tuple(event_topic(each) for each in signatures),), start, end)


def _pools_created(deployment: UniswapDeployment, start: int, end: int, v4: V4Contracts | None = None) -> LogQuery:
    topics: tuple[str, ...] = (event_topic(POOL_CREATED), event_topic(PAIR_CREATED))
    addresses: tuple[str, ...] = (deployment.v2_factory, deployment.v3_factory)
    if v4 is not None:
        topics, addresses = (*topics, event_topic(OPENED)), (*addresses, v4.manager)
    return LogQuery(addresses, (topics,), start, end)


def _look_for(reader: ChainReader, query: LogQuery) -> list[LogEntry]:
    return reader.logs(
        address=query.addresses, topics=query.topics, from_block=query.from_block, to_block=query.to_block
    )


def _all_missing(pools: Sequence[Pool], reason: str) -> dict[str, PoolDay]:
    return {pool.id: PoolDay(reason=reason) for pool in pools}


@dataclass(frozen=True, slots=True)
class _Swapped:
    amount0: int
    amount1: int
    sqrt_price_x96: int


@dataclass(frozen=True, slots=True)
class _Begun:
    sqrt_price_x96: int


@dataclass(frozen=True, slots=True)
class _SwappedV2:
    amount0_in: int
    amount1_in: int


@dataclass(frozen=True, slots=True)
class _Reserves:
    reserve0: int
    reserve1: int


@dataclass(frozen=True, slots=True)
class _PoolMade:
    token0: str
    token1: str
    fee: int
    pool: str


@dataclass(frozen=True, slots=True)
class _PairMade:
    token0: str
    token1: str
    pair: str


_SWAPS_V3: Final = AbiEvent(SWAP_V3, _Swapped)
_SWAPS_V4: Final = AbiEvent(SWAP_V4, _Swapped)
_SWAPS_V2: Final = AbiEvent(SWAP_V2, _SwappedV2)
_BEGINNINGS_V3: Final = AbiEvent(INITIALIZE_V3, _Begun)
_SYNCS_V2: Final = AbiEvent(SYNC_V2, _Reserves)
_POOLS_V3: Final = AbiEvent(POOL_CREATED, _PoolMade)
_PAIRS_V2: Final = AbiEvent(PAIR_CREATED, _PairMade)


def read_trade(log: LogEntry) -> TradeRead | None:
    """What a log of a pool says: price and amounts of a V3 or V4 swap, amounts of a V2 swap, the price of its reserves.

    A V4 log speaks of currencies, which may stand the other way round than the pool's tokens.
    """
    v3 = _SWAPS_V3.read(log)
    if v3 is not None:
        if not v3.sqrt_price_x96:
            return None
        return TradeRead(ratio_of_sqrt_price(v3.sqrt_price_x96), max(0, v3.amount0), max(0, v3.amount1))
    v4 = _SWAPS_V4.read(log)
    if v4 is not None:
        if not v4.sqrt_price_x96:
            return None
        # The manager tells what the trader's account changes by: what goes into the pool is below zero.
        return TradeRead(ratio_of_sqrt_price(v4.sqrt_price_x96), max(0, -v4.amount0), max(0, -v4.amount1))
    v2 = _SWAPS_V2.read(log)
    if v2 is not None:
        return TradeRead(None, v2.amount0_in, v2.amount1_in)
    price = _price_in(log)
    return TradeRead(price) if price is not None else None


def _count(running: _Running, log: LogEntry) -> None:
    found = read_trade(log)
    if found is None:
        return
    if found.price is not None:
        running.prices.append(found.price)
    if found.in0 is not None and found.in1 is not None:
        running.in0 += found.in0
        running.in1 += found.in1
        running.swaps += 1


def _price_in(log: LogEntry) -> Ratio | None:
    found = _SWAPS_V3.read(log) or _BEGINNINGS_V3.read(log)
    if found is not None:
        return ratio_of_sqrt_price(found.sqrt_price_x96)
    sync = _SYNCS_V2.read(log)
    return Ratio(sync.reserve1, sync.reserve0) if sync is not None and sync.reserve0 > 0 else None


def _created(log: LogEntry) -> CreatedPool | None:
    v3 = _POOLS_V3.read(log)
    if v3 is not None:
        return _made(log, v3.pool, "v3", (v3.token0, v3.token1), v3.fee)
    v2 = _PAIRS_V2.read(log)
    if v2 is not None:
        return _made(log, v2.pair, "v2", (v2.token0, v2.token1), v2_math.FEE)
    return None


def _made(log: LogEntry, address: str, version: str, tokens: tuple[str, str], fee: int) -> CreatedPool:
    return CreatedPool(
        id=address,
        version=version,
        token0=tokens[0],
        token1=tokens[1],
        fee=fee,
        block_number=log.block_number,
        tx_hash=log.tx_hash,
        protocol=NAME,
        block_hash=log.block_hash,
        log_index=log.log_index,
    )
