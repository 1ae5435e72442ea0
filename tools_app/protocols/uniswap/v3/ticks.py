"""The initialised ticks of a V3 pool around a tick: which exist, and the liquidity that starts or ends there."""

from __future__ import annotations

from tools_app.protocols.uniswap.v3.positions import TICKS
from tools_app.standards import concentrated as v3_math
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.markets import InitialisedTick, Pool

TICK_SPACING = "function tickSpacing() view returns (int24)"
TICK_BITMAP = "function tickBitmap(int16) view returns (uint256)"
TICKS_PER_WORD = 256


def read_tick_spacing(reader: ChainReader, pool: Pool) -> int:
    """How far apart the usable ticks of a pool are."""
    known = v3_math.TICK_SPACING_OF_FEE.get(pool.fee)
    return known if known is not None else int(reader.call(pool.id, TICK_SPACING)[0])


def read_ticks(reader: ChainReader, pool: Pool, *, spacing: int, spacings_each_side: int) -> list[InitialisedTick]:
    """Initialised ticks within so many spacings of the current tick, in order: two batches of reads."""
    centre = pool.pool_tick // spacing
    lowest, highest = v3_math.usable_tick_bounds(spacing)
    first = max(centre - spacings_each_side, lowest // spacing)
    last = min(centre + spacings_each_side + 1, highest // spacing)
    words = range(first // TICKS_PER_WORD, last // TICKS_PER_WORD + 1)
    bitmaps = reader.call_many([ReadCall(pool.id, TICK_BITMAP, (word,)) for word in words])
    found = [
        (word * TICKS_PER_WORD + bit) * spacing
        for word, bitmap in zip(words, bitmaps, strict=True)
        if bitmap.ok
        for bit in range(TICKS_PER_WORD)
        if bitmap.values[0] >> bit & 1 and first <= word * TICKS_PER_WORD + bit <= last
    ]
    states = reader.call_many([ReadCall(pool.id, TICKS, (pool_tick,)) for pool_tick in found])
    return [
        InitialisedTick(pool_tick, net=state.values[1], gross=state.values[0])
        for pool_tick, state in zip(found, states, strict=True)
        if state.ok
    ]
