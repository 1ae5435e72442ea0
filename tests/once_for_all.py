"""What the workers of one test run share: one of them makes it, the others wait for that and take it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def one_at_a_time(place: Path) -> Iterator[None]:
    """Hold the lock of `place`, a path that need not exist. The kernel lets go when the process ends."""
    with place.with_name(f"{place.name}.lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
