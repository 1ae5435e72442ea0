"""Runs what blocks (Django's ORM, the synchronous Redis client) in a few threads beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connections

T = TypeVar("T")

# Few on purpose: a thousand clients that reconnect at once queue here instead of emptying the connection pool.
_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="event-log")


async def run_blocking(function: Callable[[], T], *, threads: ThreadPoolExecutor = _threads) -> T:
    """The result of `function`, run in one of `threads`, which gives its database connection back."""

    def run() -> T:
        try:
            return function()
        finally:
            connections.close_all()

    return await asyncio.get_running_loop().run_in_executor(threads, run)
