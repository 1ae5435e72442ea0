"""A worker that dies at one of its doors, found as it runs: a request to a node or another server, a commit, a write.

Between two doors nothing outside the process changes, so dying before each of them, and after the last, is dying
between any two steps. No list of steps is kept here: a step that is added later is met like the others. Doors that only
read may be passed where each death costs much: what is left behind is the same on both sides of them.
"""

from __future__ import annotations

import os
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import pytest
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from tests.watched_locks import WATCH
from tools_app.chain.http_pool import HttpPool
from tools_app.core import guarded_http

KILLED = 9
MOST_DOORS = 120
"""More than anything here has; a worker that never ends is noticed."""
Started = TypeVar("Started")
Door = tuple[str, int]
"""A door's name, and how many of that name a worker met before it."""
_METHOD = re.compile(rb'"method":\s*"(\w+)"')
_NUMBER = re.compile(r"[0-9a-f]*\d[0-9a-f]*")
"""What differs from run to run in a door's name: savepoints and cursors are numbered."""
_READS = re.compile(r"eth_(call|get\w+|blockNumber|chainId|feeHistory|gasPrice|maxPriorityFeePerGas|simulateV1)")


def is_any(door: str) -> bool:
    """Every door."""
    return True


def is_change(door: str) -> bool:
    """A door behind which something changes: all but requests that only read; one that is not known is no read."""
    return not all(_READS.fullmatch(word) for word in door.split())


def kill_at_each_door(
    start: Callable[[int], Started], work: Callable[[Started], Any], *, is_door: Callable[[str], bool] = is_any
) -> Iterator[tuple[Started, str | None]]:
    """What `start` made, for each door of `work` once, with the door its worker died before; None ends it.

    A door is known by its name and by how often the name was met before it. Its place in the row would not do: what a
    worker need not ask again (a reading kept from the run before) moves all the doors behind it.
    """
    died_at: set[Door] = set()
    for number in range(MOST_DOORS):
        started = start(number)
        door = run_to_new_door(partial(work, started), died_at, is_door)
        yield started, door[0] if door is not None else None
        if door is None:
            return
        died_at.add(door)
    pytest.fail(f"no end after {MOST_DOORS} doors")


def run_to_new_door(call: Callable[[], Any], died_at: set[Door], is_door: Callable[[str], bool]) -> Door | None:
    """Run `call` in a fork that dies before its first door outside `died_at`; None when it met none.

    Answers the door: the methods a node or another server was asked for, COMMIT, or the statement's verb and table,
    and how many of that name came before.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _watch_doors(died_at, writer, is_door)
            call()
            os.write(writer, b"ended")
        except BaseException:
            os.write(writer, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        word = told.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if word == "ended" and status == 0:
        return None
    assert status == KILLED, f"the worker ended by itself before its next door, with {status} and {word!r}"
    name, _, before = word.rpartition("#")
    return name, int(before)


def _watch_doors(died_at: set[Door], writer: int, is_door: Callable[[str], bool]) -> None:
    met: Counter[str] = Counter()

    def meet(door: str) -> None:
        if not is_door(door):
            return
        name = _NUMBER.sub("*", door)
        if (name, met[name]) not in died_at:
            os.write(writer, f"{name}#{met[name]}".encode())
            os._exit(KILLED)
        met[name] += 1

    post, commit = HttpPool.post, DatabaseWrapper._commit  # type: ignore[attr-defined]
    exchange = guarded_http.exchange

    def watched_post(self: HttpPool, body: bytes, **bounds: Any) -> Any:
        meet(" ".join(sorted({method.decode() for method in _METHOD.findall(body)})))
        return post(self, body, **bounds)

    def watched_exchange(method: str, target: guarded_http.Target, **request: Any) -> guarded_http.Answer:
        meet(" ".join(name.decode() for name in _METHOD.findall(request["body"] or b"")) or method)
        return exchange(method, target, **request)

    def watched_commit(self: DatabaseWrapper) -> None:
        meet("COMMIT")
        commit(self)

    def watched_statement(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        words = str(sql).split(None, 3)
        if not WATCH.only_reads(str(sql)) and not connection.in_atomic_block:
            meet(" ".join(words[:3] if words[0].upper() != "UPDATE" else words[:2]).replace('"', ""))
        return execute(sql, *rest)

    guarded_http.exchange = watched_exchange
    HttpPool.post = watched_post  # type: ignore[method-assign]
    DatabaseWrapper._commit = watched_commit  # type: ignore[attr-defined]
    connection.execute_wrappers.append(watched_statement)
