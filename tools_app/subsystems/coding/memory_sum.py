"""A command's memory added up from what the kernel shows of each of its processes, where there is no control group.

Counted: memory of its own, shared memory by the part each has in it, what is swapped out, tables of pages, the two file
systems that are made of memory, and a full buffer for each socket. Other memory of no process is refused to it
(`system_calls.py`).
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools_app.subsystems.coding.process_family import list_family

_KIB: Final = 1024
_SHARES: Final = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")
_WHOLE: Final = ("RssAnon:", "RssShmem:", "VmSwap:")
_TABLES: Final = ("VmPTE:",)
_SOCKET_BYTES: Final = 512 * _KIB
_NAME_BYTES: Final = 1_280
_IN_MEMORY: Final = ("tmp", "dev/shm")


@dataclass(frozen=True, slots=True)
class Seen:
    """What is seen of a command: its bytes in memory, its processes, and whether each let itself be looked into."""

    taken: int
    processes: int
    is_whole: bool


def add_up(first_pid: int) -> Seen:
    """All that `first_pid` and what came from it have in memory; what ends meanwhile is left out."""
    taken, processes, is_whole, world = 0, 0, True, 0
    for pid in list_family(first_pid):
        status = None
        with suppress(PermissionError):
            status = _read_numbers(Path(f"/proc/{pid}/status"), (*_WHOLE, *_TABLES))
        if status is None:
            is_whole = is_whole and not Path(f"/proc/{pid}").exists()
            continue
        processes += 1
        world = pid
        try:
            shares = _read_numbers(Path(f"/proc/{pid}/smaps_rollup"), _SHARES)
            sockets = _count_sockets(pid)
        except PermissionError:
            shares, sockets, is_whole = None, 0, is_whole and not _has_memory(status)
        own = shares if shares is not None else {name: status[name] for name in _WHOLE if name in status}
        taken += sum(own.values()) + status.get("VmPTE:", 0) + sockets * _SOCKET_BYTES
    return Seen(taken + _measure_file_systems(world), processes, is_whole)


def _has_memory(status: dict[str, int]) -> bool:
    """Whether it is no process that is ending, which nobody may look into."""
    return "RssAnon:" in status


def _read_numbers(path: Path, names: tuple[str, ...]) -> dict[str, int] | None:
    """Bytes by name; None where the process is gone. Raises PermissionError."""
    try:
        lines = path.read_text().splitlines()
    except PermissionError:
        raise
    except OSError:
        return None
    found = {}
    for line in lines:
        name, *rest = line.split(maxsplit=2)
        if name in names:
            found[name] = int(rest[0]) * _KIB
    return found


def _count_sockets(pid: int) -> int:
    """Open sockets of one process. Raises PermissionError."""
    count = 0
    with suppress(FileNotFoundError, ProcessLookupError), os.scandir(f"/proc/{pid}/fd") as descriptors:
        for each in descriptors:
            with suppress(FileNotFoundError, ProcessLookupError):
                count += os.readlink(each.path).startswith("socket:")
    return count


def _measure_file_systems(pid: int) -> int:
    """What lies in the file systems in memory of the world that `pid` is in, names without content too."""
    taken = 0
    for name in _IN_MEMORY:
        with suppress(OSError):
            place = f"/proc/{pid}/root/{name}"
            # Before its fences are up it sees this server's own.
            if os.stat(place).st_dev != os.stat(f"/{name}").st_dev:
                held = os.statvfs(place)
                taken += (held.f_blocks - held.f_bfree) * held.f_frsize + (held.f_files - held.f_ffree) * _NAME_BYTES
    return taken
