"""The index of logs: how fast logs come in, a year of hours is read, 64 blocks are taken back, what a tick feels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from django.db import connection, transaction

from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.bench.followed import measure_followed
from tools_app.core import clock
from tools_app.history import bars, chain_following, follower_positions, log_table_months
from tools_app.history.index_reads import KeptContract, read_bars
from tools_app.history.log_meanings import Said
from tools_app.models import FollowedChain, LogSource, PriceBar, SeenBlock
from tools_app.models.history import BarSpan, SourceKind
from tools_app.toolkit.views import LogEntry

_CHAIN = 31_338
_LOGS, _POOLS = 100_000, 50
_LEAST_A_SECOND = 50_000.0
_YEAR_HOURS = 8_760
_MOST_READ_MS = 20.0
_PAIRS = 30
# What the machine does besides slows both of a pair alike.
_AS_MUCH = """
SELECT string_agg(concat_ws(',', hour, price, price, price, price, 10::numeric ^ 18, 10 ^ 9, 7), ';')
FROM (SELECT hour::bigint, %s::numeric::text AS price FROM generate_series(1, %s) hour) made
"""
_BLOCKS, _LOGS_A_BLOCK = 64, 100
_MOST_ROLLBACK_MS = 1_000.0
_BEGUN = datetime(2026, 3, 1, tzinfo=UTC)
_PRICE = 3_000 * 2**192


class _Undo(Exception):
    """Ends a transaction whose rows are not kept."""


@measure("history")
def measure_history() -> Iterator[Figure]:
    """The first three in transactions that are taken back, beside whatever the database holds."""
    log_table_months.make_months([_BEGUN, *(_BEGUN + timedelta(days=31 * month) for month in range(12))])
    figures: list[Figure] = []
    try:
        with transaction.atomic():
            sources = [_make_source(number) for number in range(_POOLS)]
            figures += [_measure_coming(sources), _measure_reading(sources[0]), _measure_rollback(sources)]
            raise _Undo
    except _Undo:
        yield from figures
    yield from measure_followed()


def _make_source(number: int) -> LogSource:
    return LogSource.objects.create(
        chain_id=_CHAIN,
        address=f"0x{number:040x}",
        kind=SourceKind.POOL,
        topics=[],
        added_at=_BEGUN,
        kept_from=_BEGUN,
    )


def _make_log(source: LogSource, block: int, index: int, begun: datetime) -> log_table_months.NewLog:
    topics = tuple("0x" + f"{each:02x}" * 32 for each in range(3))
    entry = LogEntry(source.address, topics, "0x" + "11" * 160, block, "0x" + "22" * 32, index, "0x" + "33" * 32)
    return log_table_months.NewLog(
        source.pk, begun + timedelta(seconds=12 * block), entry, Said(_PRICE + block, index, block)
    )


def _measure_coming(sources: list[LogSource]) -> Figure:
    rows = [_make_log(sources[each % _POOLS], each // 100, each % 100, _BEGUN) for each in range(_LOGS)]
    started = clock.monotonic_ms()
    log_table_months.copy_logs(rows)
    written = clock.monotonic_ms() - started
    started = clock.monotonic_ms()
    bars.fold({(row.source_id, bars.hour_of(row.time)) for row in rows})
    folded = clock.monotonic_ms() - started
    return Figure(
        "history.in",
        f"logs a second written into their months, of {_LOGS} decoded ones",
        round(_LOGS * 1000 / written),
        "logs/s",
        target=_LEAST_A_SECOND,
        at_least=True,
        reference=f"{round(_LOGS * 1000 / (written + folded))} logs/s with their bars folded",
    )


def _measure_reading(source: LogSource) -> Figure:
    year = datetime(2025, 1, 1, tzinfo=UTC)
    prices = dict.fromkeys(("open_x192", "high_x192", "low_x192", "close_x192"), _PRICE)
    PriceBar.objects.bulk_create(
        PriceBar(
            source=source,
            span=BarSpan.HOUR,
            starts_at=year + timedelta(hours=hour),
            in0=10**18,
            in1=10**9,
            trades=7,
            **prices,
        )
        for hour in range(_YEAR_HOURS)
    )
    until = year + timedelta(hours=_YEAR_HOURS)
    kept = KeptContract(source.pk, year, until, (), 1)

    def read() -> None:
        if len(read_bars(kept, BarSpan.HOUR, since=year, until=until)) != _YEAR_HOURS:
            raise RuntimeError("a bar is missing")

    def read_as_much() -> None:
        with connection.cursor() as cursor:
            cursor.execute(_AS_MUCH, [_PRICE, _YEAR_HOURS])
            [told] = cursor.fetchone()
        if told.count(";") != _YEAR_HOURS - 1:
            raise RuntimeError("a row is missing")

    for each in (read, read_as_much):
        time_calls(each, count=3)
    pairs = [
        (time_calls(read, count=1, warm_up=0)[0], time_calls(read_as_much, count=1, warm_up=0)[0])
        for _ in range(_PAIRS)
    ]
    times, yard = [each[0] for each in pairs], [each[1] for each in pairs]
    return Figure(
        "history.year",
        f"the hour bars of a year of one pool, read: the median of {_PAIRS} pairs with as much text that PostgreSQL"
        " makes of no table, times the fastest of that",
        round(percentile([mine / other for mine, other in pairs], 50) * min(yard), 1),
        "ms",
        target=_MOST_READ_MS,
        reference=f"by the clock {percentile(times, 50):g} ms, {percentile(times, 95):g} ms at the 95th percentile;"
        f" {min(times):g} ms the fastest",
    )


def _measure_rollback(sources: list[LogSource]) -> Figure:
    begun = _BEGUN + timedelta(days=60)
    headers = [
        SeenBlock(chain_id=_CHAIN, number=block, hash=f"0x{block:064x}", time=begun + timedelta(seconds=12 * block))
        for block in range(_BLOCKS + 1)
    ]
    SeenBlock.objects.bulk_create(headers)
    rows = [
        _make_log(sources[index % _POOLS], block, index, begun)
        for block in range(1, _BLOCKS + 1)
        for index in range(_LOGS_A_BLOCK)
    ]
    log_table_months.copy_logs(rows)
    bars.fold({(row.source_id, bars.hour_of(row.time)) for row in rows})
    follower_positions.add_logs(Counter(row.source_id for row in rows))
    place = FollowedChain.objects.create(
        chain_id=_CHAIN,
        next_block=_BLOCKS + 1,
        head_hash=headers[-1].hash,
        head_time=headers[-1].time,
        followed_at=begun,
        spent_since=begun,
    )
    started = clock.monotonic_ms()
    chain_following.roll_back(place, 0, clock.now())
    taken = clock.monotonic_ms() - started
    after = follower_positions.load_place(_CHAIN)
    if after is None or after.next_block != 1:
        raise RuntimeError("nothing was taken back")
    return Figure(
        "history.rollback",
        f"{_BLOCKS} blocks with {len(rows)} logs of {_POOLS} contracts taken back, their bars folded anew",
        round(taken, 1),
        "ms",
        target=_MOST_ROLLBACK_MS,
    )
