"""What a table of millions of rows costs whole and in parts by month: the audit log's columns, constraints and indexes.

It is what decision 0636 was decided on. The rows stand in a schema of their own, which goes when the figures are read.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.db import connection

from golem_project.settings.environment import read_integer
from tests.bench.figures import Figure, measure, percentile, time_calls
from tools_app.core.models import AuditEntry

_ROWS: Final = read_integer("GOLEM_BENCH_PART_ROWS", 2_000_000)
_GOLEMS: Final = 1_000
_MONTHS: Final = 12
_LOOKS: Final = 200
_WRITTEN: Final = 300
_ARCHIVED: Final = 1_000
_KINDS: Final = ("whole", "parted")
_TABLE: Final = AuditEntry._meta.db_table

# Of golem g the entries s = 1, 2, …, spread over twelve months in their order.
_FILL: Final = f"""
INSERT INTO bench_parts.{{kind}}
SELECT n, md5('golem' || n %% {_GOLEMS})::uuid, n / {_GOLEMS}, '0x' || repeat(md5(n::text), 2),
       (n::bigint * {_MONTHS} * 1000 / {{rows}}), 1, 'permit.committed', 'key:abcdef',
       jsonb_build_object('permit_id', md5('p' || n)::uuid, 'at', n, 'words', repeat('golem ', 30)),
       '0x' || md5('e' || n) || md5('f' || n)
  FROM generate_series(%s, %s) AS n
"""


@measure("parts")
def measure_parts() -> Iterator[Figure]:
    """Each of the two is filled, asked, written to, and relieved of what is old."""
    told = f"{_ROWS:,} rows of {_GOLEMS:,} golems over {_MONTHS} months"
    with _two_tables():
        for kind in _KINDS:
            yield from _measure_one(kind, told)
        yield _count_doubles()


@contextmanager
def _two_tables() -> Iterator[None]:
    _run("DROP SCHEMA IF EXISTS bench_parts CASCADE", "CREATE SCHEMA bench_parts")
    try:
        _run(
            f"CREATE TABLE bench_parts.whole (LIKE {_TABLE})",
            f"CREATE TABLE bench_parts.parted (LIKE {_TABLE}) PARTITION BY RANGE (timestamp_ms)",
            "ALTER TABLE bench_parts.whole ADD UNIQUE (golem_id, seq), ADD UNIQUE (entry_hash)",
            # As PostgreSQL asks: the month stands in every constraint.
            "ALTER TABLE bench_parts.parted ADD UNIQUE (golem_id, seq, timestamp_ms),"
            " ADD UNIQUE (entry_hash, timestamp_ms)",
            *(
                f"CREATE TABLE bench_parts.month{month} PARTITION OF bench_parts.parted"
                f" FOR VALUES FROM ({1_000 * month}) TO ({1_000 * (month + 1) if month < _MONTHS else 'MAXVALUE'})"
                for month in range(_MONTHS + 1)
            ),
            *(f"CREATE INDEX ON bench_parts.{kind} (golem_id, event)" for kind in _KINDS),
            *(f"CREATE INDEX ON bench_parts.{kind} (golem_id, (data -> 'permit_id'))" for kind in _KINDS),
        )
        for kind in _KINDS:
            _write(kind, 0, _ROWS - 1)
            _run(f"VACUUM (ANALYZE) bench_parts.{kind}")
        yield
    finally:
        _run("DROP SCHEMA bench_parts CASCADE")


def _measure_one(kind: str, told: str) -> Iterator[Figure]:
    chance = random.Random(kind)

    def find() -> None:
        golem, number = chance.randrange(_GOLEMS), chance.randrange(_ROWS // _GOLEMS)
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT data FROM bench_parts.{kind} WHERE golem_id = md5(%s)::uuid AND seq = %s",
                [f"golem{golem}", number],
            )
            assert cursor.fetchone() is not None

    looks = time_calls(find, count=_LOOKS)
    yield Figure(f"parts.{kind}.find", f"an entry by golem and number, {kind}", percentile(looks, 50), "ms", None, told)
    begins = iter(range(_ROWS, _ROWS + 100 * _WRITTEN, _WRITTEN))

    def write() -> None:
        first = next(begins)
        _write(kind, first, first + _WRITTEN - 1)

    wrote = time_calls(write, count=20)
    yield Figure(f"parts.{kind}.write", f"{_WRITTEN} entries written at once, {kind}", percentile(wrote, 50), "ms")
    archive = f"DELETE FROM bench_parts.{kind} WHERE golem_id = md5('golem7')::uuid AND seq < {_ARCHIVED}"
    (archived,) = time_calls(lambda: _run(archive), count=1, warm_up=0)
    yield Figure(f"parts.{kind}.archive", f"{_ARCHIVED} entries of one golem let go, {kind}", archived, "ms")
    relieve = (
        ("DELETE FROM bench_parts.whole WHERE timestamp_ms < 1000", "VACUUM bench_parts.whole")
        if kind == "whole"
        else ("DROP TABLE bench_parts.month0",)
    )
    (relieved,) = time_calls(lambda: _run(*relieve), count=1, warm_up=0)
    words = "deleted and vacuumed" if kind == "whole" else "dropped"
    yield Figure(f"parts.{kind}.month", f"a month of all golems {words}", relieved, "ms")


def _count_doubles() -> Figure:
    """Whether the parted table takes one golem's entry of the same number and hash twice, in two months."""
    before = _ask("SELECT count(*) FROM bench_parts.parted")
    _run(
        "INSERT INTO bench_parts.parted SELECT id, golem_id, seq, prev_hash, timestamp_ms - 1000, heartbeat_tick,"
        " event, actor, data, entry_hash FROM bench_parts.month5 LIMIT 1"
    )
    doubles = int(_ask("SELECT count(*) FROM bench_parts.parted")) - int(before)
    return Figure("parts.doubles", "second entries of one number and hash that parts by month let in", doubles, "")


def _write(kind: str, first: int, last: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_FILL.format(kind=kind, rows=_ROWS), [first, last])


def _run(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _ask(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return str(cursor.fetchone()[0])
