"""Measures what a part of the product takes: processors by process, statements, rows read, WAL, questions to a node."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any
from unittest import mock

from django.conf import settings
from django.db import connection

from golem_project.demo.seed import CHAIN_ID
from tests.bench.processor_time import find_listener, find_postmaster, time_of
from tools_app.chain.http_pool import HttpPool
from tools_app.core import clock


@dataclass(slots=True)
class Cost:
    """What `count` of a part took together: milliseconds by the clock and of processors, and what was asked."""

    count: int = 0
    wall_ms: float = 0.0
    worker_ms: float = 0.0
    database_ms: float = 0.0
    node_ms: float = 0.0
    statements: int = 0
    rows_read: int = 0
    wal_bytes: int = 0
    node_requests: int = 0

    def each(self, name: str) -> float:
        """Of one."""
        return float(getattr(self, name)) / max(self.count, 1)

    def as_dict(self) -> dict[str, float]:
        """How many, and what one took."""
        return {"count": self.count} | {name: round(self.each(name), 3) for name in asdict(self) if name != "count"}


@dataclass(slots=True)
class _Stand:
    database: tuple[float, int, int]
    node: float


@dataclass
class Meter:
    """Adds up the cost of each part by its name. Servers are those of this machine."""

    costs: dict[str, Cost] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._postmaster = find_postmaster()
        self._node = find_listener(settings.GOLEM_RPC_URLS[CHAIN_ID][0])

    @contextmanager
    def measured(self, part: str, *, count: int = 1) -> Iterator[Cost]:
        """A stretch that does `part` so often; where that is known only in it, it sets `count` of what it is given."""
        stretch = Cost(count=count)

        def watch(execute: Callable[..., Any], *given: Any) -> Any:
            stretch.statements += 1
            return execute(*given)

        plain = HttpPool.post

        def post(pool: HttpPool, *given: Any, **options: Any) -> Any:
            stretch.node_requests += 1
            return plain(pool, *given, **options)

        before = self._read()
        wall, here = clock.monotonic_ms(), time.process_time()
        with connection.execute_wrapper(watch), mock.patch.object(HttpPool, "post", post):
            yield stretch
        stretch.wall_ms = clock.monotonic_ms() - wall
        stretch.worker_ms = 1000 * (time.process_time() - here)
        after = self._read()
        (spent, rows, wal), (spent_before, rows_before, wal_before) = after.database, before.database
        stretch.database_ms = 1000 * (spent - spent_before)
        stretch.rows_read, stretch.wal_bytes = rows - rows_before, wal - wal_before
        stretch.node_ms = 1000 * (after.node - before.node)
        whole = self.costs.setdefault(part, Cost())
        for name in asdict(whole):
            setattr(whole, name, getattr(whole, name) + getattr(stretch, name))

    def _read(self) -> _Stand:
        with connection.cursor() as cursor:
            # What a session read is told to others only now and then.
            cursor.execute("SELECT pg_stat_force_next_flush()")
            cursor.execute("SELECT 1")
            cursor.execute(
                "SELECT tup_returned, pg_current_wal_insert_lsn() - '0/0'::pg_lsn FROM pg_stat_database"
                " WHERE datname = current_database()"
            )
            rows, wal = cursor.fetchone()
        return _Stand((time_of(self._postmaster, with_children=True), int(rows), int(wal)), time_of(self._node))


def read_sizes() -> dict[str, int]:
    """Bytes of each table with its indexes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        return {name: int(size) for name, size in cursor.fetchall()}
