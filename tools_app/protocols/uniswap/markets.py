"""Uniswap's pools and V3 positions for whoever asks through the shelf."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tools_app.chain.abi import event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.core.json_types import JsonObject
from tools_app.core.ratio import Ratio
from tools_app.core.stored_json import read_stored, write_stored
from tools_app.protocols.uniswap import history, pools
from tools_app.protocols.uniswap.addresses import CHAINS, NAME, deployment_on
from tools_app.protocols.uniswap.history import SWAP_V2, SWAP_V3, SWAP_V4, SYNC_V2
from tools_app.protocols.uniswap.pools import GET_PAIR, GET_POOL, ZERO_ADDRESS
from tools_app.protocols.uniswap.positions_in_logs import NFT
from tools_app.protocols.uniswap.routing import list_hubs
from tools_app.protocols.uniswap.v2 import math as v2_math
from tools_app.protocols.uniswap.v3 import positions as v3
from tools_app.protocols.uniswap.v3.ticks import read_tick_spacing, read_ticks
from tools_app.protocols.uniswap.v4 import positions as v4_positions
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap.v4.pools import is_turned_round
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.effects import Effects, MarketRead
from tools_app.toolkit.markets import (
    CreatedPool,
    InitialisedTick,
    Pool,
    PoolDay,
    PoolEvent,
    PositionNotFound,
    PricePoint,
    RangePosition,
    TradeRead,
)
from tools_app.toolkit.pool_hooks import HookPower
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import LogEntry

_MINT_V3 = (
    "event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper,"
    " uint128 amount, uint256 amount0, uint256 amount1)"
)
_BURN_V3 = (
    "event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount,"
    " uint256 amount0, uint256 amount1)"
)
_COLLECT_V3 = (
    "event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper,"
    " uint128 amount0, uint128 amount1)"
)
_MINT_V2 = "event Mint(address indexed sender, uint256 amount0, uint256 amount1)"
_BURN_V2 = "event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)"


class _Event(Protocol):
    """A log of a pool, as its argument names say it."""

    @property
    def amounts(self) -> tuple[int, int]:
        """Base units by currency, positive into the pool."""
        ...

    @property
    def details(self) -> dict[str, object]:
        """What else it says, JSON-ready."""
        ...


@dataclass(frozen=True, slots=True)
class _SwapV4:
    sender: str
    amount0: int
    amount1: int
    sqrt_price_x96: int
    liquidity: int
    tick: int

    @property
    def amounts(self) -> tuple[int, int]:
        """Told from the trader's side."""
        return -self.amount0, -self.amount1

    @property
    def details(self) -> dict[str, object]:
        return {"sender": self.sender, **_state(self.sqrt_price_x96, self.liquidity, self.tick)}


@dataclass(frozen=True, slots=True)
class _SwapV3:
    sender: str
    recipient: str
    amount0: int
    amount1: int
    sqrt_price_x96: int
    liquidity: int
    tick: int

    @property
    def amounts(self) -> tuple[int, int]:
        return self.amount0, self.amount1

    @property
    def details(self) -> dict[str, object]:
        state = _state(self.sqrt_price_x96, self.liquidity, self.tick)
        return {"sender": self.sender, "recipient": self.recipient, **state}


@dataclass(frozen=True, slots=True)
class _SwapV2:
    sender: str
    amount0_in: int
    amount1_in: int
    amount0_out: int
    amount1_out: int
    to: str

    @property
    def amounts(self) -> tuple[int, int]:
        return self.amount0_in - self.amount0_out, self.amount1_in - self.amount1_out

    @property
    def details(self) -> dict[str, object]:
        return {"sender": self.sender, "recipient": self.to}


@dataclass(frozen=True, slots=True)
class _MintV3:
    sender: str
    owner: str
    tick_lower: int
    tick_upper: int
    amount0: int
    amount1: int

    @property
    def amounts(self) -> tuple[int, int]:
        return self.amount0, self.amount1

    @property
    def details(self) -> dict[str, object]:
        return {"sender": self.sender, "owner": self.owner, **_range(self.tick_lower, self.tick_upper)}


@dataclass(frozen=True, slots=True)
class _BurnV3:
    owner: str
    tick_lower: int
    tick_upper: int
    amount0: int
    amount1: int

    @property
    def amounts(self) -> tuple[int, int]:
        return -self.amount0, -self.amount1

    @property
    def details(self) -> dict[str, object]:
        return {"owner": self.owner, **_range(self.tick_lower, self.tick_upper)}


@dataclass(frozen=True, slots=True)
class _CollectV3:
    owner: str
    recipient: str
    tick_lower: int
    tick_upper: int
    amount0: int
    amount1: int

    @property
    def amounts(self) -> tuple[int, int]:
        return -self.amount0, -self.amount1

    @property
    def details(self) -> dict[str, object]:
        return {"recipient": self.recipient, "owner": self.owner, **_range(self.tick_lower, self.tick_upper)}


