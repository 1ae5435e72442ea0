"""Bounds a command's memory on this machine, by a control group or by looking at its processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.subsystems.coding.memory_group import MemoryGroup, find_parent, open_group
from tools_app.subsystems.coding.memory_sum import add_up

_GROUP_PAUSE_MS: Final = 250
_LEAST_PAUSE_MS: Final = 20


class MemoryBound:
    """The bound of one command. Without a group it looks for at most about half of the time."""

    def __init__(self, most_bytes: int, group: MemoryGroup | None) -> None:
        self._most_bytes = most_bytes
        self._group = group
        self._next = Deadline.after_ms(_LEAST_PAUSE_MS)

    @property
    def joining(self) -> Path | None:
        """The file by which the first process joins its group; None where there is none."""
        return self._group.joining if self._group is not None else None

    @property
    def pause_ms(self) -> float:
        """Milliseconds until the next look."""
        return max(self._next.remaining_ms(), 0.0)

    def is_over(self, *, first_pid: int) -> bool:
        """Whether the command took more than it may, if it is time to look; `first_pid` began all of it."""
        if not self._next.is_over:
            return False
        begun = clock.monotonic_ms()
        if self._group is not None:
            self._next = Deadline.after_ms(_GROUP_PAUSE_MS)
            return self._group.was_over
        seen = add_up(first_pid)
        self._next = Deadline.after_ms(max(_LEAST_PAUSE_MS, clock.monotonic_ms() - begun))
        return seen.taken > self._most_bytes

    def was_over(self) -> bool:
        """Whether a process of it was ended for its memory, of a command that has ended."""
        return self._group is not None and self._group.was_over


@contextmanager
def bound_memory(most_bytes: int) -> Iterator[MemoryBound]:
    """The bound of a command that starts and ends inside. Raises GroupRefused."""
    parent = find_parent()
    if parent is None:
        yield MemoryBound(most_bytes, None)
        return
    with open_group(parent, most_bytes=most_bytes) as group:
        yield MemoryBound(most_bytes, group)
