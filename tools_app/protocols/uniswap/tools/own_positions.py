"""The golem's own positions of V3 and V4, by their ids."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.protocols.uniswap.liquidity_mining.deposits import check_not_staked
from tools_app.protocols.uniswap.markets import UniswapRanges
from tools_app.protocols.uniswap.paths import V4
from tools_app.protocols.uniswap.v3.positions import V3Position
from tools_app.protocols.uniswap.v3.ticks import read_tick_spacing
from tools_app.protocols.uniswap.v4.pools import key_of
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool, PositionNotFound


def read_own(reader: ChainReader, ids: Sequence[str], owner: str) -> dict[str, V3Position]:
    """Each by its id. Raises PositionStaked for one at the staker, PositionNotFound, also for one of somebody else."""
    small = [each for each in ids if int(each.rpartition(":")[2]) < 2**256]
    found = {each.position_id: each for each in UniswapRanges().read_many(reader, small)}
    for position_id in ids:
        if position_id in found and found[position_id].owner != owner:
            check_not_staked(reader, position_id, holder=found[position_id].owner, account=owner)
        if position_id not in found or found[position_id].owner != owner:
            raise PositionNotFound(
                f"this account holds no position {position_id}", position_id=position_id, next={"query": "positions"}
            )
    return found


def spacing_of(reader: ChainReader, pool: Pool) -> int:
    """How far apart the usable ticks of a V3 or V4 pool are."""
    return key_of(pool).spacing if pool.version == V4 else read_tick_spacing(reader, pool)
