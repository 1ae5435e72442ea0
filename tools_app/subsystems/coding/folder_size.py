"""Measures how much a golem's folder on this machine holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools_app.core.clock import Deadline

_BLOCK: Final = 512
_CANNOT: Final = "a folder in it that cannot be looked into"
_LATE: Final = "more files and folders than were counted in time"


@dataclass(frozen=True, slots=True)
class FolderUse:
    """Bytes taken on the disk, so that a file of holes is as small as it is; files and folders."""

    taken: int
    entries: int


def find_excess(folder: Path, *, most: FolderUse, deadline: Deadline, beside: int = 0) -> str:
    """What is beyond either bound of `most`, in words; empty while there is room.

    `beside` are bytes that are taken and stand in no folder. Links are not followed. What cannot be measured, or not in
    time, is beyond: a command can make its folder so.
    """
    try:
        for held in _walk(folder, beside):
            if held.entries > most.entries:
                return f"more than {most.entries} files and folders"
            if held.taken > most.taken:
                return f"more than {most.taken} bytes"
            if deadline.is_over:
                return _LATE
    except OSError:
        return _CANNOT
    return ""


def measure(folder: Path, *, deadline: Deadline) -> FolderUse | None:
    """All that a folder holds; None where it cannot be measured, or not in time."""
    whole = FolderUse(0, 0)
    try:
        for held in _walk(folder, 0):
            whole = held
            if deadline.is_over:
                return None
    except OSError:
        return None
    return whole


def _walk(folder: Path, taken: int) -> Iterator[FolderUse]:
    """What was counted so far, after each name; what went, or became something else, in between is left out."""
    waiting = [folder]
    entries = 0
    yield FolderUse(taken, entries)
    while waiting:
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(waiting.pop()) as names:
            for name in names:
                entries += 1
                with suppress(FileNotFoundError):
                    taken += name.stat(follow_symlinks=False).st_blocks * _BLOCK
                if name.is_dir(follow_symlinks=False):
                    waiting.append(Path(name.path))
                yield FolderUse(taken, entries)
