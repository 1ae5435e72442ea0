"""Files in a golem's own folder on this machine.

Every name of a path is opened by itself, below the folder it was found in and never through a link, so nothing that
is swapped meanwhile leads out. What is on another file system than the folder (a mount) is refused too.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tools_app.core.clock import Deadline
from tools_app.core.errors import BudgetExceeded
from tools_app.subsystems.coding.editing import hash_bytes
from tools_app.subsystems.coding.errors import FileChanged, FileMissing, PathRefused
from tools_app.subsystems.coding.folder_size import FolderUse, find_excess
from tools_app.subsystems.coding.limits import LIMITS
from tools_app.subsystems.coding.operations import Entry, EntryKind, FileBytes
from tools_app.subsystems.coding.paths import Place, spell

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PART: Final = 1 << 20


class JailFiles:
    """FileOps over `folder`. With `uid`, what is written belongs to that user, under whom commands run."""

    def __init__(self, folder: Path, *, uid: int | None) -> None:
        self._folder = folder
        self._uid = uid

    def read(self, place: Place, *, most_bytes: int, deadline: Deadline) -> FileBytes:
        """See FileOps."""
        with self._open_parent(place) as parent, self._open_file(parent, place) as descriptor:
            size = os.fstat(descriptor).st_size
            parts, left = [], most_bytes
            while left > 0:
                check_time(deadline)
                part = os.read(descriptor, min(left, _PART))
                if not part:
                    break
                parts.append(part)
                left -= len(part)
            data = b"".join(parts)
        return FileBytes(data, max(size, len(data)))

    def write(self, place: Place, data: bytes, *, replaces: str | None, deadline: Deadline) -> None:
        """See FileOps."""
        if not place:
            raise PathRefused("the folder itself is no file")
        with self._open_parent(place, makes=True) as parent:
            name = place[-1]
            mode = self._check_replaced(parent, place, replaces, deadline)
            temporary = f".golem-{secrets.token_hex(8)}.tmp"
            descriptor = os.open(temporary, _NEW, 0o600, dir_fd=parent)
            try:
                with os.fdopen(descriptor, "wb") as handle:
                    handle.write(data)
                    handle.flush()
                    os.fchmod(handle.fileno(), mode)
                    self._give(handle.fileno())
                    os.fsync(handle.fileno())
                # A command of the golem is held off by the lock of its workspace; this is for whoever writes beside it.
                self._check_replaced(parent, place, replaces, deadline)
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=parent)
                raise

    def find(self, place: Place, *, deadline: Deadline) -> Entry | None:
        """See FileOps."""
        check_time(deadline)
        if not place:
            return Entry(".", EntryKind.FOLDER, 0)
        try:
            with self._open_parent(place) as parent:
                return _describe(place[-1], os.stat(place[-1], dir_fd=parent, follow_symlinks=False))
        except (FileMissing, FileNotFoundError):
            return None

    def list_folder(self, place: Place, *, deadline: Deadline) -> Iterator[Entry]:
        """See FileOps."""
        with self._open_folder(place) as folder, os.scandir(folder) as entries:
            for entry in entries:
                check_time(deadline)
                with suppress(FileNotFoundError):
                    yield _describe(entry.name, entry.stat(follow_symlinks=False))

    def find_excess(self, *, deadline: Deadline) -> str:
        """See FileOps."""
        return find_excess(self._folder, most=FolderUse(LIMITS.folder_bytes, LIMITS.folder_entries), deadline=deadline)

    def _check_replaced(self, parent: int, place: Place, replaces: str | None, deadline: Deadline) -> int:
        """The mode a file gets: its own, or that of a new one. Raises FileChanged."""
        try:
            with self._open_file(parent, place) as descriptor:
                mode = stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o777
                check_time(deadline)
                # One byte more than any file that is replaced: a longer one is another.
                data = os.read(descriptor, LIMITS.edited_bytes + 1)
        except FileMissing:
            if replaces is not None:
                raise FileChanged(f"{spell(place)} is gone since the preview", path=spell(place)) from None
            return 0o644
        if replaces is None or hash_bytes(data) != replaces:
            raise FileChanged(f"{spell(place)} is not what it was at the preview", path=spell(place))
        return mode

    def _give(self, descriptor: int) -> None:
        if self._uid is not None:
            os.fchown(descriptor, self._uid, self._uid)

    @contextmanager
    def _open_folder(self, place: Place, *, makes: bool = False) -> Iterator[int]:
        descriptor = os.open(self._folder, _FOLDER)
        try:
            device = os.fstat(descriptor).st_dev
            for depth, name in enumerate(place, start=1):
                inner = self._step(descriptor, name, place[:depth], makes=makes)
                os.close(descriptor)
                descriptor = inner
                if os.fstat(descriptor).st_dev != device:
                    raise PathRefused(f"{spell(place[:depth])} is a mount", path=spell(place[:depth]))
            yield descriptor
        finally:
            os.close(descriptor)

    def _step(self, descriptor: int, name: str, place: Place, *, makes: bool) -> int:
        if makes:
            with suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=descriptor)
                made = os.open(name, _FOLDER, dir_fd=descriptor)
                self._give(made)
                return made
        try:
            return os.open(name, _FOLDER, dir_fd=descriptor)
        except FileNotFoundError:
            raise FileMissing(f"there is no {spell(place)}", path=spell(place)) from None
        except OSError:
            raise PathRefused(f"{spell(place)} is no folder, or a link", path=spell(place)) from None

    @contextmanager
    def _open_parent(self, place: Place, *, makes: bool = False) -> Iterator[int]:
        with self._open_folder(place[:-1], makes=makes) as descriptor:
            yield descriptor

    @contextmanager
    def _open_file(self, parent: int, place: Place) -> Iterator[int]:
        if not place:
            raise PathRefused("the folder itself is no file; use find to list it")
        try:
            descriptor = os.open(place[-1], _FILE, dir_fd=parent)
        except FileNotFoundError:
            raise FileMissing(f"there is no {spell(place)}", path=spell(place)) from None
        except OSError:
            raise PathRefused(f"{spell(place)} is a link, or cannot be read", path=spell(place)) from None
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise PathRefused(f"{spell(place)} is no plain file", path=spell(place))
            if found.st_dev != os.fstat(parent).st_dev:
                raise PathRefused(f"{spell(place)} is a mount", path=spell(place))
            yield descriptor
        finally:
            os.close(descriptor)


def check_time(deadline: Deadline) -> None:
    """Raises BudgetExceeded when the call's time is over."""
    if deadline.is_over:
        raise BudgetExceeded("the time of this call was over before the files were read")


def _describe(name: str, found: os.stat_result) -> Entry:
    if stat.S_ISLNK(found.st_mode):
        kind = EntryKind.LINK
    elif stat.S_ISDIR(found.st_mode):
        kind = EntryKind.FOLDER
    else:
        kind = EntryKind.FILE if stat.S_ISREG(found.st_mode) else EntryKind.OTHER
    return Entry(name, kind, found.st_size)
