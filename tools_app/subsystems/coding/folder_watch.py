"""Looks, while a command runs, whether its folder holds more than it may; what was unlinked and is open counts too.

A process that lets nobody see what it holds open, which one of the server's own user can do, counts as beyond.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.subsystems.coding.folder_size import FolderUse, find_excess, measure
from tools_app.subsystems.coding.process_family import list_family

_LEAST_PAUSE_MS: Final = 100
_FIRST_LOOK_MS: Final = 2_000
_BLOCK: Final = 512


class FolderWatch:
    """One running command's folder. It looks for at most about half of the time, however much there is to count."""

    def __init__(self, folder: Path, most: FolderUse) -> None:
        self._folder = folder
        self._most = most
        self._next = Deadline.after_ms(_LEAST_PAUSE_MS)
        self._hidden: frozenset[int] = frozenset()

    @property
    def pause_ms(self) -> float:
        """Milliseconds until the next look."""
        return max(self._next.remaining_ms(), 0.0)

    def is_full(self, *, first_pid: int, deadline: Deadline) -> bool:
        """Whether the folder is beyond its bounds, if it is time to look; `first_pid` began all of the command."""
        if not self._next.is_over:
            return False
        begun = clock.monotonic_ms()
        unlinked = _measure_unlinked(first_pid, self._folder)
        # Seen twice: for a moment a process may only be becoming another program.
        hides = bool(unlinked.hidden & self._hidden)
        self._hidden = unlinked.hidden
        excess = find_excess(self._folder, most=self._most, deadline=deadline, beside=unlinked.taken)
        self._next = Deadline.after_ms(max(_LEAST_PAUSE_MS, clock.monotonic_ms() - begun))
        return hides or bool(excess)


def watch_folder(folder: Path, *, most: FolderUse, is_full: bool) -> FolderWatch | None:
    """The watch over a command. In a folder that is full already it may add a quarter of what a folder may hold.

    None for a full folder that cannot be measured: its owner let this one command in to put that right.
    """
    if not is_full:
        return FolderWatch(folder, most)
    held = measure(folder, deadline=Deadline.after_ms(_FIRST_LOOK_MS))
    if held is None:
        return None
    return FolderWatch(
        folder,
        FolderUse(
            max(most.taken, held.taken + most.taken // 4),
            max(most.entries, held.entries + most.entries // 4),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Unlinked:
    """Bytes that are held open without a name, and processes that let nobody see what they hold open."""

    taken: int
    hidden: frozenset[int]


def _measure_unlinked(first_pid: int, folder: Path) -> _Unlinked:
    """What the command holds of files on the folder's device that have no name any more."""
    try:
        device = os.stat(folder).st_dev
    except OSError:
        return _Unlinked(0, frozenset())
    found: dict[int, int] = {}
    hidden = set()
    for pid in list_family(first_pid):
        try:
            with os.scandir(f"/proc/{pid}/fd") as descriptors:
                for each in descriptors:
                    with suppress(OSError):
                        seen = os.stat(each.path)
                        if seen.st_nlink == 0 and seen.st_dev == device and stat.S_ISREG(seen.st_mode):
                            found[seen.st_ino] = seen.st_blocks * _BLOCK
        except PermissionError:
            if _is_alive(pid):
                hidden.add(pid)
        except OSError:
            # Whoever ended meanwhile holds nothing open.
            continue
    return _Unlinked(sum(found.values()), frozenset(hidden))


def _is_alive(pid: int) -> bool:
    """Whether it has memory still; what is ending belongs to nobody, and can be looked at by nobody."""
    try:
        return "VmSize:" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
