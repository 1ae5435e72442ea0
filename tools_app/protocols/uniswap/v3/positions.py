"""Reads of V3 positions: range, liquidity, what it holds, and the fees a collect would really pay out.

The position manager floors fees per NFT, the pool floors them per range for all NFTs together; a collect pays
the smaller of the two, and so do the figures here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eth_utils.crypto import keccak

from tools_app.protocols.uniswap.addresses import NAME, UniswapDeployment
from tools_app.protocols.uniswap.liquidity_mining.deposits import check_not_staked
from tools_app.protocols.uniswap.pools import GET_POOL, LIQUIDITY, SLOT0
from tools_app.standards import concentrated as v3_math
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.markets import Pool, PositionNotFound
from tools_app.toolkit.pool_ids import PoolId

POSITIONS = (
    "function positions(uint256) view returns (uint96 nonce, address operator, address token0, address token1,"
    " uint24 fee, int24 tickLower, int24 tickUpper, uint128 liquidity, uint256 inside0, uint256 inside1,"
    " uint128 owed0, uint128 owed1)"
)
OWNER_OF = "function ownerOf(uint256) view returns (address)"
NFT_BALANCE = "function balanceOf(address) view returns (uint256)"
NFT_BY_INDEX = "function tokenOfOwnerByIndex(address,uint256) view returns (uint256)"
TICKS = (
    "function ticks(int24) view returns (uint128 gross, int128 net, uint256 outside0, uint256 outside1,"
    " int56 cumulative, uint160 seconds_per_liquidity, uint32 seconds_outside, bool initialized)"
)
FEE_GROWTH0 = "function feeGrowthGlobal0X128() view returns (uint256)"
FEE_GROWTH1 = "function feeGrowthGlobal1X128() view returns (uint256)"
POOL_POSITION = "function positions(bytes32) view returns (uint128,uint256,uint256,uint128,uint128)"


@dataclass(frozen=True, slots=True)
class V3Position:
    """One position at one block. `fees0`/`fees1` are base units a collect would pay now."""

    position_id: str
    owner: str
    pool: Pool
    tick_lower: int
    tick_upper: int
    liquidity: int
    fees0: int
    fees1: int

    @property
    def is_in_range(self) -> bool:
        return self.tick_lower <= self.pool.pool_tick < self.tick_upper

    def amounts(self, liquidity: int | None = None, *, sqrt_price: int | None = None) -> tuple[int, int]:
        """Token0 and token1 that taking out `liquidity` (by default all) gives, at the pool's or another price."""
        return v3_math.amounts_for_liquidity(
            self.pool.sqrt_price if sqrt_price is None else sqrt_price,
            v3_math.sqrt_price_at_tick(self.tick_lower),
            v3_math.sqrt_price_at_tick(self.tick_upper),
            self.liquidity if liquidity is None else liquidity,
            round_up=False,
        )


@dataclass(frozen=True, slots=True)
class V3Record:
    """What the position manager keeps of a position; `inside` and `owed` are fee figures of both tokens."""

    position_id: str
    owner: str
    token0: str
    token1: str
    fee: int
    tick_lower: int
    tick_upper: int
    liquidity: int
    inside: tuple[int, int]
    owed: tuple[int, int]


def least_amounts(position: V3Position, liquidity: int, slippage_bps: int) -> tuple[int, int]:
    """The least of each token that taking so much out gives when the price moves by the slippage either way."""
    found = [
        position.amounts(liquidity, sqrt_price=v3_math.sqrt_price_moved(position.pool.sqrt_price, bps=bps))
        for bps in (-slippage_bps, 0, slippage_bps)
    ]
    return min(a for a, _ in found), min(b for _, b in found)


def read_position(reader: ChainReader, deployment: UniswapDeployment, position_id: str) -> V3Position:
    """One position with its owner. Raises PositionNotFound."""
    found = read_positions(reader, deployment, [position_id]) if int(position_id) < 2**256 else []
    if not found:
        raise PositionNotFound(f"there is no position {position_id}", position_id=position_id)
    return found[0]


def read_own_position(reader: ChainReader, deployment: UniswapDeployment, position_id: str, owner: str) -> V3Position:
    """A position that `owner` holds. Raises PositionStaked for one that the staker keeps for `owner`, and
    PositionNotFound, also for one that somebody else holds.
    """
    position = read_position(reader, deployment, position_id)
    if position.owner != owner:
        check_not_staked(reader, position_id, holder=position.owner, account=owner)
        raise PositionNotFound(
            f"this account holds no position {position_id}", position_id=position_id, next={"query": "positions"}
        )
    return position


def list_position_ids(
    reader: ChainReader, deployment: UniswapDeployment, owner: str, *, limit: int
) -> tuple[list[str], int]:
    """The newest position ids of an owner, at most `limit`, and how many there are."""
    manager = deployment.v3_position_manager
    held: int = reader.call(manager, NFT_BALANCE, owner)[0]
    indexes = range(max(0, held - limit), held)
    outcomes = reader.call_many([ReadCall(manager, NFT_BY_INDEX, (owner, index)) for index in indexes])
    return [str(outcome.values[0]) for outcome in outcomes if outcome.ok], held


