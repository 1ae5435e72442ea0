"""What a preview's questions cost by themselves: the node's answers, the database's round trips, the web server's.

The requests of one preview are recorded and sent again, bare and over one kept line; nothing of the product runs
between them. A preview can be no faster than their sum, and all of it is on the way of one that decides.
"""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection

from golem_project.demo.seed import CHAIN_ID
from golem_project.embedded.product_process_plans import WEB_HOST
from tests.bench.figures import Figure, percentile, time_calls
from tools_app.chain.http_pool import HttpPool

_COUNT: Final = 60
_TABLE: Final = "bench_floor"


@dataclass(slots=True)
class Questions:
    """What one preview asked: bodies of requests to the node, and how many statements."""

    bodies: list[bytes]
    statements: int = 0


def measure_floors(port: int, preview: Callable[[], Any]) -> Iterator[Figure]:
    """`preview` is asked for once, warm, in this process."""
    asked = _record(preview)
    node = percentile(time_calls(_repeat(asked.bodies), count=_COUNT), 50)
    statement, commit = _measure_database()
    database = round(asked.statements * statement + commit, 2)
    web = percentile(time_calls(_look_at_health(port), count=_COUNT), 50)
    told = f"{len(asked.bodies)} requests of {sum(map(len, asked.bodies)):,} bytes, sent again bare"
    yield Figure("fleet.floor.node", "what the node takes to answer a preview's questions", node, "ms", None, told)
    told = f"{asked.statements} round trips of {statement:g} ms, and {commit:g} ms for a row that is kept"
    yield Figure("fleet.floor.database", "what the same number of empty questions takes", database, "ms", None, told)
    yield Figure("fleet.floor.web", "a request that nothing is done for, through the web server", web, "ms")
    whole = round(node + database + web, 2)
    yield Figure("fleet.floor.sum", "the three together, before anything of a preview is worked out", whole, "ms")


def _record(preview: Callable[[], Any]) -> Questions:
    for _ in range(3):
        preview()
    asked = Questions([])
    post = HttpPool.post

    def keep(pool: HttpPool, body: bytes, **limits: Any) -> Any:
        asked.bodies.append(body)
        return post(pool, body, **limits)

    def count(execute: Callable[..., Any], *given: Any) -> Any:
        asked.statements += 1
        return execute(*given)

    with patch.object(HttpPool, "post", keep), connection.execute_wrapper(count):
        preview()
    return asked


def _repeat(bodies: list[bytes]) -> Callable[[], None]:
    parts = urlsplit(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
    line = http.client.HTTPConnection(parts.hostname or WEB_HOST, parts.port or 80, timeout=30)

    def ask_all() -> None:
        for body in bodies:
            line.request("POST", "/", body, {"Content-Type": "application/json"})
            line.getresponse().read()

    return ask_all


def _look_at_health(port: int) -> Callable[[], None]:
    line = http.client.HTTPConnection(WEB_HOST, port, timeout=30)

    def look() -> None:
        line.request("GET", "/healthz")
        line.getresponse().read()

    return look


def _measure_database() -> tuple[float, float]:
    """Milliseconds of an empty question, and of what a row that is written and kept takes beyond it."""
    with _table(), connection.cursor() as cursor:
        asked = percentile(time_calls(lambda: cursor.execute("SELECT 1"), count=_COUNT), 50)
        kept = percentile(time_calls(lambda: cursor.execute(f"INSERT INTO {_TABLE} VALUES (1)"), count=_COUNT), 50)
    return asked, round(max(kept - asked, 0.0), 3)


@contextmanager
def _table() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {_TABLE} (number integer)")
        try:
            yield
        finally:
            cursor.execute(f"DROP TABLE {_TABLE}")
