"""The pools of the made-up manager for whoever asks through the shelf."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tools_app.chain.abi import decode_log, event_topic
from tools_app.core.ratio import Ratio
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.effects import Effects, MarketRead
from tools_app.toolkit.markets import (
    CreatedPool,
    InitialisedTick,
    Pool,
    PoolDay,
    PoolEvent,
    PoolNotFound,
    PositionNotFound,
    PricePoint,
    RangePosition,
    TradeRead,
)
from tools_app.toolkit.pool_ids import PoolId, is_pool_id
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import LogEntry

from .addresses import DEPLOYED, NAME
from .hooks import ZERO, hook_of

MADE = "event Made(bytes32 indexed id, address indexed token0, address indexed token1, address hook)"
TRADED = (
    "event Traded(bytes32 indexed id, address indexed trader, uint256 in0, uint256 in1, uint256 reserve0,"
    " uint256 reserve1)"
)
_KEYS = "function keys(bytes32) view returns (address, address, address)"
_STATES = "function states(bytes32) view returns (uint128, uint128)"


class NoRanges:
    """There are none."""

    def read(self, reader: ChainReader, position_id: str) -> RangePosition:
        raise PositionNotFound("the made-up pools know no positions", position_id=position_id)

    def read_many(self, reader: ChainReader, ids: Sequence[str]) -> Sequence[RangePosition]:
        return ()

    def lists(self, position_id: str) -> bool:
        """All of them."""
        return True

    def list_ids(self, reader: ChainReader, owner: str, *, limit: int) -> tuple[list[str], int]:
        return [], 0

    def name(self, chain_id: int, position_id: str) -> PositionRef:
        return PositionRef(NAME, "none", chain_id, position_id)

    def expect_calls(self, *args: Any, **kwargs: Any) -> list[ReadCall]:
        return []

    def remember(self, position: RangePosition) -> dict[str, Any]:
        return {}


def _manager(reader: ChainReader) -> str:
    return DEPLOYED[reader.chain_id]["manager"]


class MadeUpMarkets:
    """Pools named by 32 bytes."""

    chains = frozenset({31337})
    ranges = NoRanges()
    swap_topics = (event_topic(TRADED),)
    history_topics = (event_topic(TRADED),)

    def why_not_counted(self, pool: Pool) -> str | None:
        """It counts its own."""
        return None

    def why_not_computed(self, pool: Pool) -> str | None:
        """It computes its own."""
        return None

    def is_turned(self, pool: Pool) -> bool:
        """Its logs tell tokens as its pools do."""
        return False

    def read_trade(self, log: LogEntry) -> TradeRead | None:
        found = decode_log(TRADED, log)
        if found is None:
            return None
        return TradeRead(Ratio(found["reserve1"], found["reserve0"]), found["in0"], found["in1"])

    def describe(self, pool: Pool) -> str:
        return "The made-up pools"

    def hubs(self, reader: ChainReader) -> list[str]:
        return []

    def find(self, reader: ChainReader, pairs: Sequence[tuple[str, str]], *, with_balances: bool = False) -> list[Pool]:
        wanted = {frozenset(pair) for pair in pairs}
        logs = reader.logs(
            address=_manager(reader), topics=[event_topic(MADE)], from_block=0, to_block=reader.block.number
        )
        made = [found for log in logs if (found := decode_log(MADE, log)) is not None]
        names = ["0x" + each["id"].hex() for each in made if frozenset((each["token0"], each["token1"])) in wanted]
        return self.states(reader, list(self.recognize(reader, names).values()))

    def locate(self, reader: ChainReader, token0: str, token1: str, fee: int) -> PoolId | None:
        return None

    def read(self, reader: ChainReader, pool: str) -> Pool:
        found = self.states(reader, list(self.recognize(reader, [pool]).values()))
        if not found:
            raise PoolNotFound(f"{pool} is no pool of the manager", pool_address=pool)
        return found[0]

    def recognize(self, reader: ChainReader, names: Sequence[str]) -> dict[str, Pool]:
        asked = [name for name in names if is_pool_id(name)]
        manager = _manager(reader)
        answers = reader.call_many([ReadCall(manager, _KEYS, (bytes.fromhex(name[2:]),)) for name in asked])
        found = {}
        for name, answer in zip(asked, answers, strict=True):
            if answer.ok and answer.values[0] != ZERO:
                token0, token1, hook = answer.values
                pool = PoolId(name, manager)
                found[name] = Pool("v2", pool, token0, token1, 0, protocol=NAME, hooks=hook_of(name, hook))
        return found

    def states(self, reader: ChainReader, pools: Sequence[Pool]) -> list[Pool]:
        answers = reader.call_many([each for pool in pools for each in self.state_calls(pool)])
        return [
            Pool(
                *("v2", pool.pool_id, pool.token0, pool.token1, 0, answer.values[0], answer.values[1]),
                protocol=NAME,
                hooks=pool.hooks,
            )
            for pool, answer in zip(pools, answers, strict=True)
            if answer.ok
        ]

    def state_calls(self, pool: Pool) -> list[ReadCall]:
        return [ReadCall(pool.pool_id.contract, _STATES, (bytes.fromhex(pool.id[2:]),))]

    def depth(self, reader: ChainReader, pools: Sequence[Pool]) -> dict[str, tuple[int, int]]:
        return {pool.id: (pool.reserve0, pool.reserve1) for pool in self.states(reader, pools)}

    def days(self, reader: ChainReader, pools: Sequence[Pool]) -> dict[str, PoolDay]:
        return {pool.id: PoolDay(reason="nobody counts its trades") for pool in pools}

    def price_a_day_ago(self, reader: ChainReader, pool: Pool) -> tuple[Ratio | None, str | None]:
        return None, "nobody counts its trades"

    def preload_day(self, reader: ChainReader, pool: Pool) -> None:
        return None

    def created(self, reader: ChainReader, *, from_block: int, to_block: int) -> list[CreatedPool]:
        return []

    def tick_spacing(self, reader: ChainReader, pool: Pool) -> int:
        return 1

    def ticks(self, reader: ChainReader, pool: Pool, *, spacing: int, spacings_each_side: int) -> list[InitialisedTick]:
        return []

    def event_topics(self, pool: Pool, names: Collection[str]) -> list[str]:
        return [event_topic(TRADED)] if "swap" in names else []

    def read_event(self, pool: Pool, log: LogEntry) -> PoolEvent | None:
        found = decode_log(TRADED, log)
        return PoolEvent("swap", found["in0"], found["in1"], {}) if found is not None else None

    def of(self, effects: Effects, reader: ChainReader) -> list[tuple[MarketRead, Pool | None]]:
        wanted = [each for each in dict.fromkeys(effects.markets) if each.protocol == NAME and each.pool is not None]
        known = self.recognize(reader, [each.pool.text for each in wanted if each.pool is not None])
        return [(each, known.get(each.pool.text if each.pool is not None else "")) for each in wanted]

    def price_points(self, reader: ChainReader, pool: Pool, *, from_block: int) -> tuple[PricePoint, ...]:
        return ()
