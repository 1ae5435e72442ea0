"""Whether a golem's folder on this machine holds more than it may. Measured before a write or a command, never kept."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from tools_app.core.clock import Deadline

_BLOCK: Final = 512
_CANNOT: Final = "a folder in it that cannot be looked into"


def find_excess(folder: Path, *, most_bytes: int, most_entries: int, deadline: Deadline) -> str:
    """What is beyond either bound, in words; empty while there is room.

    Bytes are those taken on the disk, so that a file of holes is as small as it is. Links are not followed. What cannot
    be measured, or not in time, is beyond: a command can make its folder so.
    """
    waiting = [folder]
    taken = entries = 0
    while waiting:
        try:
            with os.scandir(waiting.pop()) as names:
                for name in names:
                    entries += 1
                    with suppress(FileNotFoundError):
                        taken += name.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if name.is_dir(follow_symlinks=False):
                        waiting.append(Path(name.path))
                    if entries > most_entries:
                        return f"more than {most_entries} files and folders"
                    if taken > most_bytes:
                        return f"more than {most_bytes} bytes"
                    if deadline.is_over:
                        return "more files and folders than were counted in time"
        except FileNotFoundError:
            continue
        except OSError:
            return _CANNOT
    return ""
