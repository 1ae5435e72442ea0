"""Reads of V4 pools: which of the usual ones exist for a pair, those that are named, and their state at one block.

A pool's id is the hash of its key, so nobody can pass another one off as it. Pools with hooks are never looked for by
themselves: whoever names one by its id gets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import Final

from eth_utils.crypto import keccak

from tools_app.protocols.uniswap.v4.addresses import V4Contracts, view_of
from tools_app.protocols.uniswap.v4.keys import COIN, PoolKey, hooks_of, list_usual_keys
from tools_app.standards.concentrated import amounts_for_liquidity
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.markets import FEE_DENOMINATOR, Pool
from tools_app.toolkit.pool_ids import PoolId, is_pool_id

SLOT0: Final = (
    "function getSlot0(bytes32) view returns (uint160 sqrtPriceX96, int24 tick, uint24 protocolFee, uint24 lpFee)"
)
LIQUIDITY: Final = "function getLiquidity(bytes32) view returns (uint128)"
MANAGER: Final = "function poolManager() view returns (address)"
POOL_KEYS: Final = "function poolKeys(bytes25) view returns (address, address, uint24, int24, address)"
WORDS: Final = "function extsload(bytes32[]) view returns (bytes32[])"
_PROTOCOL: Final = "uniswap"
_Q192: Final = 2**192
_HALF: Final = 4_096
_ID_START: Final = 25
# As StateLibrary of v4-core has it: the mapping of pools, and the liquidity within one.
_POOLS_SLOT: Final = (6).to_bytes(32, "big")
_LIQUIDITY_OFFSET: Final = 3

# Where V4 answered once its pools are asked for together with that question.
_MET: set[tuple[int, str]] = set()
_MOST_REMEMBERED: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Question:
    """Pools without their state, and the one question to the manager for the two words of each."""

    pools: tuple[Pool, ...]
    call: ReadCall


# Those of the usual ones that were open, by the hash of the block in which that was so: what was not there is asked for
# again in the next block.
_OPENED: dict[tuple[int, tuple[tuple[str, str], ...]], tuple[str, _Question]] = {}


def expect_usual_pools(
    reader: ChainReader, contracts: V4Contracts, pairs: Sequence[tuple[str, str]], wrapped: str
) -> None:
    """Say that `find_usual_pools` will be asked: its questions travel with the next round trip."""
    calls = [ReadCall(contracts.state_view, MANAGER)]
    if (reader.chain_id, contracts.state_view) in _MET:
        calls.append(_narrow(reader, contracts, tuple(pairs), wrapped).call)
    reader.expect(calls=calls)


def find_usual_pools(
    reader: ChainReader, contracts: V4Contracts, pairs: Sequence[tuple[str, str]], wrapped: str
) -> list[Pool]:
    """The pools of these pairs without hooks and at the usual fees, with their state; none where V4 does not answer."""
    (answer,) = reader.call_many([ReadCall(contracts.state_view, MANAGER)])
    if not answer.ok or answer.values[0] != contracts.manager:
        return []
    _MET.add((reader.chain_id, contracts.state_view))
    question = _narrow(reader, contracts, tuple(pairs), wrapped)
    (answer,) = reader.call_many([question.call])
    words = [int.from_bytes(word, "big") for word in answer.values[0]] if answer.ok else []
    if len(words) != 2 * len(question.pools):
        return []
    told = zip(question.pools, words[::2], words[1::2], strict=True)
    found = [(pool, _with_figures(pool, *_unpack(slot0), liquidity)) for pool, slot0, liquidity in told if slot0]
    if len(found) < len(question.pools):
        if len(_OPENED) >= _MOST_REMEMBERED:
            _OPENED.clear()
        opened = _ask_words(contracts, tuple(pool for pool, _ in found))
        _OPENED[reader.chain_id, tuple(pairs)] = reader.block.hash, opened
    return [pool for _, pool in found]


def _narrow(reader: ChainReader, contracts: V4Contracts, pairs: tuple[tuple[str, str], ...], wrapped: str) -> _Question:
    """The question for all usual pools of these pairs, or for those alone that this block is known to have."""
    at_block, opened = _OPENED.get((reader.chain_id, pairs), ("", None))
    if opened is not None and at_block == reader.block.hash:
        return opened
    return _list_usual(contracts, pairs, wrapped)


@lru_cache(maxsize=1_024)
def _list_usual(contracts: V4Contracts, pairs: tuple[tuple[str, str], ...], wrapped: str) -> _Question:
    keys = dict.fromkeys(key for pair in pairs for key in list_usual_keys(*pair, wrapped))
    return _ask_words(contracts, tuple(pool_of(key, contracts, wrapped) for key in keys))


def _ask_words(contracts: V4Contracts, pools: tuple[Pool, ...]) -> _Question:
    words = tuple(word for pool in pools for word in _state_words(pool.id))
    return _Question(pools, ReadCall(contracts.manager, WORDS, (words,)))


def _state_words(pool_id: str) -> tuple[bytes, bytes]:
    """Where the manager keeps a pool's price with its fees, and its liquidity."""
    place = int.from_bytes(keccak(bytes.fromhex(pool_id[2:]) + _POOLS_SLOT), "big")
    return place.to_bytes(32, "big"), ((place + _LIQUIDITY_OFFSET) % 2**256).to_bytes(32, "big")


