"""Collects ended permits and asks memory for their episodes in one message.

A message costs its worker as much as an episode. The first permit after a rest is asked for at once, those that follow
half a second later. What a process that dies had not asked for, the sweep asks for: memory fails open.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Final

from tools_app.core import clock

GATHER_SECONDS: Final = 0.5
_MOST_TOGETHER: Final = 50

Send = Callable[[list[str]], None]


class Gatherer:
    """Permits whose episodes one process asks for. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[str] = []
        self._is_timed = False
        self._sent_ms = float("-inf")

    def add(self, permit_id: str, *, send: Send) -> None:
        """Have `send` called with it: now, or with others in a moment, on a thread of its own."""
        with self._lock:
            self._waiting.append(permit_id)
            if self._is_timed:
                return
            rest = self._sent_ms / 1000 + GATHER_SECONDS - clock.monotonic_ms() / 1000
            self._is_timed = rest > 0
        if rest > 0:
            timer = threading.Timer(rest, self._send, (send,))
            timer.daemon = True
            timer.start()
        else:
            self._send(send)

    def _send(self, send: Send) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
            self._is_timed, self._sent_ms = False, clock.monotonic_ms()
        for start in range(0, len(waiting), _MOST_TOGETHER):
            send(waiting[start : start + _MOST_TOGETHER])


GATHERER = Gatherer()


def _start_anew() -> None:
    # A timer does not live on in a forked child, and the lock may be held there for ever.
    global GATHERER
    GATHERER = Gatherer()


os.register_at_fork(after_in_child=_start_anew)
