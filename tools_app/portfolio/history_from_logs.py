"""Reads from the index the past of a figure that logs tell: a vault's share, a price feed, a rate.

State at old blocks takes an archive, logs do not: what a contract said is known, and what it was silent about is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from tools_app.core.errors import GolemError, Recovery
from tools_app.core.ratio import Ratio
from tools_app.history.bars import day_of
from tools_app.history.index_reads import (
    IndexedBar,
    KeptContract,
    find_one,
    is_any_kept,
    read_bars,
    read_logs,
    read_price_at,
)
from tools_app.history.requested_contracts import have_followed
from tools_app.models.history import BarSpan, SourceKind
from tools_app.portfolio.pool_history import MOST_LOGS, OF_INDEX
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import LogEntry

Period = Annotated[Literal["1d", "7d", "30d", "90d", "365d"], Field(description="How far back.")]
Interval = Annotated[Literal["1h", "1d", "1w"], Field(description="How long each row is, in UTC.")]

MOST_POINTS: Final = 200
_WEEK: Final = timedelta(weeks=1)
_AGGREGATOR: Final = "function aggregator() view returns (address)"
_SPANS: Final = {"1h": BarSpan.HOUR, "1d": BarSpan.DAY, "1w": BarSpan.DAY}
_NOT_FOLLOWED: Final = "this server's index cannot follow it now: it is off, full, or the chain does not answer"
_NOT_YET: Final = "followed from now on; ask again later"
_SILENT: Final = "nothing was told of it in this time"


class NoPast(
    GolemError,
    code="NO_PAST_TOLD",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The past of this figure is told by no log",
):
    """Nothing tells this figure by logs, so that no index knows its past."""


@dataclass(frozen=True, slots=True)
class Point:
    """One hour, day or week in which something was told: the last figure in it, the lowest and the highest.
    `is_whole`: no block of it is missing, and it is over.
    """

    timestamp: str
    value: str
    lowest: str
    highest: str
    is_whole: bool


@dataclass(frozen=True, slots=True)
class UnreadTime:
    """A stretch of time that was not read; `since` null: from the beginning on."""

    since: str | None
    until: str


@dataclass(frozen=True, slots=True)
class ToldPast:
    """Points, oldest first; a span in which nothing was told has none, and the figure before still held. From
    `known_since` to `known_until` nothing is missing. `reason` says why there is no point at all.
    """

    data_points: tuple[Point, ...]
    known_since: str | None
    known_until: str | None
    gaps: tuple[UnreadTime, ...]
    is_cut: bool
    is_followed: bool
    source: str
    reason: str | None


def tell_past(
    ctx: ReadContext,
    reader: ChainReader,
    about: PoolId,
    kind: SourceKind,
    *,
    period: str,
    interval: str,
    show: Callable[[Ratio], str],
    protocol: str = "",
    token: str = "",
) -> ToldPast:
    """What was told up to the reader's block, and have it followed from now on.

    `protocol` and `token` say of whom a rate is asked that no log tells.
    """
    kept = find_one(reader.chain_id, about, kind)
    is_followed = have_followed(
        reader.chain_id, about, kind, golem_id=ctx.golem.id, now=ctx.now, protocol=protocol, token=token
    )
    until = datetime.fromtimestamp(reader.block.timestamp, UTC)
    if kept is None:
        reason = _NOT_YET if is_followed else _NOT_FOLLOWED
        return ToldPast((), None, None, (), False, is_followed, OF_INDEX, reason)
    since = until - timedelta(days=int(period.removesuffix("d")))
    if interval == "1w":
        since = _monday_of(since)
    told = _list_told(read_bars(kept, _SPANS[interval], since=since, until=until))
    points = tuple(
        Point(
            timestamp=each.start.isoformat(),
            value=show(each.last),
            lowest=show(each.low),
            highest=show(each.high),
            is_whole=kept.is_whole(each.start, each.end),
        )
        for each in (_fold_weeks(told) if interval == "1w" else told)
    )
    gaps = (each for each in kept.missing if each.until >= since)
    return ToldPast(
        data_points=points[-MOST_POINTS:],
        known_since=kept.known_since.isoformat(),
        known_until=kept.known_until.isoformat(),
        gaps=tuple(UnreadTime(each.since.isoformat() if each.since else None, each.until.isoformat()) for each in gaps),
        is_cut=len(points) > MOST_POINTS,
        is_followed=is_followed,
        source=OF_INDEX,
        reason=None if points else _SILENT,
    )


def tell_share_prices(
    ctx: ReadContext, reader: ChainReader, vault: str, *, period: str, interval: str, show: Callable[[Ratio], str]
) -> ToldPast:
    """The same of a vault, whose deposits and withdrawals tell what a share was worth."""
    return tell_past(ctx, reader, PoolId(vault), SourceKind.VAULT, period=period, interval=interval, show=show)


def find_teller(reader: ChainReader, feed: str) -> str:
    """The contract that logs a price feed's answers: a proxy of Chainlink names it, any other feed is it."""
    (named,) = reader.call_many([ReadCall(feed, _AGGREGATOR)])
    return str(named.values[0]) if named.ok and int(str(named.values[0]), 16) else feed


