"""A job that takes as long as it is told, for a worker that is asked to stop meanwhile."""

from __future__ import annotations

import time
from pathlib import Path

from celery import shared_task


@shared_task
def slow_task(*, begun: str, done: str, seconds: float) -> str:
    """Says that it began and, each time, that it came to its end."""
    Path(begun).touch()
    time.sleep(seconds)
    with Path(done).open("a") as written:
        written.write("once\n")
    return "finished"
