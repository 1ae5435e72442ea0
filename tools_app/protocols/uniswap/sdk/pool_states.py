"""Pools as the SDKs take them: reserves, or price, liquidity and ticks, all at the reader's pinned block.

Ticks are read some words around the price. What starts or ends beyond is put at the edge of what was read, so that a
swap which would reach that far finds nothing there: an opinion may be too low then, never too high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.json_types import JsonObject
from tools_app.protocols.uniswap.v3.positions import TICKS
from tools_app.protocols.uniswap.v3.ticks import TICK_BITMAP, TICKS_PER_WORD
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap.v4.keys import COIN
from tools_app.protocols.uniswap.v4.pools import key_of
from tools_app.standards import concentrated as ranges
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.markets import Pool

WORDS_EACH_SIDE: Final = 4
"""So many words of 256 usable ticks are read on each side of the price."""
_V4_BITMAP: Final = "function getTickBitmap(bytes32,int16) view returns (uint256)"
_V4_TICK: Final = "function getTickInfo(bytes32,int24) view returns (uint128 gross, int128 net, uint256, uint256)"


@dataclass(frozen=True, slots=True)
class ToldPools:
    """Pools of a question, and the tokens that stand in it by their place."""

    pools: tuple[Pool, ...]
    tokens: tuple[str, ...]
    told: tuple[JsonObject, ...]


def tell_pools(reader: ChainReader, pools: Sequence[Pool]) -> ToldPools:
    """Those of the pools that the SDKs compute as the contracts do, in two batches.

    Left out are V4 pools of the coin, with a hook, or with a part of the fee for the protocol.
    """
    known = [pool for pool in pools if _is_plain(pool)]
    tokens = tuple(dict.fromkeys(token for pool in known for token in (pool.token0, pool.token1)))
    ranged = [pool for pool in known if pool.version != "v2"]
    ticks = dict(zip((pool.id for pool in ranged), _read_ticks(reader, ranged), strict=True))
    places = {token: place for place, token in enumerate(tokens)}
    found: list[Pool] = []
    told: list[dict[str, object]] = []
    for pool in known:
        base = {"version": pool.version, "first": places[pool.token0], "second": places[pool.token1], "fee": pool.fee}
        if pool.version != "v2" and not ticks[pool.id]:
            continue
        found.append(pool)
        told.append({**base, **(_tell_reserves(pool) if pool.version == "v2" else _tell_range(pool, ticks[pool.id]))})
    return ToldPools(tuple(found), tokens, tuple(told))


def _tell_reserves(pool: Pool) -> dict[str, object]:
    return {"reserve0": str(pool.reserve0), "reserve1": str(pool.reserve1)}


def _tell_range(pool: Pool, ticks: Sequence[tuple[int, str, str]]) -> dict[str, object]:
    return {
        "spacing": _spacing_of(pool),
        "price": str(pool.sqrt_price),
        "liquidity": str(pool.liquidity),
        "tick": pool.pool_tick,
        "ticks": list(ticks),
    }


def _is_plain(pool: Pool) -> bool:
    if pool.version != "v4":
        return pool.version == "v2" or pool.fee in ranges.TICK_SPACING_OF_FEE
    key = key_of(pool)
    return pool.hooks is None and key.currency0 != COIN and key.fee == pool.fee


def _spacing_of(pool: Pool) -> int:
    return key_of(pool).spacing if pool.version == "v4" else ranges.TICK_SPACING_OF_FEE[pool.fee]


def _read_ticks(reader: ChainReader, pools: Sequence[Pool]) -> list[list[tuple[int, str, str]]]:
    """Of each pool its ticks with net and gross liquidity, and what lies beyond at the edges."""
    v4 = v4_on(reader.chain_id)
    view = v4.state_view if v4 is not None else ""
    words = [_words_around(pool) for pool in pools]
    bitmaps = iter(
        reader.call_many(
            [
                ReadCall(view, _V4_BITMAP, (_id_of(pool), word))
                if pool.version == "v4"
                else ReadCall(pool.id, TICK_BITMAP, (word,))
                for pool, own in zip(pools, words, strict=True)
                for word in own
            ]
        )
    )
    indexes = [
        [
            (word * TICKS_PER_WORD + bit) * _spacing_of(pool)
            for word in own
            if (bitmap := next(bitmaps)).ok
            for bit in range(TICKS_PER_WORD)
            if bitmap.values[0] >> bit & 1
        ]
        for pool, own in zip(pools, words, strict=True)
    ]
    states = iter(
        reader.call_many(
            [
                ReadCall(view, _V4_TICK, (_id_of(pool), index))
                if pool.version == "v4"
                else ReadCall(pool.id, TICKS, (index,))
                for pool, own in zip(pools, indexes, strict=True)
                for index in own
            ]
        )
    )
    return [
        _close(pool, own, [(index, next(states).values[:2]) for index in found])
        for pool, own, found in zip(pools, words, indexes, strict=True)
    ]


def _id_of(pool: Pool) -> bytes:
    return bytes.fromhex(pool.id[2:])


def _words_around(pool: Pool) -> range:
    spacing = _spacing_of(pool)
    lowest, highest = ranges.usable_tick_bounds(spacing)
    centre = pool.pool_tick // spacing // TICKS_PER_WORD
    first = max(centre - WORDS_EACH_SIDE, lowest // spacing // TICKS_PER_WORD)
    return range(first, min(centre + WORDS_EACH_SIDE, highest // spacing // TICKS_PER_WORD) + 1)


def _close(pool: Pool, words: range, found: Sequence[tuple[int, Sequence[int]]]) -> list[tuple[int, str, str]]:
    """The ticks with what is missing to the liquidity at the price at either edge."""
    spacing = _spacing_of(pool)
    below = sum(net for index, (_, net) in found if index <= pool.pool_tick)
    above = sum(net for index, (_, net) in found if index > pool.pool_tick)
    edges = (
        ((words[0] * TICKS_PER_WORD - 1) * spacing, pool.liquidity - below),
        ((words[-1] + 1) * TICKS_PER_WORD * spacing, -(pool.liquidity + above)),
    )
    ticks = [(index, net, gross) for index, (gross, net) in found]
    ticks += [(index, net, abs(net)) for index, net in edges if net]
    return [(index, str(net), str(gross)) for index, net, gross in sorted(ticks)]
