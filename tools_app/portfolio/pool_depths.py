"""A pool with the ticks around its price, as the maths of swaps take it."""

from __future__ import annotations

from typing import Final

from tools_app.portfolio.pool_history import check_computed
from tools_app.standards.concentrated import usable_tick_bounds
from tools_app.standards.pool_maths import Depths
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Markets, Pool

SPACINGS_EACH_SIDE: Final = 1_000
"""So far around the price ticks are read; a trade that goes further is not computed."""


def read_depths(reader: ChainReader, markets: Markets, pool: Pool) -> Depths:
    """The pool at the reader's block with its ticks. Raises PoolNotCounted and the node errors."""
    check_computed(markets, pool)
    if pool.version != "v3":
        return Depths(pool)
    spacing = markets.tick_spacing(reader, pool)
    lowest, highest = usable_tick_bounds(spacing)
    centre = pool.pool_tick // spacing
    return Depths(
        pool,
        tuple(markets.ticks(reader, pool, spacing=spacing, spacings_each_side=SPACINGS_EACH_SIDE)),
        max(lowest, (centre - SPACINGS_EACH_SIDE) * spacing),
        min(highest, (centre + SPACINGS_EACH_SIDE + 1) * spacing),
        spacing,
    )
