"""Files on a remote machine over SFTP, below one folder.

Each folder on the way is looked at and no link is followed. Who else writes in that account could swap one between the
look and the step: there the account is the fence, and the admin says so.
"""

from __future__ import annotations

import posixpath
import secrets
import stat
from collections.abc import Callable, Coroutine, Iterator
from typing import Final, TypeVar

import asyncssh

from golem_project.coding.ssh_session import SshSession, seconds_left
from tools_app.core.clock import Deadline
from tools_app.subsystems.coding.editing import hash_bytes
from tools_app.subsystems.coding.errors import (
    FileChanged,
    FileMissing,
    PathRefused,
    RemoteFilesMissing,
    RemoteUnavailable,
)
from tools_app.subsystems.coding.limits import LIMITS
from tools_app.subsystems.coding.operations import Entry, EntryKind, FileBytes
from tools_app.subsystems.coding.paths import Place, spell

T = TypeVar("T")

_PART: Final = 256 * 1024
_GONE: Final = (asyncssh.SFTPNoConnection, asyncssh.SFTPConnectionLost)


class SshFiles:
    """FileOps below `folder` of the machine that `session` reaches."""

    def __init__(self, session: SshSession, folder: str) -> None:
        self._session = session
        self._folder = folder
        self._client: asyncssh.SFTPClient | None = None

    def find_excess(self, *, deadline: Deadline) -> str:
        """See FileOps. How much an account holds on its owner's machine is bounded there, or not."""
        return ""

    def read(self, place: Place, *, most_bytes: int, deadline: Deadline) -> FileBytes:
        """See FileOps."""
        return self._do(lambda client: self._read(client, place, most_bytes), place, deadline)

    def write(self, place: Place, data: bytes, *, replaces: str | None, deadline: Deadline) -> None:
        """See FileOps."""
        if not place:
            raise PathRefused("the folder itself is no file")
        self._do(lambda client: self._write(client, place, data, replaces), place, deadline)

    def find(self, place: Place, *, deadline: Deadline) -> Entry | None:
        """See FileOps."""
        if not place:
            return Entry(".", EntryKind.FOLDER, 0)

        async def look(client: asyncssh.SFTPClient) -> Entry:
            await self._check_folders(client, place[:-1], makes=False)
            return _describe(place[-1], await client.lstat(self._path(place)))

        try:
            return self._do(look, place, deadline)
        except FileMissing:
            return None

    def list_folder(self, place: Place, *, deadline: Deadline) -> Iterator[Entry]:
        """See FileOps."""

        async def list_all(client: asyncssh.SFTPClient) -> list[Entry]:
            await self._check_folders(client, place, makes=False)
            found: list[Entry] = []
            async for each in client.scandir(self._path(place)):
                name = (
                    each.filename if isinstance(each.filename, str) else each.filename.decode(errors="surrogateescape")
                )
                if name not in (".", ".."):
                    found.append(_describe(name, each.attrs))
                if len(found) > LIMITS.walked_entries:
                    break
            return found

        yield from self._do(list_all, place, deadline)

    async def _read(self, client: asyncssh.SFTPClient, place: Place, most_bytes: int) -> FileBytes:
        await self._check_folders(client, place[:-1], makes=False)
        path = self._path(place)
        found = _describe(spell(place), await client.lstat(path))
        if found.kind is not EntryKind.FILE:
            raise PathRefused(f"{spell(place)} is a link, or no plain file", path=spell(place))
        parts, left = [], most_bytes
        async with client.open(path, "rb") as handle:
            while left > 0:
                part = await handle.read(min(left, _PART))
                if not part:
                    break
                # Asked for without an encoding; a text would be another library's mistake.
                parts.append(part if isinstance(part, bytes) else part.encode())
                left -= len(part)
        data = b"".join(parts)
        return FileBytes(data, max(found.size, len(data)))

    async def _write(self, client: asyncssh.SFTPClient, place: Place, data: bytes, replaces: str | None) -> None:
        await self._check_folders(client, place[:-1], makes=True)
        path = self._path(place)
        mode = await self._check_replaced(client, place, replaces)
        temporary = posixpath.join(posixpath.dirname(path), f".golem-{secrets.token_hex(8)}.tmp")
        try:
            async with client.open(temporary, "xb") as handle:
                await handle.write(data)
            await client.chmod(temporary, mode)
            await self._check_replaced(client, place, replaces)
            await client.posix_rename(temporary, path)
        except BaseException:
            await _remove(client, temporary)
            raise

    async def _check_replaced(self, client: asyncssh.SFTPClient, place: Place, replaces: str | None) -> int:
        try:
            found = await client.lstat(self._path(place))
        except asyncssh.SFTPNoSuchFile:
            if replaces is not None:
                raise FileChanged(f"{spell(place)} is gone since the preview", path=spell(place)) from None
            return 0o644
        now = await self._read(client, place, LIMITS.edited_bytes + 1)
        if replaces is None or hash_bytes(now.data) != replaces:
            raise FileChanged(f"{spell(place)} is not what it was at the preview", path=spell(place))
        return stat.S_IMODE(found.permissions or 0o644) & 0o777

    async def _check_folders(self, client: asyncssh.SFTPClient, place: Place, *, makes: bool) -> None:
        for depth in range(1, len(place) + 1):
            path = self._path(place[:depth])
            try:
                found = _describe("", await client.lstat(path))
            except asyncssh.SFTPNoSuchFile:
                if not makes:
                    raise FileMissing(f"there is no {spell(place[:depth])}", path=spell(place[:depth])) from None
                await client.mkdir(path)
                continue
            if found.kind is not EntryKind.FOLDER:
                raise PathRefused(f"{spell(place[:depth])} is no folder, or a link", path=spell(place[:depth]))

    def _path(self, place: Place) -> str:
        return posixpath.join(self._folder, *place)

    def _do(
        self, step: Callable[[asyncssh.SFTPClient], Coroutine[object, object, T]], place: Place, deadline: Deadline
    ) -> T:
        async def with_client() -> T:
            if self._client is None:
                self._client = await _start(self._session)
            try:
                return await step(self._client)
            except _GONE:
                raise RemoteUnavailable(f"the connection to {self._session.name} ended in the middle") from None
            except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):
                raise FileMissing(f"there is no {spell(place)}", path=spell(place)) from None
            except asyncssh.SFTPError as error:
                raise PathRefused(f"{spell(place)}: {type(error).__name__}", path=spell(place)) from None

        return self._session.call(with_client, seconds=seconds_left(deadline))


async def _start(session: SshSession) -> asyncssh.SFTPClient:
    try:
        return await session.connection.start_sftp_client(path_errors="surrogateescape")
    except (asyncssh.ChannelOpenError, asyncssh.SFTPError):
        raise RemoteFilesMissing(f"{session.name} offers no SFTP") from None


async def _remove(client: asyncssh.SFTPClient, path: str) -> None:
    try:
        await client.remove(path)
    except (asyncssh.SFTPError, OSError):
        # It was not made, was renamed already, or the connection is gone; what went wrong first is told.
        return


def _describe(name: str, found: asyncssh.SFTPAttrs) -> Entry:
    mode = found.permissions or 0
    if stat.S_ISLNK(mode):
        kind = EntryKind.LINK
    elif stat.S_ISDIR(mode):
        kind = EntryKind.FOLDER
    else:
        kind = EntryKind.FILE if stat.S_ISREG(mode) else EntryKind.OTHER
    return Entry(name, kind, found.size or 0)