def read_answer_at(reader: ChainReader, feed: str, moment: int) -> Ratio | None:
    """What a price feed had last answered at a second, in its own decimals; None where the index does not know."""
    # Nobody is asked who tells for a feed where no feed is followed.
    if not is_any_kept(reader.chain_id, SourceKind.FEED):
        return None
    kept = find_one(reader.chain_id, PoolId(find_teller(reader, feed)), SourceKind.FEED)
    return read_price_at(kept, datetime.fromtimestamp(moment, UTC)) if kept is not None else None


def read_logs_since(reader: ChainReader, contract: str, topics: Sequence[str], since: int) -> list[LogEntry]:
    """What a contract said since a second: out of the index where it has all of it, with the few blocks since from the
    node; else all from the node. Raises the node's errors.
    """
    last = reader.block.number
    kept = find_one(reader.chain_id, PoolId(contract), SourceKind.RATE)
    first, old = 0, []
    moment = datetime.fromtimestamp(since, UTC)
    if kept is not None and moment <= kept.known_until and _is_enough(kept, moment, topics):
        rows = read_logs(kept, contract, since=moment, until_block=last, most=MOST_LOGS)
        if len(rows) < MOST_LOGS:
            first = kept.next_block
            old = [log for log in rows if log.topics and log.topics[0] in topics]
    first = first or reader.first_block_since(since).number
    if first > last:
        return old
    return [*old, *reader.logs(address=contract, topics=[tuple(topics)], from_block=first, to_block=last)]


def _is_enough(kept: KeptContract, since: datetime, topics: Sequence[str]) -> bool:
    return set(topics) <= kept.topics and kept.has_logs(since)


class _ToldSpan(NamedTuple):
    """What was told from `start` to `end`: lowest, highest and last."""

    start: datetime
    end: datetime
    low: Ratio
    high: Ratio
    last: Ratio


def _list_told(bars: Iterable[IndexedBar]) -> Iterator[_ToldSpan]:
    for bar in bars:
        _, high, low, close = bar.prices
        if high is not None and low is not None and close is not None:
            yield _ToldSpan(bar.starts_at, bar.starts_at + bar.length, low, high, close)


def _fold_weeks(days: Iterable[_ToldSpan]) -> Iterator[_ToldSpan]:
    for monday, group in groupby(days, key=lambda day: _monday_of(day.start)):
        told = list(group)
        low, high = min((day.low for day in told), key=_size), max((day.high for day in told), key=_size)
        yield _ToldSpan(monday, monday + _WEEK, low, high, told[-1].last)


def _monday_of(day: datetime) -> datetime:
    return day_of(day) - timedelta(days=day.weekday())


def _size(price: Ratio) -> int:
    # All of the index have one denominator.
    return price.numerator
