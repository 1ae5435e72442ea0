"""The table of logs by month: parts made as they are needed, rows written in bulk, read in the chain's order."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from django.db import connection, transaction

from tools_app.core.transaction_retry import retry_aborted
from tools_app.history.checked_logs import Stretch, Wanted
from tools_app.history.log_meanings import Said, read_log
from tools_app.models.history import ChainLog, LogSource, SourceKind
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import LogEntry

TABLE: Final = ChainLog._meta.db_table
_COLUMNS: Final = (
    "source_id, block_time, block_number, log_index, block_hash, tx_hash, topics, data, price_x192, in0, in1"
)
_TYPES: Final = (
    *("int8", "timestamptz", "int8", "int4", "bytea", "bytea", "bytea", "bytea"),
    *("numeric", "numeric", "numeric"),
)
_MAKING: Final = 7_041_192
"""The advisory lock of whoever makes or drops a part."""


@dataclass(frozen=True, slots=True)
class NewLog:
    """A log on its way into the table."""

    source_id: int
    time: datetime
    log: LogEntry
    said: Said


def read_new(source: LogSource, log: LogEntry, time: datetime) -> NewLog:
    """The row of a log of `source`, with what it says."""
    return NewLog(source.pk, time, log, read_log(source.chain_id, SourceKind(source.kind), log))


def wanted_of(sources: Iterable[LogSource]) -> Wanted:
    """What is asked of a node for these; what no log tells is not asked."""
    topics: dict[PoolId, frozenset[str]] = {}
    for source in sources:
        if source.topics:
            topics[source.told_by] = topics.get(source.told_by, frozenset()) | frozenset(source.topics)
    return topics


def read_told(sources: Iterable[LogSource], stretch: Stretch) -> list[NewLog]:
    """The rows of all that a stretch told: one for each source that reads such a log."""
    by_teller: dict[PoolId, list[LogSource]] = {}
    for source in sources:
        by_teller.setdefault(source.told_by, []).append(source)
    return [
        read_new(source, log, stretch.time_of(log.block_number))
        for about, log in stretch.told
        for source in by_teller[about]
        if log.topics[0].lower() in source.topics
    ]


def month_of(time: datetime) -> datetime:
    """The first instant of its month, in UTC."""
    return time.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def next_month(month: datetime) -> datetime:
    """The one after it."""
    return month.replace(year=month.year + month.month // 12, month=month.month % 12 + 1)


def list_months() -> dict[datetime, str]:
    """The parts there are: their months and tables, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid"
            " WHERE inhparent = %s::regclass ORDER BY child.relname",
            [TABLE],
        )
        names = [name for (name,) in cursor.fetchall()]
    return {_month_in(name): name for name in names}


def make_months(times: Iterable[datetime]) -> None:
    """Make the parts that logs of these times go into, where they are missing."""
    missing = {month_of(time) for time in times} - set(list_months())
    if missing:
        _make(missing)


@retry_aborted
def _make(months: Collection[datetime]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_MAKING])
        for month in sorted(months):
            cursor.execute(
                f"CREATE TABLE IF NOT EXISTS {_part(month)} PARTITION OF {TABLE}"
                f" FOR VALUES FROM ('{month.isoformat()}') TO ('{next_month(month).isoformat()}')"
            )


@retry_aborted
def drop_month(month: datetime) -> None:
    """Drop a part with all that is in it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_MAKING])
        cursor.execute(f"DROP TABLE IF EXISTS {_part(month)}")


def copy_logs(rows: Iterable[NewLog]) -> int:
    """Write logs whose parts are there, in the caller's transaction; how many. Raises IntegrityError for one twice."""
    count = 0
    with connection.cursor() as cursor, cursor.copy(f"COPY {TABLE} ({_COLUMNS}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(_TYPES)
        for row in rows:
            log, said = row.log, row.said
            copy.write_row(
                (
                    row.source_id,
                    row.time,
                    log.block_number,
                    log.log_index,
                    bytes.fromhex(log.block_hash[2:]),
                    bytes.fromhex(log.tx_hash[2:]),
                    b"".join(bytes.fromhex(topic[2:]) for topic in log.topics),
                    bytes.fromhex(log.data[2:]),
                    said.price_x192,
                    said.in0,
                    said.in1,
                )
            )
            count += 1
    return count


def _part(month: datetime) -> str:
    return f"{TABLE}_{month:%Y_%m}"


def _month_in(part: str) -> datetime:
    year, month = part.removeprefix(f"{TABLE}_").split("_")
    return datetime(int(year), int(month), 1, tzinfo=UTC)
