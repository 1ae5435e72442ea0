"""A worker that dies at one of its doors, found as it runs: a request to a node or another server, a commit, a write.

Between two doors nothing outside the process changes, so dying before each of them, and after the last, is dying
between any two steps. No list of steps is kept here: a step that is added later is met like the others.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from tools_app.chain.http_pool import HttpPool
from tools_app.core import outgoing

KILLED = 9
_METHOD = re.compile(rb'"method":\s*"(\w+)"')


def run_to_door(call: Callable[[], Any], number: int) -> str | None:
    """Run `call` in a fork that dies before its door `number` (from 0); None when it ended with fewer doors.

    Answers the door: the methods a node or another server was asked for, COMMIT, or the statement's verb and table.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _watch_doors(number, writer)
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


def _watch_doors(number: int, writer: int) -> None:
    left = [number]

    def meet(door: str) -> None:
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
