"""Opens this process's connections to the broker; no other module does.

A connection that is made anew for each command takes longer than its command, so most callers share a client for each
pair of waits, kept as long as the process. The address is that of the settings, also where a test changes it; the
library makes new connections in a fork. A broker that Sentinels watch is asked for at each new connection, so commands
go on at the one that took over.

Any: the client's types say each answer may be awaited.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel
from django.conf import settings

from tools_app.core.broker_address import WatchedBroker, read_watched


def connect(
    *,
    silence_seconds: float = 2.0,
    connect_seconds: float = 2.0,
) -> Any:  # Any: redis-py's answers have no types
    """The client that this process shares. Its first command opens a connection, and raises RedisError without one."""
    return connect_to(settings.REDIS_URL, silence_seconds=silence_seconds, connect_seconds=connect_seconds)


@lru_cache(maxsize=16)
def connect_to(url: str, *, silence_seconds: float, connect_seconds: float) -> object:
    """The shared client of an address of the same form as the settings'."""
    return _open(redis, url, silence_seconds, connect_seconds)


def open_client(
    *,
    silence_seconds: float = 2.0,
    connect_seconds: float = 2.0,
) -> Any:  # Any: redis-py's answers have no types
    """A client of the caller's own, who closes it: for those who wait long, or want to see a connection begin."""
    return _open(redis, settings.REDIS_URL, silence_seconds, connect_seconds)


def open_client_of_loop(url: str, *, silence_seconds: float, connect_seconds: float) -> object:
    """A client whose commands are awaited, for one event loop."""
    return _open(redis.asyncio, url, silence_seconds, connect_seconds)


class WatchedPool(redis.sentinel.SentinelConnectionPool):
    """Connections of the cache to a broker that Sentinels watch, made as Django makes those to one server."""

    @classmethod
    def from_url(cls, url: str, **options: object) -> WatchedPool:
        """Raises ValueError for the address of one server."""
        watched = read_watched(url)
        if watched is None:
            raise ValueError("no Sentinels watch this broker")
        waits = {name: value for name, value in options.items() if name.startswith("socket_")}
        return cls(
            watched.service,
            _ask_watchers(redis, watched, waits),
            **options,
            **watched.credentials,
            **watched.encryption,
        )


def _open(
    library: Any,  # Any: redis-py's answers have no types
    url: str,
    silence_seconds: float,
    connect_seconds: float,
) -> Any:  # Any: redis-py's answers have no types
    waits = {"socket_timeout": silence_seconds, "socket_connect_timeout": connect_seconds}
    watched = read_watched(url)
    if watched is None:
        return library.Redis.from_url(url, **waits)
    return _ask_watchers(library, watched, waits).master_for(
        watched.service, **waits, **watched.credentials, **watched.encryption
    )


def _ask_watchers(
    library: Any,  # Any: redis-py's answers have no types
    watched: WatchedBroker,
    waits: dict[str, Any],  # Any: redis-py's answers have no types
) -> Any:  # Any: redis-py's answers have no types
    known = {**waits, **watched.watchers_credentials, **watched.encryption}
    return library.sentinel.Sentinel(watched.watchers, sentinel_kwargs=known)
