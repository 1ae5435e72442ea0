"""Typed reads of V2 and V3 pools: which exist for a pair, and their state at the reader's pinned block.

A pool counts only when the factory names it, so a contract that merely looks like one is never quoted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from tools_app.protocols.uniswap.addresses import NAME, UniswapDeployment
from tools_app.protocols.uniswap.v2 import math as v2_math
from tools_app.protocols.uniswap.v4 import pools as v4_pools
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.markets import Pool, PoolNotFound, sort_tokens
from tools_app.toolkit.pool_ids import PoolId, is_pool_id

FEE_TIERS = (100, 500, 3_000, 10_000)
ZERO_ADDRESS = "0x0000000000000000000000000000000000000000"

GET_PAIR = "function getPair(address,address) view returns (address)"
GET_POOL = "function getPool(address,address,uint24) view returns (address)"
GET_RESERVES = "function getReserves() view returns (uint112,uint112,uint32)"
SLOT0 = "function slot0() view returns (uint160,int24,uint16,uint16,uint16,uint8,bool)"
LIQUIDITY = "function liquidity() view returns (uint128)"
TOKEN0 = "function token0() view returns (address)"
TOKEN1 = "function token1() view returns (address)"
FEE = "function fee() view returns (uint24)"
BALANCE_OF = "function balanceOf(address) view returns (uint256)"


def find_pools(
    reader: ChainReader,
    deployment: UniswapDeployment,
    pairs: Sequence[tuple[str, str]],
    *,
    fees: Sequence[int] = FEE_TIERS,
    with_balances: bool = False,
) -> list[Pool]:
    """Every V2 and V3 pool of these pairs, with its state.

    One batch of reads asks the factories for pools that were not met yet and those that were for their state; only
    pools met for the first time need a second one. `with_balances` has what they hold travel with it. What a factory
    does not have, it is asked for once in a block.
    """
    pairs = tuple(dict.fromkeys(sort_tokens(*pair) for pair in pairs))
    places, at_block = _list_places(deployment, pairs, tuple(fees)), reader.block.hash
    met = {place: _of_place(place, address) for place in places if (address := _MET.get(place)) is not None}
    unmet = [place for place in places if place not in met and _ABSENT.get(place) != at_block]
    known = [pool for pool, _ in met.values()]
    if with_balances:
        reader.expect(calls=_balance_calls(known))
    outcomes = reader.call_many(
        [*(place.lookup for place in unmet), *(call for _, calls in met.values() for call in calls)]
    )
    fresh: dict[_Place, Pool] = {}
    for place, outcome in zip(unmet, outcomes, strict=False):
        if not outcome.ok:
            continue
        if outcome.values[0] == ZERO_ADDRESS:
            _remember(_ABSENT, place, at_block)
            continue
        _remember(_MET, place, outcome.values[0])
        fresh[place] = _of_place(place, outcome.values[0])[0]
    if with_balances:
        reader.expect(calls=_balance_calls(list(fresh.values())))
    states = _with_states(known, outcomes[len(unmet) :])
    if not fresh:
        return states
    by_address = {pool.id: pool for pool in (*states, *read_states(reader, list(fresh.values())))}
    named = (met[place][0] if place in met else fresh.get(place) for place in places)
    return [by_address[pool.id] for pool in named if pool is not None and pool.id in by_address]


# A tuple, of which a question about routes looks up dozens.
class _Place(NamedTuple):
    """Where a pool is or may be: a factory, a sorted pair and a fee."""

    version: str
    chain_id: int
    factory: str
    token0: str
    token1: str
    fee: int

    @property
    def lookup(self) -> ReadCall:
        if self.version == "v2":
            return ReadCall(self.factory, GET_PAIR, (self.token0, self.token1))
        return ReadCall(self.factory, GET_POOL, (self.token0, self.token1, self.fee))


@lru_cache(maxsize=4_096)
def _of_place(place: _Place, address: str) -> tuple[Pool, tuple[ReadCall, ...]]:
    """The pool that stands there, without its state, and what tells that."""
    pool = Pool(place.version, PoolId(address), place.token0, place.token1, place.fee, protocol=NAME)
    return pool, tuple(state_calls([pool]))


# A factory never takes a pool back, and gives it the address that follows from factory, pair and fee. One that is
# remembered from a chain that was set up anew, or from after the block that is read, answers nothing and is left out.
_MET: dict[_Place, str] = {}
# By the hash of the block in which there was none.
_ABSENT: dict[_Place, str] = {}
_MOST_REMEMBERED = 10_000


def _remember(places: dict[_Place, str], place: _Place, found: str) -> None:
    if len(places) >= _MOST_REMEMBERED:
        places.clear()
    places[place] = found


@lru_cache(maxsize=1_024)
def _list_places(
    deployment: UniswapDeployment, pairs: tuple[tuple[str, str], ...], fees: tuple[int, ...]
) -> tuple[_Place, ...]:
    places: list[_Place] = []
    for token0, token1 in pairs:
        places.append(_Place("v2", deployment.chain_id, deployment.v2_factory, token0, token1, v2_math.FEE))
        places += (_Place("v3", deployment.chain_id, deployment.v3_factory, token0, token1, fee) for fee in fees)
    return tuple(places)


def find_v3_pool(reader: ChainReader, deployment: UniswapDeployment, token0: str, token1: str, fee: int) -> Pool:
    """The V3 pool of a sorted pair and fee. Raises PoolNotFound."""
    for pool in find_pools(reader, deployment, [(token0, token1)], fees=(fee,)):
        if pool.version == "v3" and pool.is_usable:
            return pool
    raise PoolNotFound(f"there is no V3 pool of this pair with fee {fee}", token0=token0, token1=token1, fee=fee)


def read_pool(reader: ChainReader, deployment: UniswapDeployment, address: str) -> Pool:
    """The pool at `address`, confirmed by its factory, with its state. Raises PoolNotFound."""
    name = address.lower() if is_pool_id(address) else address
    found = recognize_pools(reader, deployment, [name]).get(name)
    if found is None:
        raise PoolNotFound(f"{address} is no pool of a Uniswap factory", pool_address=address)
    state = read_states(reader, [found])
    if not state:
        raise PoolNotFound(f"{address} does not answer like a Uniswap pool", pool_address=address)
    return state[0]


def recognize_pools(reader: ChainReader, deployment: UniswapDeployment, addresses: Sequence[str]) -> dict[str, Pool]:
    """Which of these addresses are pools, without their state: two round trips, whatever their number.

    What merely calls itself a pool is left out: the factory has to name it.
    """
    ids = [address for address in addresses if is_pool_id(address)]
    addresses = [address for address in addresses if not is_pool_id(address)]
    asked = [ReadCall(address, signature) for address in addresses for signature in (TOKEN0, TOKEN1, FEE)]
    told = iter(reader.call_many(asked) if asked else [])
    candidates: list[tuple[Pool, ReadCall]] = []
    for address in addresses:
        token0, token1, fee = next(told), next(told), next(told)
        if not (token0.ok and token1.ok):
            continue
        pair = (token0.values[0], token1.values[0])
        if fee.ok:
            check = ReadCall(deployment.v3_factory, GET_POOL, (*pair, fee.values[0]))
            candidates.append((Pool("v3", PoolId(address), *pair, fee.values[0], protocol=NAME), check))
        else:
            check = ReadCall(deployment.v2_factory, GET_PAIR, pair)
            candidates.append((Pool("v2", PoolId(address), *pair, v2_math.FEE, protocol=NAME), check))
    checks = reader.call_many([check for _, check in candidates]) if candidates else []
    found = {
        pool.id: pool
        for (pool, _), confirmed in zip(candidates, checks, strict=True)
        if confirmed.ok and confirmed.values[0] == pool.id
    }
    v4 = v4_on(deployment.chain_id)
    return {**found, **(v4_pools.recognize(reader, v4, ids, deployment.wrapped_native) if v4 is not None else {})}


def read_states(reader: ChainReader, pools: Sequence[Pool]) -> list[Pool]:
    """The same pools with their state at the pinned block, in one batch; one that does not answer is left out."""
    calls = state_calls(pools)
    return _with_states(pools, reader.call_many(calls)) if calls else []


def _balance_calls(pools: Sequence[Pool]) -> list[ReadCall]:
    return [ReadCall(token, BALANCE_OF, (pool.id,)) for pool in pools for token in (pool.token0, pool.token1)]


def state_calls(pools: Sequence[Pool]) -> list[ReadCall]:
    """What `read_states` asks: reserves of V2; price and liquidity of V3 and V4."""
    calls: list[ReadCall] = []
    for pool in pools:
        if pool.version == "v2":
            calls.append(ReadCall(pool.id, GET_RESERVES))
        elif pool.version == "v4":
            calls.extend(v4_pools.state_calls([pool]))
        else:
            calls.extend((ReadCall(pool.id, SLOT0), ReadCall(pool.id, LIQUIDITY)))
    return calls


def _with_states(pools: Sequence[Pool], answers: Sequence[ReadOutcome]) -> list[Pool]:
    outcomes = iter(answers)
    read: list[Pool] = []
    for pool in pools:
        if pool.version == "v2":
            state = _v2_state(pool, next(outcomes))
        elif pool.version == "v4":
            state = v4_pools.with_state(pool, next(outcomes), next(outcomes))
        else:
            state = _v3_state(pool, next(outcomes), next(outcomes))
        if state is not None:
            read.append(state)
    return read


def read_balances(reader: ChainReader, pools: Sequence[Pool]) -> dict[str, tuple[int, int]]:
    """Token0 and token1 base units each pool holds, by its name; of V4, whose manager holds all pools' tokens, what is
    near the price.
    """
    shared = [pool for pool in pools if pool.version == "v4"]
    near = {pool.id: v4_pools.depth_of(pool) for pool in (read_states(reader, shared) if shared else ())}
    pools = [pool for pool in pools if pool.version != "v4"]
    calls = _balance_calls(pools)
    outcomes = reader.call_many(calls) if calls else []
    amounts = [outcome.values[0] if outcome.ok else 0 for outcome in outcomes]
    held = {pool.id: (amounts[2 * i], amounts[2 * i + 1]) for i, pool in enumerate(pools)}
    return {**held, **dict.fromkeys((pool.id for pool in shared), (0, 0)), **near}


def _v2_state(pool: Pool, reserves: ReadOutcome) -> Pool | None:
    if not reserves.ok:
        return None
    return Pool(
        "v2",
        pool.pool_id,
        pool.token0,
        pool.token1,
        pool.fee,
        reserve0=reserves.values[0],
        reserve1=reserves.values[1],
        protocol=pool.protocol,
    )


def _v3_state(pool: Pool, slot0: ReadOutcome, liquidity: ReadOutcome) -> Pool | None:
    if not (slot0.ok and liquidity.ok):
        return None
    return Pool(
        "v3",
        pool.pool_id,
        pool.token0,
        pool.token1,
        pool.fee,
        sqrt_price=slot0.values[0],
        pool_tick=slot0.values[1],
        liquidity=liquidity.values[0],
        protocol=pool.protocol,
    )
