"""Cancels the database statement of a call whose time is over.

One thread per process looks at the calls that run; a call that is in time costs no round trip. What is cancelled raises
QueryCanceled in the thread that waits.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.pq import TransactionStatus

from tools_app.core import clock
from tools_app.core.clock import Deadline

logger = logging.getLogger(__name__)

_LOOKS_AGAIN_MS: Final = 50
_CANCEL_SECONDS: Final = 2.0


@dataclass(eq=False, slots=True)
class _RunningStatement:
    """One call: its deadline and the connection of its thread. Whoever holds `lock` decides whether it is over."""

    deadline: Deadline
    wrapper: Any  # Any: a column's value, of any type
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_over: bool = False


class _Watch:
    """The calls that run, and the thread that looks at them from the first one on."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: set[_RunningStatement] = set()
        self._wakes_ms = float("inf")
        self._thread: threading.Thread | None = None

    def add(self, call: _RunningStatement) -> None:
        with self._changed:
            self._running.add(call)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="statement watch", daemon=True)
                self._thread.start()
            if call.deadline.at_ms < self._wakes_ms:
                self._changed.notify()

    def remove(self, call: _RunningStatement) -> None:
        # Not before a cancellation that has begun is with the server: it must not meet the next statement.
        with call.lock:
            call.is_over = True
        with self._changed:
            self._running.discard(call)

    def _look(self) -> None:
        while True:
            with self._changed:
                late = [call for call in self._running if call.deadline.is_over]
                if not late:
                    self._wakes_ms = min((call.deadline.at_ms for call in self._running), default=float("inf"))
                    left_ms = self._wakes_ms - clock.monotonic_ms()
                    self._changed.wait(None if self._wakes_ms == float("inf") else max(0.0, left_ms / 1_000))
                    continue
                self._wakes_ms = 0.0
            for call in late:
                _cancel(call)
            # What is late and runs no statement now is looked at again: the next one is none too.
            threading.Event().wait(_LOOKS_AGAIN_MS / 1_000)


def _cancel(call: _RunningStatement) -> None:
    with call.lock:
        raw = call.wrapper.connection
        if call.is_over or raw is None or raw.closed or raw.info.transaction_status != TransactionStatus.ACTIVE:
            return
        try:
            raw.cancel_safe(timeout=_CANCEL_SECONDS)
        except psycopg.Error as error:
            logger.warning("a statement beyond its time could not be cancelled: %s", type(error).__name__)


_watch = _Watch()


def _begin_anew() -> None:
    # A thread does not outlive a fork.
    global _watch
    _watch = _Watch()


os.register_at_fork(after_in_child=_begin_anew)


@contextmanager
def ended_by(deadline: Deadline) -> Iterator[None]:
    """Inside, no statement of this thread's connection runs on for long after `deadline`."""
    watch, call = _watch, _RunningStatement(deadline, connections[DEFAULT_DB_ALIAS])
    watch.add(call)
    try:
        yield
    finally:
        watch.remove(call)


def was_cancelled(error: BaseException) -> bool:
    """Whether a database error is a statement that was cancelled."""
    return isinstance(error.__cause__ or error, psycopg.errors.QueryCanceled)
