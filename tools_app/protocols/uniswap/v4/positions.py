"""Reads of V4 positions: range, liquidity, what it holds, and the fees a harvest would pay, to the base unit.

Everything is in V4's own order of currencies, the coin first and under its own name. A position is called `v4:NUMBER`,
because V3 counts its positions by the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.protocols.uniswap.addresses import NAME
from tools_app.protocols.uniswap.v3.positions import NFT_BALANCE, V3Position
from tools_app.protocols.uniswap.v4.addresses import V4Contracts
from tools_app.protocols.uniswap.v4.keys import COIN, PoolKey, hooks_of
from tools_app.protocols.uniswap.v4.liquidity_plans import Held
from tools_app.protocols.uniswap.v4.pools import LIQUIDITY, SLOT0, swap_fee
from tools_app.standards import concentrated as ranges
from tools_app.toolkit.context import AbiValue, ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.markets import Pool, PoolNotFound, PositionNotFound
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import NATIVE

PREFIX: Final = "v4:"
OWNER: Final = "function ownerOf(uint256) view returns (address)"
HELD: Final = "function getPositionLiquidity(uint256) view returns (uint128)"
INFO: Final = (
    "function getPoolAndPositionInfo(uint256) view returns ((address,address,uint24,int24,address) key, uint256 info)"
)
_INSIDE: Final = "function getFeeGrowthInside(bytes32,int24,int24) view returns (uint256, uint256)"
_KEPT: Final = "function getPositionInfo(bytes32,address,int24,int24,bytes32) view returns (uint128, uint256, uint256)"
NEXT: Final = "function nextTokenId() view returns (uint256)"
NEWEST: Final = 32
"""So many of the newest positions of all are looked at, and at most twice as many."""
RECORD_CALLS: Final = 3
STATE_CALLS: Final = 4
_TICK: Final = 1 << 24
_LOWER_AT, _UPPER_AT = 8, 32


def is_v4(position_id: str) -> bool:
    """Whether a position's id is one of V4."""
    return position_id.startswith(PREFIX)


def number_of(position_id: str) -> int:
    """The number of `v4:NUMBER` at its manager."""
    return int(position_id.removeprefix(PREFIX))


@dataclass(frozen=True, slots=True)
class V4Record:
    """What the position manager keeps of a position."""

    number: int
    owner: str
    key: PoolKey
    tick_lower: int
    tick_upper: int
    liquidity: int

    @property
    def position_id(self) -> str:
        return f"{PREFIX}{self.number}"

    @property
    def tokens(self) -> tuple[str, str]:
        """The pool's currencies, the coin under NATIVE."""
        return NATIVE if self.key.currency0 == COIN else self.key.currency0, self.key.currency1

    @property
    def held(self) -> Held:
        """As calls name it."""
        return Held(self.number, self.key)


def count_calls(contracts: V4Contracts, account: str) -> list[ReadCall]:
    """How many positions an account has, and the number that the next one of all will have."""
    return [ReadCall(contracts.positions, NFT_BALANCE, (account,)), ReadCall(contracts.positions, NEXT)]