@dataclass(frozen=True, slots=True)
class _MintV2:
    sender: str
    amount0: int
    amount1: int

    @property
    def amounts(self) -> tuple[int, int]:
        return self.amount0, self.amount1

    @property
    def details(self) -> dict[str, object]:
        return {"sender": self.sender}


@dataclass(frozen=True, slots=True)
class _BurnV2:
    sender: str
    amount0: int
    amount1: int
    to: str

    @property
    def amounts(self) -> tuple[int, int]:
        return -self.amount0, -self.amount1

    @property
    def details(self) -> dict[str, object]:
        return {"sender": self.sender, "recipient": self.to}


def _state(sqrt_price: int, liquidity: int, tick: int) -> dict[str, object]:
    return {"sqrt_price_x96": str(sqrt_price), "liquidity": str(liquidity), "pool_tick": tick}


def _range(lower: int, upper: int) -> dict[str, object]:
    return {"tick_lower": lower, "tick_upper": upper}


_EVENTS: Final[Mapping[str, Mapping[str, AbiEvent[_Event]]]] = {
    "v4": {"swap": AbiEvent(SWAP_V4, _SwapV4)},
    "v3": {
        "swap": AbiEvent(SWAP_V3, _SwapV3),
        "mint": AbiEvent(_MINT_V3, _MintV3),
        "burn": AbiEvent(_BURN_V3, _BurnV3),
        "collect": AbiEvent(_COLLECT_V3, _CollectV3),
    },
    "v2": {
        "swap": AbiEvent(SWAP_V2, _SwapV2),
        "mint": AbiEvent(_MINT_V2, _MintV2),
        "burn": AbiEvent(_BURN_V2, _BurnV2),
    },
}


@dataclass(frozen=True, slots=True)
class _PriceAfter:
    sqrt_price_x96: int


@dataclass(frozen=True, slots=True)
class _PairReserves:
    reserve0: int
    reserve1: int


_PRICES: Final = {"v3": AbiEvent(SWAP_V3, _PriceAfter), "v4": AbiEvent(SWAP_V4, _PriceAfter)}
_SYNCS: Final = AbiEvent(SYNC_V2, _PairReserves)


@dataclass(frozen=True, slots=True)
class _Remembered:
    """What is kept of a position that was read, to read it again in fewer batches."""

    id: str
    pool: str
    token0: str
    token1: str
    fee: int
    lower: int
    upper: int


_UNTOLD: Final = {
    HookPower.AMOUNTS: "can change what a trade gives, and no log says by how much",
    HookPower.FEES: "can set the fee of each trade anew, so that fees and what is lost cannot be told",
}


class UniswapRanges:
    """V3 positions as their manager lists them, and V4 positions (`v4:NUMBER`), which nobody lists, by their ids."""

    def read(self, reader: ChainReader, position_id: str) -> RangePosition:
        """One position. Raises PositionNotFound."""
        if not v4_positions.is_v4(position_id):
            return v3.read_position(reader, deployment_on(reader.chain_id), position_id)
        found = self.read_many(reader, [position_id])
        if not found:
            raise PositionNotFound(f"there is no position {position_id}", position_id=position_id)
        return found[0]

    def read_many(self, reader: ChainReader, ids: Sequence[str]) -> Sequence[v3.V3Position]:
        """Positions by id: three batches for V3, two for V4."""
        older = [each for each in ids if not v4_positions.is_v4(each)]
        newer = [each for each in ids if v4_positions.is_v4(each)]
        found = v3.read_positions(reader, deployment_on(reader.chain_id), older) if older else []
        v4 = v4_on(reader.chain_id) if newer else None
        return [*found, *(v4_positions.read_positions(reader, v4, newer) if v4 is not None else ())]

    def list_ids(self, reader: ChainReader, owner: str, *, limit: int) -> tuple[list[str], int]:
        """The newest ids of V3 and how many there are."""
        return v3.list_position_ids(reader, deployment_on(reader.chain_id), owner, limit=limit)

    def lists(self, position_id: str) -> bool:
        """Those of V3."""
        return not v4_positions.is_v4(position_id)

    def name(self, chain_id: int, position_id: str) -> PositionRef:
        """As its manager's token."""
        return PositionRef(NAME, NFT, chain_id, position_id)

    def expect_calls(
        self,
        chain_id: int,
        owner: str,
        *,
        held: int,
        limit: int,
        known: Sequence[Mapping[str, Any]],  # Any: JSON of an answer
        empty: Sequence[str] = (),
    ) -> list[ReadCall]:
        """The reads of the two above, in advance."""
        place = deployment_on(chain_id)
        manager = place.v3_position_manager
        calls = [ReadCall(manager, v3.NFT_BALANCE, (owner,))]
        calls += [ReadCall(manager, v3.NFT_BY_INDEX, (owner, index)) for index in range(max(0, held - limit), held)]
        calls += [ReadCall(manager, v3.POSITIONS, (int(each),)) for each in empty if not v4_positions.is_v4(each)]
        v4, rows = v4_on(chain_id), [read_stored(_Remembered, each) for each in known]
        if v4 is not None:
            newer = [each for each in (*empty, *(row.id for row in rows)) if v4_positions.is_v4(each)]
            calls += [call for each in newer for call in v4_positions.record_calls(v4, v4_positions.number_of(each))]
        for row in rows:
            if v4_positions.is_v4(row.id):
                if v4 is not None:
                    number = v4_positions.number_of(row.id)
                    calls += v4_positions.range_calls(row.pool, number, (row.lower, row.upper), v4)
                continue
            calls += [ReadCall(manager, each, (int(row.id),)) for each in (v3.POSITIONS, v3.OWNER_OF)]
            calls.append(ReadCall(place.v3_factory, GET_POOL, (row.token0, row.token1, row.fee)))
            calls += v3.range_calls(row.pool, row.lower, row.upper, manager=manager)
        return calls

    def remember(self, position: RangePosition) -> JsonObject:
        """Id, pool and range."""
        pool = position.pool
        kept = _Remembered(
            id=position.position_id,
            pool=pool.id,
            token0=pool.token0,
            token1=pool.token1,
            fee=pool.fee,
            lower=position.tick_lower,
            upper=position.tick_upper,
        )
        return write_stored(kept)


