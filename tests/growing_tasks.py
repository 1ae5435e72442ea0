"""A job that takes memory while it runs, for a worker that is to be told and to end after it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from celery import shared_task
from celery.worker import state

from golem_project.runtime.memory_limit import list_told, read_used_bytes

MIB = 1024**2
LONGEST_SECONDS = 60


@shared_task
def grow_task(*, most_mib: int, done: str) -> None:
    """Grow to nine tenths until that is told, and beyond the bound until an end is asked for; then finish."""
    held = []
    while read_used_bytes() < most_mib * MIB * 9 // 10:
        held.append(bytearray(MIB))
    _wait(lambda: any("MiB" in words for words in list_told()))
    while read_used_bytes() < (most_mib + 32) * MIB:
        held.append(bytearray(MIB))
    _wait(lambda: state.should_stop is not None)
    time.sleep(1)
    Path(done).write_text("finished")


@shared_task
def grow_child_task(*, most_mib: int, done: str) -> None:
    """Grow beyond the bound, and finish."""
    held = []
    while read_used_bytes() < (most_mib + 32) * MIB:
        held.append(bytearray(MIB))
    _wait(lambda: any("MiB" in words for words in list_told()))
    Path(done).write_text(str(os.getpid()))


def _wait(is_so: object) -> None:
    assert callable(is_so)
    until = time.monotonic() + LONGEST_SECONDS
    while not is_so():
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(0.1)
