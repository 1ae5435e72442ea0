"""Measures every task: how long it waited for a worker, how long it took and how it ended."""

from __future__ import annotations

import threading
from typing import Any, Final

from golem_project.metrics.counting import TALLY
from golem_project.metrics.measures import RETRIES, TASKS, WAITS
from golem_project.runtime.queue_waits import read_waited
from tools_app.core import clock

_begun = threading.local()
_RETRY: Final = "RETRY"


def note_begin(task: Any) -> None:  # Any: Celery has no types
    """A worker took a task."""
    _begun.at_ms = clock.monotonic_ms()
    request = task.request
    # The library lays a message's headers among the request's own members.
    waited = read_waited(vars(request), now=clock.now())
    if waited is not None:
        queue = (request.delivery_info or {}).get("routing_key") or "none"
        TALLY.time(WAITS, waited, str(queue))


def note_end(task: Any, state: str | None) -> None:  # Any: Celery has no types
    """It came to an end: one of Celery's states, or none where the worker cannot say."""
    at_ms = getattr(_begun, "at_ms", None)
    seconds = 0.0 if at_ms is None else (clock.monotonic_ms() - at_ms) / 1_000
    TALLY.time(TASKS, seconds, task.name, (state or "none").lower())
    if state == _RETRY:
        TALLY.count(RETRIES, task.name)
