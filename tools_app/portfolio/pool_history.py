"""The past of a pool for whoever computes with it: its trades in the chain's order, and bars of hours and days.

Trades come out of the index where it has all of them, with the few blocks since from the node; of a pool that is not
followed they are asked of the node. Bars are those of the index alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from tools_app.chain.node_errors import BlockUnavailable
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.ratio import Ratio
from tools_app.history.index_reads import Bars, KeptContract, KeptTrade, Missing, find_one, read_bars, read_trades
from tools_app.models.history import BarSpan, SourceKind
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Markets, Pool
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import BlockRef

OF_INDEX: Final = "this server's index"
OF_NODE: Final = "the node's logs"
ESTIMATED: Final = ", with times between blocks interpolated"
"""Said behind a source where more blocks held trades than times are asked for."""
MOST_LOGS: Final = 50_000
"""Of more logs in a window the newest are computed with, and it is said."""
MOST_TIMES: Final = 256
"""So many blocks of trades are asked when they were, spread over them where there are more."""
_TIMES_AT_ONCE: Final = 64
NOT_FOLLOWED: Final = (
    "the pool is not followed by this server's index; stream_pool_events, or a position in it, has it followed"
)


class InsufficientHistory(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="Too little of the past is known for this figure",
    cleared_by="more of the past is known: more trades happen, or the pool is followed for longer",
):
    """Too little is known of the past to compute a figure; `data.known` and `data.needed` are counts."""


class PoolNotCounted(
    InsufficientHistory,
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="Trades of this kind of pool are not counted here",
    cleared_by="",
):
    """A pool of a kind whose trades nobody here counts: no time and no following changes that."""


def check_counted(markets: Markets, pool: Pool) -> None:
    """Raises PoolNotCounted with the reason why its trades are not counted, and what helps."""
    _refuse(markets.why_not_counted(pool), pool)


def check_computed(markets: Markets, pool: Pool) -> None:
    """Raises PoolNotCounted with the reason why swaps in it are not computed, and what helps."""
    _refuse(markets.why_not_computed(pool), pool)


def _refuse(reason: str | None, pool: Pool) -> None:
    if reason is not None:
        raise PoolNotCounted(f"{reason}; take another pool of the pair, or ask for a quote", pool_address=pool.id)


class Trade(NamedTuple):
    """One trade: what the trader paid in, in base units of either token, and token1 per token0 in the pool after it.

    `time` is Unix seconds, that of its block; where the source says so, some lie in proportion between blocks read.
    """

    block: int
    time: int
    in0: int
    in1: int
    price: Ratio


@dataclass(frozen=True, slots=True)
class PoolPast:
    """The trades of a pool in a window of time, oldest first. `is_cut`: the oldest were left out."""

    trades: tuple[Trade, ...]
    since: datetime
    until: datetime
    source: str
    is_cut: bool

    @property
    def seconds(self) -> float:
        """How long the window is."""
        return (self.until - self.since).total_seconds()


@dataclass(frozen=True, slots=True)
class PastBars:
    """The bars of a pool that is followed. `missing` are gaps that reach into the window."""

    bars: Bars
    known_since: datetime
    known_until: datetime
    missing: tuple[Missing, ...]


def read_past(reader: ChainReader, markets: Markets, pool: Pool, *, hours: int) -> PoolPast:
    """The trades of the last hours up to the reader's block. Raises InsufficientHistory where they cannot be read."""
    check_counted(markets, pool)
    until = datetime.fromtimestamp(reader.block.timestamp, UTC)
    since = until - timedelta(hours=hours)
    kept = find_kept_pool(reader.chain_id, pool.pool_id, is_turned=markets.is_turned(pool))
    try:
        if kept is not None and kept.has_logs(since):
            return _read_kept(reader, markets, pool, kept, since, until)
        return _read_told(reader, markets, pool, since, until)
    except InsufficientHistory:
        raise
    except GolemError as error:
        raise InsufficientHistory(
            f"The trades of the last {hours} hours cannot be read from the node ({error.code}); {NOT_FOLLOWED}",
            pool_address=pool.id,
        ) from None


def read_past_bars(
    chain_id: int, pool: PoolId, span: BarSpan, *, since: datetime, until: datetime, is_turned: bool = False
) -> PastBars | None:
    """The bars of a pool that begin in a window; None for one that is not followed."""
    kept = find_kept_pool(chain_id, pool, is_turned=is_turned)
    if kept is None:
        return None
    gaps = tuple(each for each in kept.missing if each.until >= since and (each.since is None or each.since < until))
    return PastBars(read_bars(kept, span, since=since, until=until), kept.known_since, kept.known_until, gaps)