def list_newest(next_number: int) -> range:
    """The newest numbers of all; where they begin hardly ever moves with one more that is opened."""
    return range(max(1, (next_number - NEWEST) // NEWEST * NEWEST), next_number)


def owner_call(contracts: V4Contracts, number: int) -> ReadCall:
    """Who has a position; a revert where there is none."""
    return ReadCall(contracts.positions, OWNER, (number,))


def make_records(numbers: Sequence[int], outcomes: Sequence[ReadOutcome]) -> list[V4Record]:
    """What `record_calls` of each brought; those that do not exist are left out."""
    made = [make_record(each, outcomes[RECORD_CALLS * i :][:RECORD_CALLS]) for i, each in enumerate(numbers)]
    return [each for each in made if each is not None]


def record_calls(contracts: V4Contracts, number: int) -> list[ReadCall]:
    """What the manager is asked of a position."""
    return [ReadCall(contracts.positions, each, (number,)) for each in (OWNER, HELD, INFO)]


def make_record(number: int, outcomes: Sequence[ReadOutcome]) -> V4Record | None:
    """What `record_calls` brought; None for a position that does not exist, or that was burned."""
    if not all(each.ok for each in outcomes):
        return None
    (owner,), (liquidity,), (words, packed) = (each.values for each in outcomes)
    first, second, fee, spacing, hooks = words
    key = PoolKey(checksum(first), checksum(second), fee, spacing, checksum(hooks))
    return V4Record(number, owner, key, *read_ticks(packed), liquidity)


def read_ticks(packed: int) -> tuple[int, int]:
    """The range in a position's packed word."""
    return _signed(packed >> _LOWER_AT), _signed(packed >> _UPPER_AT)


def state_calls(record: V4Record, contracts: V4Contracts) -> list[ReadCall]:
    """What V4's view is asked for a position: its pool's price and liquidity, and the fees of the range."""
    return range_calls(record.key.pool_id, record.number, (record.tick_lower, record.tick_upper), contracts)


def range_calls(pool_id: str, number: int, ticks: tuple[int, int], contracts: V4Contracts) -> list[ReadCall]:
    """The same of a position whose pool and range are known."""
    name, salt = bytes.fromhex(pool_id[2:]), number.to_bytes(32, "big")
    return [
        *_pool_calls(pool_id, contracts),
        ReadCall(contracts.state_view, _INSIDE, (name, *ticks)),
        ReadCall(contracts.state_view, _KEPT, (name, contracts.positions, *ticks, salt)),
    ]


def make_position(record: V4Record, contracts: V4Contracts, outcomes: Sequence[ReadOutcome]) -> V3Position:
    """A position from its record and the outcomes of `state_calls`."""
    slot0, liquidity, inside, kept = (each.values for each in outcomes)
    _, *last = kept
    fees = [
        ranges.fees_owed(liquidity=record.liquidity, inside_now=now, inside_last=before)
        for now, before in zip(inside, last, strict=True)
    ]
    pool = _make_pool(record.key, contracts, slot0, liquidity[0])
    return V3Position(
        record.position_id, record.owner, pool, record.tick_lower, record.tick_upper, record.liquidity, *fees
    )


def read_positions(reader: ChainReader, contracts: V4Contracts, ids: Sequence[str]) -> list[V3Position]:
    """Positions by id, in two batches; one that does not exist is left out."""
    numbers = [number for number in map(number_of, ids) if number < 2**256]
    told = reader.call_many([call for each in numbers for call in record_calls(contracts, each)]) if numbers else []
    records = make_records(numbers, told)
    states = reader.call_many([call for each in records for call in state_calls(each, contracts)]) if records else []
    found = []
    for i, each in enumerate(records):
        outcomes = states[STATE_CALLS * i :][:STATE_CALLS]
        if all(outcome.ok for outcome in outcomes):
            found.append(make_position(each, contracts, outcomes))
    return found


def read_own_position(reader: ChainReader, contracts: V4Contracts, position_id: str, owner: str) -> V3Position:
    """A position that `owner` holds. Raises PositionNotFound, also for one that somebody else holds."""
    found = read_positions(reader, contracts, [position_id])
    if not found or found[0].owner != owner:
        raise PositionNotFound(
            f"this account holds no position {position_id}", position_id=position_id, next={"query": "positions"}
        )
    return found[0]


def held_of(position: V3Position) -> Held:
    """A position as calls name it."""
    return Held(number_of(position.position_id), PoolKey(*position.pool.key))


def read_pool(reader: ChainReader, contracts: V4Contracts, key: PoolKey) -> Pool:
    """A pool in its own order, with its state. Raises PoolNotFound for one that was never opened."""
    slot0, liquidity = reader.call_many(_pool_calls(key.pool_id, contracts))
    if not (slot0.ok and liquidity.ok) or not slot0.values[0]:
        raise PoolNotFound(f"{key.pool_id} was never opened", pool_address=key.pool_id)
    return _make_pool(key, contracts, slot0.values, liquidity.values[0])


def _pool_calls(pool_id: str, contracts: V4Contracts) -> list[ReadCall]:
    name = bytes.fromhex(pool_id[2:])
    return [ReadCall(contracts.state_view, each, (name,)) for each in (SLOT0, LIQUIDITY)]


def _make_pool(key: PoolKey, contracts: V4Contracts, slot0: Sequence[AbiValue], liquidity: int) -> Pool:
    price, tick, protocol_fee, lp_fee = slot0
    return Pool(
        "v4",
        PoolId(key.pool_id, contracts.manager),
        NATIVE if key.currency0 == COIN else key.currency0,
        key.currency1,
        swap_fee(lp_fee, protocol_fee),
        sqrt_price=price,
        pool_tick=tick,
        liquidity=liquidity,
        protocol=NAME,
        key=key.as_tuple,
        hooks=hooks_of(key),
    )


def _signed(packed: int) -> int:
    tick = packed % _TICK
    return tick - _TICK if tick >= _TICK // 2 else tick
