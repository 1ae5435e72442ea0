"""A worker that dies at one of its doors, found as it runs: a request to a node or another server, a commit, a write.

Between two doors nothing outside the process changes, so dying before each of them, and after the last, is dying
between any two steps. No list of steps is kept here: a step that is added later is met like the others. Doors that only
read may be passed where each death costs much: what is left behind is the same on both sides of them.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import pytest
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from tools_app.chain.http_pool import HttpPool
from tools_app.core import outgoing

KILLED = 9
MOST_DOORS = 120
"""More than anything here has; a worker that never ends is noticed."""
Started = TypeVar("Started")
_METHOD = re.compile(rb'"method":\s*"(\w+)"')
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
    """What `start` made, for each door of `work` once, with the door its worker died before; None ends it."""
    for number in range(MOST_DOORS):
        started = start(number)
        door = run_to_door(partial(work, started), number, is_door)
        yield started, door
        if door is None:
            return
    pytest.fail(f"no end after {MOST_DOORS} doors")


def run_to_door(call: Callable[[], Any], number: int, is_door: Callable[[str], bool]) -> str | None:
    """Run `call` in a fork that dies before its door `number` (from 0); None when it ended with fewer doors.

    Answers the door: the methods a node or another server was asked for, COMMIT, or the statement's verb and table.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _watch_doors(number, writer, is_door)
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
    assert status == KILLED, f"the worker ended by itself before door {number}, with {status} and {word!r}"
    return word


def _watch_doors(number: int, writer: int, is_door: Callable[[str], bool]) -> None:
    left = [number]

    def meet(door: str) -> None:
        if not is_door(door):
            return
        if left[0] == 0:
            os.write(writer, door.encode())
            os._exit(KILLED)
        left[0] -= 1

    post, commit = HttpPool.post, DatabaseWrapper._commit  # type: ignore[attr-defined]
    exchange = outgoing.exchange

    def watched_post(self: HttpPool, body: bytes, **bounds: Any) -> Any:
        meet(" ".join(sorted({method.decode() for method in _METHOD.findall(body)})))
        return post(self, body, **bounds)

    def watched_exchange(method: str, target: outgoing.Target, **request: Any) -> outgoing.Answer:
        meet(" ".join(name.decode() for name in _METHOD.findall(request["body"] or b"")) or method)
        return exchange(method, target, **request)

    def watched_commit(self: DatabaseWrapper) -> None:
        meet("COMMIT")
        commit(self)

    def watched_statement(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        words = str(sql).split(None, 3)
        if words[0].upper() != "SELECT" and not connection.in_atomic_block:
            meet(" ".join(words[:3] if words[0].upper() != "UPDATE" else words[:2]).replace('"', ""))
        return execute(sql, *rest)

    outgoing.exchange = watched_exchange
    HttpPool.post = watched_post  # type: ignore[method-assign]
    DatabaseWrapper._commit = watched_commit  # type: ignore[attr-defined]
    connection.execute_wrappers.append(watched_statement)
