"""Runs what blocks (Django's ORM, the synchronous Redis client) in a few threads beside the event loop.

Doors in front of Django have no middleware: what such a thread keeps from a sink is told here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from django.db import connections

from tools_app.core import clock
from tools_app.core.blocked_flows import audited

T = TypeVar("T")

# Few on purpose: a thousand clients that reconnect at once queue here instead of emptying the connection pool.
_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="event-log")


async def run_blocking(function: Callable[[], T], *, threads: ThreadPoolExecutor = _threads) -> T:
    """The result of `function`, run in one of `threads` with the caller's context; it gives its database connection
    back.
    """

    def run() -> T:
        try:
            with audited(actor="system:door", now=clock.now):
                return function()
        finally:
            connections.close_all()

    return await asyncio.get_running_loop().run_in_executor(threads, copy_context().run, run)
