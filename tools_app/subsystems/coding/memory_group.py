"""A command's memory bounded by the kernel: a control group of its own, below or beside this server's.

What the kernel counts there is everything: memory of all its processes, files in memory with or without a name, buffers
of sockets. Beyond the bound it ends a process of the group and no other of the machine.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from tools_app.core import clock
from tools_app.core.clock import Deadline

_PREFIX: Final = "golem-command-"
_LEFT_BEHIND_SECONDS: Final = 600
_REMOVAL_MS: Final = 15_000
"""On a busy machine what was killed takes its time to be gone."""
_PAUSE_SECONDS: Final = 0.01


class GroupRefused(Exception):
    """A group cannot be made any more where one could be made before; its text says why."""


@dataclass(frozen=True, slots=True)
class Version:
    """How one version of control groups calls what is needed; `beside` may be missing, and bounds swapped memory."""

    limit: str
    beside: str
    beside_is_total: bool
    events: str


V1: Final = Version("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", True, "memory.oom_control")
V2: Final = Version("memory.max", "memory.swap.max", False, "memory.events")


@dataclass(frozen=True, slots=True)
class Parent:
    """The folder in which groups are made."""

    path: Path
    version: Version


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """One command's group. Who writes its process id to `joining` is in it, with all it starts."""

    path: Path
    version: Version

    @property
    def joining(self) -> Path:
        """The file to join by."""
        return self.path / "cgroup.procs"

    @property
    def was_over(self) -> bool:
        """Whether the kernel ended a process of it for its memory."""
        try:
            told = (self.path / self.version.events).read_text()
        except OSError:
            return False
        return any(line.startswith("oom_kill ") and line.split()[1] != "0" for line in told.splitlines())


@lru_cache(maxsize=1)
def find_parent() -> Parent | None:
    """Where this process may make groups that bound memory, tried out once per process; None where it may not."""
    for parent in _list_candidates():
        try:
            with open_group(parent, most_bytes=1 << 26):
                return parent
        except GroupRefused:
            continue
    return None


@contextmanager
def open_group(parent: Parent, *, most_bytes: int) -> Iterator[MemoryGroup]:
    """A group that holds `most_bytes` at most; removed when nothing is in it any more. Raises GroupRefused."""
    _remove_left_behind(parent.path)
    path = parent.path / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    try:
        _make(path, parent.version, most_bytes)
    except OSError as error:
        _remove(path)
        raise GroupRefused(f"a control group of memory cannot be made in {parent.path}: {error.strerror}") from error
    try:
        yield MemoryGroup(path, parent.version)
    finally:
        _remove(path)


def _make(path: Path, version: Version, most_bytes: int) -> None:
    path.mkdir()
    (path / version.limit).write_text(str(most_bytes))
    if (path / version.beside).exists():
        (path / version.beside).write_text(str(most_bytes if version.beside_is_total else 0))
    if version is V2:
        # All of it, so that no half of a command goes on.
        (path / "memory.oom.group").write_text("1")


def _list_candidates() -> Iterator[Parent]:
    own = _read_own_groups()
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        root, point = before.split()[3:5]
        if kind == "cgroup" and "memory" in options.rsplit(" ", 1)[-1].split(","):
            yield Parent(_place(own.get("memory", "/"), root, point), V1)
        elif kind == "cgroup2":
            here = _place(own.get("", "/"), root, point)
            # A group with processes in it gives its own groups no controllers; the one above it may.
            for path in (here, here.parent):
                if path.is_relative_to(point) and _controls_memory(path):
                    yield Parent(path, V2)


def _read_own_groups() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        found |= dict.fromkeys(controllers.split(","), path)
    return found


def _place(own: str, root: str, point: str) -> Path:
    """Where a group is seen, whose hierarchy is mounted from `root` on at `point`."""
    inner = own.removeprefix(root) if root != "/" else own
    return Path(point) / inner.lstrip("/")


def _controls_memory(path: Path) -> bool:
    """Whether groups made in `path` have memory as a controller, which is switched on where that is allowed."""
    switch = path / "cgroup.subtree_control"
    try:
        if "memory" not in switch.read_text().split():
            switch.write_text("+memory")
        return "memory" in switch.read_text().split()
    except OSError:
        return False


def _remove(path: Path) -> None:
    """Remove a group; what has just ended is counted in it for a moment."""
    deadline = Deadline.after_ms(_REMOVAL_MS)
    while not deadline.is_over:
        with suppress(OSError):
            path.rmdir()
            return
        if not path.exists():
            return
        time.sleep(_PAUSE_SECONDS)


def _remove_left_behind(parent: Path) -> None:
    """Remove groups of a server that was killed; one with a process in it cannot be removed."""
    for path in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if clock.now().timestamp() - path.stat().st_mtime > _LEFT_BEHIND_SECONDS:
                path.rmdir()
