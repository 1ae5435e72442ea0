"""Whose processor time a measured stretch used: this process, PostgreSQL, the node. Holds on a busy machine too.

Only what runs on this machine is seen; a server elsewhere counts as nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import psutil
from django.db import connection


@dataclass(slots=True)
class Spent:
    """Milliseconds of processor time."""

    here_ms: float = 0.0
    database_ms: float = 0.0
    node_ms: float = 0.0

    def describe(self, count: int) -> str:
        """What each of `count` took."""
        shares = (self.here_ms, self.database_ms, self.node_ms)
        here, database, node = (share / count for share in shares)
        return f"{here:.1f} ms here, {database:.1f} ms PostgreSQL, {node:.1f} ms node"


@dataclass(slots=True)
class ProcessorTime:
    """Adds up the processor time of the stretches inside `measured`."""

    node_url: str
    spent: Spent = field(default_factory=Spent)

    @contextmanager
    def measured(self) -> Iterator[None]:
        """One stretch; its time is added to `spent`."""
        postmaster, node = find_postmaster(), find_listener(self.node_url)
        database_before, node_before = time_of(postmaster, with_children=True), time_of(node)
        here_before = time.process_time()
        yield
        self.spent.here_ms += 1000 * (time.process_time() - here_before)
        self.spent.database_ms += 1000 * (time_of(postmaster, with_children=True) - database_before)
        self.spent.node_ms += 1000 * (time_of(node) - node_before)


def find_postmaster() -> psutil.Process | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid(), inet_server_port()")
        pid, port = cursor.fetchone()
    try:
        backend = psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None
    # Ids of another machine mean nothing here.
    listener = find_listener(f"tcp://127.0.0.1:{port}")
    return listener if listener is not None and backend.ppid() == listener.pid else None


def find_listener(url: str) -> psutil.Process | None:
    port = urlsplit(url).port
    for found in psutil.net_connections("tcp"):
        if found.status == psutil.CONN_LISTEN and found.laddr.port == port and found.pid:
            return psutil.Process(found.pid)
    return None


def time_of(process: psutil.Process | None, *, with_children: bool = False) -> float:
    """Seconds. A child that has ended counts with its parent's."""
    if process is None:
        return 0.0
    times = process.cpu_times()
    seconds = times.user + times.system
    if with_children:
        seconds += times.children_user + times.children_system
        seconds += sum(time_of(child) for child in process.children())
    return seconds
