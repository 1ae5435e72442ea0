"""Wakes a waiting process by the name of the thing that it waits for.

Never the truth: a tap may be lost with the broker, or come twice. Whoever is woken reads the row, and whoever waits
looks by himself once in a while. Each process that waits keeps one connection, on a thread of its own.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import transaction
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

CHANNEL = "golem:wakeups"
_LISTEN_SECONDS = 5.0
_RETRY_SECONDS = 0.5
_READY_SECONDS = 0.5

# A client of the broker; redis-py gives no type for what it has.
OpenClient = Callable[[], Any]  # Any: redis-py's answers have no types


class Waiter:
    """One that waits; `wait` may be called again and again."""

    def __init__(self) -> None:
        self._tapped = threading.Event()

    def wait(self, seconds: float) -> bool:
        """True when it was tapped within `seconds`, or since the last wait."""
        was_tapped = self._tapped.wait(max(0.0, seconds))
        self._tapped.clear()
        return was_tapped

    def tap(self) -> None:
        """Wake it."""
        self._tapped.set()


class Listener:
    """Those of this process that wait, and the thread that hears for them; it starts with the first one."""

    def __init__(self, open_client: OpenClient) -> None:
        self._open_client = open_client
        self._lock = threading.Lock()
        self._waiters: dict[str, set[Waiter]] = {}
        self._hears = threading.Event()
        self._thread: threading.Thread | None = None
        self.times_heard = 0
        """How often it began to hear: once, and again each time that the broker was away."""

    @contextmanager
    def waiting_for(self, name: str) -> Iterator[Waiter]:
        """Someone who is tapped from now on when `name` is."""
        waiter = Waiter()
        with self._lock:
            self._waiters.setdefault(name, set()).add(waiter)
            if self._thread is None:
                self._thread = threading.Thread(target=self._hear_for_ever, name="wakeups", daemon=True)
                self._thread.start()
        # What is said before this process hears would be missed; without a broker nothing is heard anyway.
        self._hears.wait(_READY_SECONDS)
        try:
            yield waiter
        finally:
            with self._lock:
                same = self._waiters[name]
                same.discard(waiter)
                if not same:
                    del self._waiters[name]

    def tap(self, name: str) -> None:
        """Wake those of this process."""
        with self._lock:
            for waiter in self._waiters.get(name, ()):
                waiter.tap()

    def _hear_for_ever(self) -> None:
        while True:
            try:
                self._hear()
            except (RedisError, OSError) as error:
                logger.debug("no tap is heard: %s", type(error).__name__)
            except Exception:
                logger.exception("taps cannot be heard")
            self._hears.clear()
            time.sleep(_RETRY_SECONDS)

    def _hear(self) -> None:
        with self._open_client() as client, client.pubsub() as channel:
            channel.subscribe(CHANNEL)
            while True:
                message = channel.get_message(timeout=_LISTEN_SECONDS)
                if message is None:
                    continue
                if message["type"] == "subscribe":
                    self._hears.set()
                    self.times_heard += 1
                    self._tap_all()
                elif message["type"] == "message":
                    self.tap(bytes(message["data"]).decode(errors="replace"))

    def _tap_all(self) -> None:
        """Something may have been said while nobody heard."""
        with self._lock:
            for waiters in self._waiters.values():
                for waiter in waiters:
                    waiter.tap()


_listener: Listener | None = None
_open: OpenClient | None = None


def configure(*, open_listener: OpenClient, open_sender: OpenClient) -> None:
    """Say how the broker is reached, once at start-up: a connection to listen on, and the one of this process."""
    global _listener, _open
    _listener, _open = Listener(open_listener), open_sender


def waiting_for(name: str) -> Any:  # Any: redis-py's answers have no types
    """`Listener.waiting_for` of this process."""
    if _listener is None:
        raise RuntimeError("wakeups are not configured")
    return _listener.waiting_for(name)


def count_hearings() -> int:
    """How often this process began to hear taps: more than once where its broker was away."""
    return _listener.times_heard if _listener is not None else 0


def tap(name: str) -> None:
    """Wake whoever waits for `name`, in this process and in others. Without a broker only here; raises nothing."""
    if _listener is None or _open is None:
        return
    _listener.tap(name)
    try:
        _open().publish(CHANNEL, name)
    except (RedisError, OSError) as error:
        logger.debug("a tap was not sent: %s", type(error).__name__)


def tap_on_commit(name: str) -> None:
    """The same, once the transaction that is open has committed."""
    transaction.on_commit(partial(tap, name), robust=True)


def _start_anew() -> None:
    # The thread does not live on in a forked child, and its lock may be held there for ever.
    global _listener
    if _listener is not None:
        _listener = Listener(_listener._open_client)


os.register_at_fork(after_in_child=_start_anew)
