"""Reads the last 24 hours of followed pools from the index, and the newest blocks from the node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from tools_app.core.errors import GolemError
from tools_app.core.ratio import Ratio
from tools_app.history.index_reads import find_kept, read_since
from tools_app.history.log_meanings import list_topics
from tools_app.models.history import SourceKind
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Markets, Pool, PoolDay, TradeRead
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import LogEntry

DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class KeptPoolDay:
    """24 hours of a pool up to the reader's block, and token1 per token0 before them."""

    day: PoolDay
    before: Ratio


def read_kept_days(reader: ChainReader, pools: Sequence[tuple[Markets, Pool]]) -> dict[str, KeptPoolDay]:
    """Those of these pools of which all 24 hours are kept, by name; the others are asked of the node as ever."""
    turned = {pool.id: markets.is_turned(pool) for markets, pool in pools}
    found_kept = find_kept(reader.chain_id, list(turned))
    if not found_kept:
        return {}
    kept = {name: replace(each, is_turned=turned[name]) for name, each in found_kept.items()}
    since = datetime.fromtimestamp(reader.block.timestamp - DAY_SECONDS, UTC)
    days = {
        name: day
        for name, each in kept.items()
        if (day := read_since(each, since, until_block=reader.block.number)) is not None
    }
    if not days:
        return {}
    try:
        tip = reader.logs(
            address=sorted({PoolId(name, kept[name].manager).contract for name in days}),
            topics=[tuple(list_topics(reader.chain_id, SourceKind.POOL))],
            from_block=min(kept[name].next_block for name in days),
            to_block=reader.block.number,
        )
    except GolemError:
        # Whoever asks the node for all of it says why it does not answer.
        return {}
    found = {}
    for markets, pool in pools:
        day = days.get(pool.id)
        if day is None or kept[pool.id].manager != pool.pool_id.manager or markets.why_not_counted(pool) is not None:
            continue
        fresh = _read_trades(markets, pool, [log for log in tip if pool.pool_id.tells(log)])
        trades = [each for each in fresh if each.in0 is not None and each.in1 is not None]
        found[pool.id] = KeptPoolDay(
            day=PoolDay(
                in0=day.in0 + sum(each.in0 or 0 for each in trades),
                in1=day.in1 + sum(each.in1 or 0 for each in trades),
                swaps=day.trades + len(trades),
                prices=(*day.prices, *(each.price for each in fresh if each.price is not None)),
            ),
            before=day.before,
        )
    return found


def _read_trades(markets: Markets, pool: Pool, logs: Sequence[LogEntry]) -> list[TradeRead]:
    found = [said for log in logs if (said := markets.read_trade(log)) is not None]
    return [said.turned for said in found] if markets.is_turned(pool) else found
