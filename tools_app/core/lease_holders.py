"""Identifies the process that holds a lease, so that a dead one is known at once.

A name says on which machine, under which process table, and which process. Only whoever shares that table can tell
that it has ended; anybody else waits until its lease runs out. Safety does not hang on it: whatever is signed or sent
asks for the lease in its own transaction.
"""

from __future__ import annotations

import os
import uuid
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_PARTS: Final = 4


def name_holder() -> str:
    """A new name of a holder in this process; at most 64 characters."""
    return f"{_name_table()}-{os.getpid()}-{_started_at(os.getpid())}-{uuid.uuid4().hex[:16]}"


def is_gone(holder: str) -> bool:
    """Whether the process of that name has ended, as far as it can be told from here."""
    parts = holder.split("-")
    if len(parts) != _PARTS or parts[0] != _name_table() or not parts[1].isdecimal():
        return False
    return _started_at(int(parts[1])) != parts[2]


@cache
def _name_table() -> str:
    """This machine since its boot, and the process table that this process sees of it; empty where nobody tells."""
    try:
        told = _BOOT_ID.read_text(encoding="ascii").strip() + str(os.readlink("/proc/self/ns/pid"))
    except OSError:
        return uuid.uuid4().hex[:12]
    return sha256(told.encode()).hexdigest()[:12]


def _started_at(pid: int) -> str:
    """Clock ticks between the boot and the start of a process; empty for one that has ended."""
    try:
        # The command's name, in brackets, may itself hold spaces and brackets: count from the last one.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "XZ" else fields[19]