def read_kept_past(kept: KeptContract, *, since: datetime, until_block: int, most: int) -> PoolPast | None:
    """The newest `most` trades from `since` to where the index was read, and no node is asked; None where a block of
    that time is missing.
    """
    if not kept.has_logs(since):
        return None
    rows = read_trades(kept, since, until_block=until_block, most=most + 1)
    return PoolPast(_join(rows[-most:]), since, kept.known_until, OF_INDEX, is_cut=len(rows) > most)


def find_kept_pool(chain_id: int, pool: PoolId, *, is_turned: bool = False) -> KeptContract | None:
    """What the index keeps of a pool, to be read turned where its logs are; None for one that is not followed."""
    kept = find_one(chain_id, pool, SourceKind.POOL)
    return None if kept is None else replace(kept, is_turned=is_turned)


def _read_kept(
    reader: ChainReader, markets: Markets, pool: Pool, kept: KeptContract, since: datetime, until: datetime
) -> PoolPast:
    rows = read_trades(kept, since, until_block=reader.block.number, most=MOST_LOGS + 1)
    first = BlockRef(kept.next_block, "", int(kept.known_until.timestamp()), 0)
    told = _ask(reader, markets, pool, first)
    said = [*rows[-MOST_LOGS:], *told.trades]
    source = OF_INDEX + (ESTIMATED if told.is_estimated else "")
    return PoolPast(_join(said), since, until, source, is_cut=len(rows) > MOST_LOGS)


def _read_told(reader: ChainReader, markets: Markets, pool: Pool, since: datetime, until: datetime) -> PoolPast:
    first = reader.first_block_since(int(since.timestamp()))
    told = _ask(reader, markets, pool, first)
    # Between two blocks nothing happens; only before the first of all there was no chain.
    begun = since if first.number > 0 else max(since, datetime.fromtimestamp(first.timestamp, UTC))
    source = OF_NODE + (ESTIMATED if told.is_estimated else "")
    return PoolPast(_join(told.trades[-MOST_LOGS:]), begun, until, source, is_cut=len(told.trades) > MOST_LOGS)


class _TradesTold(NamedTuple):
    """What the node told; `is_estimated`: not the time of every block was asked for."""

    trades: list[KeptTrade]
    is_estimated: bool = False


def _ask(reader: ChainReader, markets: Markets, pool: Pool, first: BlockRef) -> _TradesTold:
    """What the node's logs from a block on say, with the times of their blocks. Raises the node errors."""
    last = reader.block
    if first.number > last.number:
        return _TradesTold([])
    topics = pool.pool_id.filter_logs(markets.history_topics)
    logs = reader.logs(address=pool.pool_id.contract, topics=topics, from_block=first.number, to_block=last.number)
    is_turned = markets.is_turned(pool)
    found = []
    for log in sorted(logs, key=lambda log: (log.block_number, log.log_index)):
        said = markets.read_trade(log)
        if said is not None:
            told = said.turned if is_turned else said
            found.append((log.block_number, told))
    numbers = sorted({number for number, _ in found})
    times = _read_times(reader, numbers)
    trades = [KeptTrade(number, times[number], told.price, told.in0, told.in1) for number, told in found]
    return _TradesTold(trades, len(numbers) > MOST_TIMES)


def _read_times(reader: ChainReader, numbers: Sequence[int]) -> dict[int, int]:
    """When each of the blocks was, Unix seconds: of `MOST_TIMES` as the node says, between those in proportion."""
    asked = list(numbers)
    if len(numbers) > MOST_TIMES:
        asked = [numbers[place * (len(numbers) - 1) // (MOST_TIMES - 1)] for place in range(MOST_TIMES)]
    read = [
        block
        for start in range(0, len(asked), _TIMES_AT_ONCE)
        for block in reader.blocks_at(asked[start : start + _TIMES_AT_ONCE])
    ]
    times = {block.number: block.timestamp for block in read}
    edges = iter(pairwise(read))
    before, after = next(edges, (None, None))
    for number in numbers:
        if number in times:
            continue
        while before is not None and after is not None and number > after.number:
            before, after = next(edges)
        if before is None or after is None:
            raise BlockUnavailable("The node does not have that block", block=number)
        span = after.number - before.number
        times[number] = before.timestamp + (after.timestamp - before.timestamp) * (number - before.number) // span
    return times


def _join(said: Sequence[KeptTrade]) -> tuple[Trade, ...]:
    """Trades with the price after each: a pool that tells its reserves beside its trades tells them before."""
    trades, price = [], None
    for each in said:
        price = each.price or price
        if each.in0 is not None and each.in1 is not None and price is not None:
            trades.append(Trade(each.block, each.time, each.in0, each.in1, price))
    return tuple(trades)
