"""Bars from any order of arrival are those that one look at all logs makes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from tests.tools_app.history.followed import OwnBar
from tools_app.core.ratio import Ratio
from tools_app.history import bars, log_table_months
from tools_app.history.index_reads import KeptContract, Missing, read_bars
from tools_app.history.log_meanings import Said
from tools_app.models import ChainLog, LogSource, PriceBar
from tools_app.models.history import BarSpan, SourceKind
from tools_app.toolkit.views import LogEntry

BEGUN = datetime(2026, 1, 31, 22, 0, tzinfo=UTC)
AMOUNTS = st.integers(0, 2**112)
PRICES = st.none() | st.integers(0, 2**304)
SAID = st.builds(lambda price, pair: Said(price, *pair), PRICES, st.just((None, None)) | st.tuples(AMOUNTS, AMOUNTS))
# Two days and a change of month; blocks come in the order of their times.
LOGS = st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 3), SAID), max_size=40, unique_by=lambda row: row[:2])


def make_source(address: str = "0x" + "11" * 20) -> LogSource:
    return LogSource.objects.create(
        chain_id=31337, address=address, kind=SourceKind.POOL, topics=[], added_at=BEGUN, kept_from=BEGUN
    )


def make_log(source: LogSource, block: int, index: int, said: Said) -> log_table_months.NewLog:
    time = BEGUN + timedelta(seconds=80 * block)
    entry = LogEntry(source.address, ("0x" + "22" * 32,), "0x", block, "0x" + "33" * 32, index, "0x" + "44" * 32)
    return log_table_months.NewLog(source.pk, time, entry, said)


def write(rows: Sequence[log_table_months.NewLog]) -> None:
    log_table_months.make_months(row.time for row in rows)
    with transaction.atomic():
        log_table_months.copy_logs(rows)
        bars.fold({(row.source_id, bars.hour_of(row.time)) for row in rows})


def compute(rows: Sequence[log_table_months.NewLog], span: BarSpan) -> dict[datetime, tuple[Any, ...]]:
    found: defaultdict[datetime, OwnBar] = defaultdict(OwnBar)
    seconds = 3_600 if span == BarSpan.HOUR else 86_400
    for row in sorted(rows, key=lambda row: (row.log.block_number, row.log.log_index)):
        bar = found[datetime.fromtimestamp(int(row.time.timestamp()) // seconds * seconds, UTC)]
        if row.said.price_x192 is not None:
            bar.prices.append(row.said.price_x192)
        if row.said.in0 is not None and row.said.in1 is not None:
            bar.in0, bar.in1, bar.trades = bar.in0 + row.said.in0, bar.in1 + row.said.in1, bar.trades + 1
    return {start: bar.as_told() for start, bar in found.items()}


def stored(source: LogSource, span: BarSpan) -> dict[datetime, tuple[Any, ...]]:
    rows = PriceBar.objects.filter(source=source, span=span)
    return {
        row.starts_at: (
            *(None if each is None else int(each) for each in _prices(row)),
            int(row.in0),
            int(row.in1),
            row.trades,
        )
        for row in rows
    }


def _prices(row: PriceBar) -> tuple[Any, ...]:
    return row.open_x192, row.high_x192, row.low_x192, row.close_x192


class AnyOrder(TestCase):
    """With a database that forgets each example."""

    @settings(max_examples=60, deadline=None)
    @given(LOGS, st.randoms(use_true_random=False), st.integers(1, 7))
    def test_bars_do_not_depend_on_the_order_in_which_logs_came(
        self, drawn: list[tuple[int, int, Said]], order: Any, piece: int
    ) -> None:
        source, other = make_source(), make_source("0x" + "12" * 20)
        rows = [make_log(source, *row) for row in drawn]
        write([make_log(other, *row) for row in drawn[:5]])
        shuffled = list(rows)
        order.shuffle(shuffled)
        for at in range(0, len(shuffled), piece):
            write(shuffled[at : at + piece])
        for span in BarSpan:
            assert stored(source, span) == compute(rows, span)
            assert stored(other, span) == compute(rows[:5], span)

    @settings(max_examples=25, deadline=None)
    @given(LOGS, st.integers(0, 2_000))
    def test_what_a_rollback_takes_leaves_the_bars_of_what_stays(
        self, drawn: list[tuple[int, int, Said]], fork: int
    ) -> None:
        source = make_source()
        rows = [make_log(source, *row) for row in drawn]
        write(rows)
        ChainLog.objects.filter(source_id=source.pk, block_number__gt=fork).delete()
        gone = [row for row in rows if row.log.block_number > fork]
        bars.fold({(row.source_id, bars.hour_of(row.time)) for row in gone})
        left = [row for row in rows if row.log.block_number <= fork]
        for span in BarSpan:
            assert stored(source, span) == compute(left, span)


@pytest.mark.django_db
def test_a_bar_whose_hour_was_not_read_whole_says_so() -> None:
    source = make_source()
    write([make_log(source, block, 0, Said(2**192 * 3, 5, 0)) for block in range(0, 400, 10)])
    hole = Missing(BEGUN + timedelta(hours=2, minutes=10), BEGUN + timedelta(hours=2, minutes=20))
    known_until = BEGUN + timedelta(hours=7, minutes=30)
    kept = KeptContract(source.pk, hole.until, known_until, (hole,), 400)
    told = read_bars(kept, BarSpan.HOUR, since=BEGUN, until=BEGUN + timedelta(days=1))
    assert [bar.is_whole for bar in told] == [True, True, False, True, True, True, True, False, False]
    assert {bar.prices[0] for bar in told} == {Ratio(3 * 2**192, 2**192)}