class UniswapMarkets:
    """V2 and V3 pools."""

    chains = CHAINS
    ranges = UniswapRanges()
    swap_topics = (event_topic(SWAP_V3), event_topic(SWAP_V2), event_topic(SWAP_V4))
    history_topics = tuple(event_topic(each) for each in (SWAP_V3, SWAP_V2, SWAP_V4, SYNC_V2, history.INITIALIZE_V3))

    def describe(self, pool: Pool) -> str:
        """`Uniswap V3`."""
        return f"Uniswap {pool.version.upper()}"

    def hubs(self, reader: ChainReader) -> list[str]:
        """The wrapped coin and the registered dollar tokens without a transfer fee."""
        return list_hubs(reader, deployment_on(reader.chain_id))

    def find(self, reader: ChainReader, pairs: Sequence[tuple[str, str]], *, with_balances: bool = False) -> list[Pool]:
        """Every V2 and V3 pool of these pairs."""
        return pools.find_pools(reader, deployment_on(reader.chain_id), pairs, with_balances=with_balances)

    def locate(self, reader: ChainReader, token0: str, token1: str, fee: int) -> PoolId | None:
        """The V3 pool of a sorted pair and fee."""
        found = reader.call(deployment_on(reader.chain_id).v3_factory, GET_POOL, token0, token1, fee)[0]
        return None if found == ZERO_ADDRESS else PoolId(str(found))

    def read(self, reader: ChainReader, address: str) -> Pool:
        """One pool. Raises PoolNotFound."""
        return pools.read_pool(reader, deployment_on(reader.chain_id), address)

    def recognize(self, reader: ChainReader, addresses: Sequence[str]) -> dict[str, Pool]:
        """Those that a factory names."""
        return pools.recognize_pools(reader, deployment_on(reader.chain_id), addresses)

    def states(self, reader: ChainReader, pools_: Sequence[Pool]) -> list[Pool]:
        """With their state."""
        return pools.read_states(reader, pools_)

    def state_calls(self, pool: Pool) -> list[ReadCall]:
        """Reserves, or price and liquidity."""
        return pools.state_calls([pool])

    def depth(self, reader: ChainReader, pools_: Sequence[Pool]) -> dict[str, tuple[int, int]]:
        """What they hold."""
        return pools.read_balances(reader, pools_)

    def days(self, reader: ChainReader, pools_: Sequence[Pool]) -> dict[str, PoolDay]:
        """From their logs."""
        return history.read_days(reader, deployment_on(reader.chain_id), pools_)

    def price_a_day_ago(self, reader: ChainReader, pool: Pool) -> tuple[Ratio | None, str | None]:
        """That of the last trade before then."""
        return history.read_price_a_day_ago(reader, pool)

    def preload_day(self, reader: ChainReader, pool: Pool) -> None:
        """One round trip of logs."""
        history.preload_day(reader, deployment_on(reader.chain_id), pool)

    def created(self, reader: ChainReader, *, from_block: int, to_block: int) -> list[CreatedPool]:
        """What both factories and V4's manager made."""
        return history.list_created(reader, deployment_on(reader.chain_id), from_block=from_block, to_block=to_block)

    def tick_spacing(self, reader: ChainReader, pool: Pool) -> int:
        """Of a V3 pool."""
        return read_tick_spacing(reader, pool)

    def ticks(self, reader: ChainReader, pool: Pool, *, spacing: int, spacings_each_side: int) -> list[InitialisedTick]:
        """Of a V3 pool."""
        return read_ticks(reader, pool, spacing=spacing, spacings_each_side=spacings_each_side)

    def event_topics(self, pool: Pool, names: Collection[str]) -> list[str]:
        """A V2 pool has no collect."""
        return [event.topic for name, event in _EVENTS[pool.version].items() if name in names]

    def read_event(self, pool: Pool, log: LogEntry) -> PoolEvent | None:
        """A swap, mint, burn or collect."""
        for name, event in _EVENTS[pool.version].items():
            found = event.read(log)
            if found is not None:
                amounts = found.amounts[::-1] if self.is_turned(pool) else found.amounts
                return PoolEvent(name, *amounts, found.details)
        return None

    def of(self, effects: Effects, reader: ChainReader) -> list[tuple[MarketRead, Pool | None]]:
        """V3 pools by pair and fee first, then V2 pairs; asked of the factories in one batch."""
        wanted = [each for each in dict.fromkeys(effects.markets) if each.protocol == NAME]
        wanted.sort(key=lambda each: each.fee is None)
        if not wanted:
            return []
        place = deployment_on(reader.chain_id)
        named = [each for each in wanted if each.pool is not None]
        wanted = [each for each in wanted if each.pool is None]
        calls = [
            ReadCall(place.v2_factory, GET_PAIR, (each.sold, each.bought))
            if each.fee is None
            else ReadCall(place.v3_factory, GET_POOL, (each.sold, each.bought, each.fee))
            for each in wanted
        ]
        answers = reader.call_many(calls) if calls else []
        by_id = pools.recognize_pools(reader, place, [each.pool.text for each in named if each.pool is not None])
        return [
            *((each, by_id.get(each.pool.text if each.pool is not None else "")) for each in named),
            *(
                (each, _pool_of(each, answer.values[0]) if answer.ok and answer.values[0] != ZERO_ADDRESS else None)
                for each, answer in zip(wanted, answers, strict=True)
            ),
        ]

    def why_not_counted(self, pool: Pool) -> str | None:
        """Of V4 pools whose hook sets the fee, or may change what a swap gives: the manager's log tells neither."""
        powers = pool.hooks.powers if pool.hooks is not None else ()
        told = next((words for power, words in _UNTOLD.items() if power in powers), None)
        return None if told is None else f"trades of this pool are not counted here: its hook {told}"

    def why_not_computed(self, pool: Pool) -> str | None:
        """Of all V4 pools."""
        return history.NOT_COMPUTED if pool.version == "v4" else None

    def is_turned(self, pool: Pool) -> bool:
        """Of V4 pools of the coin whose wrapped form stands second."""
        return pool.version == "v4" and is_turned_round(pool)

    def read_trade(self, log: LogEntry) -> TradeRead | None:
        """Of V3 swaps and beginnings, of V4 swaps, of V2 swaps and reserves."""
        return history.read_trade(log)

    def price_points(self, reader: ChainReader, pool: Pool, *, from_block: int) -> tuple[PricePoint, ...]:
        """From swaps of V3 and V4 and reserves of V2."""
        event = {"v2": SYNC_V2, "v4": SWAP_V4}.get(pool.version, SWAP_V3)
        logs = reader.logs(
            address=pool.pool_id.contract,
            topics=pool.pool_id.filter_logs([event_topic(event)]) if pool.pool_id.manager else [event_topic(event)],
            from_block=from_block,
            to_block=reader.block.number,
        )
        return tuple({point.block_number: point for point in _as_points(pool, logs)}.values())


def _pool_of(read: MarketRead, address: str) -> Pool:
    tokens = pools.sort_tokens(read.sold, read.bought)
    if read.fee is None:
        return Pool("v2", PoolId(address), *tokens, v2_math.FEE, protocol=NAME)
    return Pool("v3", PoolId(address), *tokens, read.fee, protocol=NAME)


def _as_points(pool: Pool, logs: Sequence[LogEntry]) -> Iterator[PricePoint]:
    is_turned = pool.version == "v4" and is_turned_round(pool)
    for log in sorted(logs, key=lambda entry: (entry.block_number, entry.log_index)):
        if pool.version == "v2":
            held = _SYNCS.read(log)
            if held is not None and held.reserve0:
                yield PricePoint(log.block_number, held.reserve1, held.reserve0)
        elif (after := _PRICES[pool.version].read(log)) is not None:
            price = (after.sqrt_price_x96**2, 2**192)
            yield PricePoint(log.block_number, *(price[::-1] if is_turned else price))
