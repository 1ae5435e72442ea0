"""A process and all that came from it, as the kernel tells it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def list_family(first_pid: int) -> Iterator[int]:
    """A process and all that came from it: whoever is left by its parent is taken over by the first of its world."""
    waiting = [first_pid]
    while waiting:
        pid = waiting.pop()
        yield pid
        with suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                with suppress(OSError):
                    waiting += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