def read_positions(reader: ChainReader, deployment: UniswapDeployment, ids: Sequence[str]) -> list[V3Position]:
    """Positions by id, in three batches; an id that does not exist is left out."""
    records = _read_records(reader, deployment, ids)
    if not records:
        return []
    keys = list(dict.fromkeys((r.token0, r.token1, r.fee) for r in records))
    found = reader.call_many([ReadCall(deployment.v3_factory, GET_POOL, key) for key in keys])
    address_of = {key: outcome.values[0] for key, outcome in zip(keys, found, strict=True) if outcome.ok}
    pools = [address_of[record.token0, record.token1, record.fee] for record in records]
    calls = [
        call
        for record, pool in zip(records, pools, strict=True)
        for call in state_calls(record, pool, manager=deployment.v3_position_manager)
    ]
    outcomes = reader.call_many(calls)
    size = STATE_CALLS
    return [
        make_position(record, pool, outcomes[size * i : size * i + size])
        for i, (record, pool) in enumerate(zip(records, pools, strict=True))
    ]


STATE_CALLS = 7


def state_calls(record: V3Record, pool: str, *, manager: str) -> list[ReadCall]:
    """What a pool is asked for one position: its price, and the fees of the range."""
    return range_calls(pool, record.tick_lower, record.tick_upper, manager=manager)


def range_calls(pool: str, tick_lower: int, tick_upper: int, *, manager: str) -> list[ReadCall]:
    """The same by pool and range."""
    key = pool_position_key(manager, tick_lower, tick_upper)
    return [
        *(ReadCall(pool, signature) for signature in (SLOT0, LIQUIDITY, FEE_GROWTH0, FEE_GROWTH1)),
        ReadCall(pool, TICKS, (tick_lower,)),
        ReadCall(pool, TICKS, (tick_upper,)),
        ReadCall(pool, POOL_POSITION, (key,)),
    ]


def pool_position_key(owner: str, tick_lower: int, tick_upper: int) -> bytes:
    """The key under which a pool keeps the liquidity of `owner` between two ticks."""
    packed = bytes.fromhex(owner[2:])
    for pool_tick in (tick_lower, tick_upper):
        packed += pool_tick.to_bytes(3, "big", signed=True)
    return bytes(keccak(packed))


def _read_records(reader: ChainReader, deployment: UniswapDeployment, ids: Sequence[str]) -> list[V3Record]:
    manager = deployment.v3_position_manager
    calls = [ReadCall(manager, signature, (int(each),)) for each in ids for signature in (POSITIONS, OWNER_OF)]
    outcomes = reader.call_many(calls) if calls else []
    records = []
    for index, position_id in enumerate(ids):
        state, owner = outcomes[2 * index], outcomes[2 * index + 1]
        if not (state.ok and owner.ok):
            continue
        records.append(make_record(position_id, owner.values[0], state.values))
    return records


def make_record(position_id: str, owner: str, values: Sequence[Any]) -> V3Record:  # Any: a value of the ABI's type
    """What POSITIONS answered."""
    _, _, token0, token1, fee, lower, upper, liquidity, inside0, inside1, owed0, owed1 = values
    inside, owed = (inside0, inside1), (owed0, owed1)
    return V3Record(position_id, owner, token0, token1, fee, lower, upper, liquidity, inside, owed)


def make_position(record: V3Record, pool_address: str, outcomes: Sequence[ReadOutcome]) -> V3Position:
    """A position from its record and the outcomes of `state_calls`."""
    slot0, liquidity, growth0, growth1, lower, upper, shared = (outcome.values for outcome in outcomes)
    pool = Pool(
        "v3",
        PoolId(pool_address),
        record.token0,
        record.token1,
        record.fee,
        sqrt_price=slot0[0],
        pool_tick=slot0[1],
        liquidity=liquidity[0],
        protocol=NAME,
    )
    fees = []
    for side, growth in enumerate((growth0[0], growth1[0])):
        inside = v3_math.fee_growth_inside(
            pool_tick=pool.pool_tick,
            tick_lower=record.tick_lower,
            tick_upper=record.tick_upper,
            fee_global=growth,
            outside_lower=lower[2 + side],
            outside_upper=upper[2 + side],
        )
        shared_last, shared_owed = shared[1 + side], shared[3 + side]
        own, in_pool = record.owed[side], shared_owed
        if record.liquidity > 0:
            own += v3_math.fees_owed(liquidity=record.liquidity, inside_now=inside, inside_last=record.inside[side])
            in_pool += v3_math.fees_owed(liquidity=shared[0], inside_now=inside, inside_last=shared_last)
        fees.append(min(own, in_pool))
    return V3Position(
        record.position_id, record.owner, pool, record.tick_lower, record.tick_upper, record.liquidity, *fees
    )