def _unpack(slot0: int) -> tuple[int, int, int, int]:
    """Square root of the price, tick, the protocol's fee and the pool's own, as one word holds them."""
    tick = slot0 >> 160 & 0xFFFFFF
    return slot0 & (2**160 - 1), tick - (tick >> 23 << 24), slot0 >> 184 & 0xFFFFFF, slot0 >> 208 & 0xFFFFFF


def pool_of(key: PoolKey, contracts: V4Contracts, wrapped: str) -> Pool:
    """The pool of a key, its state unread."""
    name = PoolId(key.pool_id, contracts.manager)
    return Pool("v4", name, *key.tokens(wrapped), key.fee, protocol=_PROTOCOL, key=key.as_tuple, hooks=hooks_of(key))


def key_of(pool: Pool) -> PoolKey:
    """What the manager knows a pool by."""
    return PoolKey(*pool.key)


def recognize(reader: ChainReader, contracts: V4Contracts, names: Sequence[str], wrapped: str) -> dict[str, Pool]:
    """Which ids are pools that V4's position manager knows, without their state; the key's hash has to be the id."""
    asked = [name for name in dict.fromkeys(names) if is_pool_id(name)]
    if not asked:
        return {}
    answers = reader.call_many([ReadCall(contracts.positions, POOL_KEYS, (_start_of(name),)) for name in asked])
    found = {}
    for name, answer in zip(asked, answers, strict=True):
        key = PoolKey(*answer.values) if answer.ok else None
        if key is not None and key.pool_id == name:
            found[name] = pool_of(key, contracts, wrapped)
    return found


def state_calls(pools: Sequence[Pool]) -> list[ReadCall]:
    """What `read_states` asks of V4's view on the pools' chain: price with fees, and liquidity."""
    return [
        ReadCall(view_of(pool.pool_id.manager), signature, (bytes.fromhex(pool.id[2:]),))
        for pool in pools
        for signature in (SLOT0, LIQUIDITY)
    ]


def read_states(reader: ChainReader, pools: Sequence[Pool]) -> list[Pool]:
    """The same pools with their state, in one batch; one that was never opened is left out."""
    calls = state_calls(pools)
    answers = reader.call_many(calls) if calls else []
    found = (with_state(*each) for each in zip(pools, answers[::2], answers[1::2], strict=True))
    return [pool for pool in found if pool is not None]


def with_state(pool: Pool, slot0: ReadOutcome, liquidity: ReadOutcome) -> Pool | None:
    """The pool with what `state_calls` brought; None for one that was never opened."""
    if not (slot0.ok and liquidity.ok) or not slot0.values[0]:
        return None
    price, tick, protocol_fee, lp_fee = slot0.values
    return _with_figures(pool, price, tick, protocol_fee, lp_fee, liquidity.values[0])


def _with_figures(pool: Pool, price: int, tick: int, protocol_fee: int, lp_fee: int, liquidity: int) -> Pool:
    # Tokens stand by address; the coin is always first in V4, whatever its wrapped form's address is.
    is_turned = is_turned_round(pool)
    return Pool(
        pool.version,
        pool.pool_id,
        pool.token0,
        pool.token1,
        swap_fee(lp_fee, protocol_fee) if protocol_fee else lp_fee,
        sqrt_price=_Q192 // price if is_turned else price,
        pool_tick=-tick if is_turned else tick,
        liquidity=liquidity,
        protocol=pool.protocol,
        key=pool.key,
        hooks=pool.hooks,
    )


def depth_of(pool: Pool) -> tuple[int, int]:
    """Base units that the liquidity at the price gives until the price is half or twice what it is."""
    half, twice = (isqrt(pool.sqrt_price**2 * num // den) for num, den in ((1, 2), (2, 1)))
    amount0 = amounts_for_liquidity(pool.sqrt_price, pool.sqrt_price, twice, pool.liquidity, round_up=False)[0]
    amount1 = amounts_for_liquidity(pool.sqrt_price, half, pool.sqrt_price, pool.liquidity, round_up=False)[1]
    return amount0, amount1


def is_turned_round(pool: Pool) -> bool:
    """Whether a pool's tokens stand the other way round than its currencies."""
    currency0, currency1, *_ = pool.key
    return bool(currency0 == COIN and pool.token1 != currency1)


def swap_fee(lp_fee: int, protocol_fee: int) -> int:
    """What a swap pays in the dearer direction, in hundredths of a basis point: the protocol takes its part first."""
    dearer = max(protocol_fee % _HALF, protocol_fee // _HALF)
    return dearer + lp_fee - dearer * lp_fee // FEE_DENOMINATOR


def _start_of(name: str) -> bytes:
    return bytes.fromhex(name[2:])[:_ID_START]
