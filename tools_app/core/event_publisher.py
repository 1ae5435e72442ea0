"""Publishes what was committed: gives each event its place in the log and copies it to the ring.

Every process does so on one thread, which the commit wakes, so that no request waits for it; what comes meanwhile goes
along with the next batch. Each takes whatever waits, whoever wrote it: a process that dies between commit and
publication is followed by the next one to commit anything, and by a sweep.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from datetime import datetime
from typing import Any

from django.db import InterfaceError, OperationalError, connection, connections

from tools_app.core import clock, event_log, event_ring
from tools_app.core.events import LoggedEvent, encode_event

logger = logging.getLogger(__name__)

_PAGE = 1_000
# Batches start at least this far apart, unless somebody waits for one: a busy process pays for fewer of them.
_GATHER_MS = 40.0
_RETRY_SECONDS = 0.5
_LEAVE_SECONDS = 2.0
# A ring that lacks more than this is not filled; it goes on behind a hole.
_MOST_FILLED = 2_000


def publish_pending(*, now: datetime, limit: int = _PAGE) -> int:
    """Place committed events that have no place yet, at most `limit`, and copy them to the ring. Returns how many."""
    with connection.cursor() as cursor:
        # One statement, one round trip; it holds the lock of the head for no longer than it runs.
        cursor.execute("SELECT * FROM tools_app_place_events(%s, %s)", (now, limit))
        placed = cursor.fetchall()
    if placed:
        _copy_to_ring(placed)
    return len(placed)


def _copy_to_ring(placed: list[tuple[Any, ...]]) -> None:  # Any: redis-py's answers have no types
    log_id = placed[0][0]
    events = [LoggedEvent(row[1], str(row[3]), row[5], encode_event(row[2:])) for row in placed]
    newest = event_ring.add_events(log_id, events)
    if newest is None:
        return
    # Another process placed events before ours and has not added them yet, or never will.
    first = events[0].position
    missing = event_log.read_rows(newest, until=first - 1) if first - 1 - newest <= _MOST_FILLED else []
    event_ring.add_events(log_id, [*missing, *events], allows_hole=True)


class Publisher:
    """The thread that publishes for this process; it starts when it is first asked."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._asked = 0
        self._done = 0
        self._waiting = 0
        self._thread: threading.Thread | None = None
        self._started_ms = 0.0

    def ask(self) -> None:
        """Have everything published that is committed by now; returns at once."""
        with self._changed:
            self._asked += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="event-publisher", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, *, seconds: float) -> bool:
        """Wait until all that was asked for is done. False when it is not within `seconds`."""
        with self._changed:
            goal, self._waiting = self._asked, self._waiting + 1
            self._changed.notify_all()
            try:
                return self._changed.wait_for(lambda: self._done >= goal, timeout=seconds)
            finally:
                self._waiting -= 1

    def leave(self) -> None:
        """Before the process ends: publish what it committed, briefly; else another process does."""
        if self._thread is not None:
            self.wait(seconds=_LEAVE_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked > self._done)
                rest_ms = self._started_ms + _GATHER_MS - clock.monotonic_ms()
                if rest_ms > 0:
                    self._changed.wait_for(lambda: self._waiting > 0, timeout=rest_ms / 1000)
                goal = self._asked
            self._started_ms = clock.monotonic_ms()
            is_done = _publish_all()
            with self._changed:
                if is_done:
                    self._done = goal
                    self._changed.notify_all()
                else:
                    self._changed.wait(timeout=_RETRY_SECONDS)


def _publish_all() -> bool:
    """Publish until nothing waits. False when the database does not answer, so that it is worth another try."""
    try:
        while publish_pending(now=clock.now()) == _PAGE:
            pass
    except (OperationalError, InterfaceError) as error:
        logger.warning("events wait to be published: %s", type(error).__name__)
        return False
    except Exception:
        # Reported; a thread that ended here would leave every later event of this process to the sweep.
        logger.exception("events could not be published")
    finally:
        # Back to the pool: between two batches a request may need it.
        connections.close_all()
    return True


PUBLISHER = Publisher()


def ask_to_publish() -> None:
    """Called after each commit that wrote events."""
    PUBLISHER.ask()


def ask_and_wait() -> None:
    """The same, until it is done: for a process whose next step reads the log."""
    PUBLISHER.ask()
    PUBLISHER.wait(seconds=10.0)


def _start_anew() -> None:
    # The thread does not live on in a forked child, and its lock may be held there for ever.
    global PUBLISHER
    PUBLISHER = Publisher()


os.register_at_fork(after_in_child=_start_anew)
atexit.register(lambda: PUBLISHER.leave())
