"""Each golem's workspace, from its row: a fenced folder on this server, or a folder on its owner's machine."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import UUID

from archetypes_app.models import CodingWorkspace
from archetypes_app.models.coding_workspace import WorkspacePlace
from tools_app.core.clock import Deadline
from tools_app.core.taint import Secret
from tools_app.subsystems.coding.detect_sandbox_fences import ROOT, uid_of
from tools_app.subsystems.coding.errors import WorkspaceBusy
from tools_app.subsystems.coding.fenced_commands import FencedCommands
from tools_app.subsystems.coding.local_folder import JailFiles
from tools_app.subsystems.coding.operations import NeedsOwner, Workspace

if TYPE_CHECKING:
    from golem_project.coding.ssh_keys import SshKeys

_WAIT_MS: Final = 3_000
_LOOK_SECONDS: Final = 0.05


class GolemWorkspaces:
    """The Workspaces interface. `folder` holds one folder for each golem that works on this server.

    `allows_network` is the operator's leave for commands here, without which an owner's switch does nothing;
    `allows_commands` is the leave for any. One takes `memory_bytes` at most and runs only if it cannot see `kept`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        key_folder: Path,
        passphrase: Secret,
        allows_private: bool,
        allows_network: bool,
        allows_commands: bool,
        memory_bytes: int,
        kept: tuple[Path, ...],
    ) -> None:
        self._folder = folder
        self._key_folder = key_folder
        self._passphrase = passphrase
        self._allows_private = allows_private
        self._allows_network = allows_network
        self._allows_commands = allows_commands
        self._memory_bytes = memory_bytes
        self._kept = kept

    @cached_property
    def _keys(self) -> SshKeys:
        # SSH is imported when a golem first works on another machine: few do, and it takes its time and memory.
        from golem_project.coding.ssh_keys import SshKeys

        return SshKeys(self._key_folder, passphrase=self._passphrase)

    @contextmanager
    def open(self, *, golem_id: UUID, deadline: Deadline) -> Iterator[Workspace]:
        """See Workspaces."""
        row = CodingWorkspace.objects.filter(golem_id=golem_id).first() or CodingWorkspace(golem_id=golem_id)
        if row.place == WorkspacePlace.LOCAL:
            yield self._open_here(row)
        else:
            with self._open_there(row, deadline) as workspace:
                yield workspace

    @contextmanager
    def hold(self, *, golem_id: UUID, deadline: Deadline) -> Iterator[None]:
        """See Workspaces. One after the other on this machine, wherever the golem's folder is."""
        path = self._own(golem_id) / "lock"
        until = Deadline.after_ms(min(_WAIT_MS, deadline.remaining_ms()))
        with path.open("a") as handle:
            while not _try_lock(handle.fileno()):
                if until.is_over:
                    raise WorkspaceBusy("another write or command of this golem is under way")
                time.sleep(_LOOK_SECONDS)
            yield

    def public_key(self, golem_id: UUID) -> str:
        """See Workspaces."""
        return self._keys.spell_public(golem_id)

    def _open_here(self, row: CodingWorkspace) -> Workspace:
        uid = uid_of(row.golem_id.int)
        work = self._own(row.golem_id) / "work"
        if not work.exists():
            # Its own folder above is closed to everybody else.
            work.mkdir(mode=0o755, exist_ok=True)
            if uid is not None:
                os.chown(work, uid, uid)
        return Workspace(
            name="this server",
            root=ROOT,
            files=JailFiles(work, uid=uid),
            commands=FencedCommands(
                work,
                uid=uid,
                allows_network=row.allows_network and self._allows_network,
                kept=self._kept,
                allowed=self._allows_commands,
                memory_bytes=self._memory_bytes,
            ),
            needs_owner=NeedsOwner(row.needs_owner),
            fingerprint=row.fingerprint,
        )

    @contextmanager
    def _open_there(self, row: CodingWorkspace, deadline: Deadline) -> Iterator[Workspace]:
        from golem_project.coding.ssh_commands import SshCommands
        from golem_project.coding.ssh_files import SshFiles
        from golem_project.coding.ssh_session import SshTarget, open_session

        target = SshTarget(row.host, row.port, row.username, row.host_key)
        key = self._keys.read(row.golem_id)
        with open_session(target, key=key, allows_private=self._allows_private, deadline=deadline) as session:
            yield Workspace(
                name=target.name,
                root=row.folder,
                files=SshFiles(session, row.folder),
                commands=SshCommands(session, row.folder),
                needs_owner=NeedsOwner(row.needs_owner),
                fingerprint=row.fingerprint,
            )

    def _own(self, golem_id: UUID) -> Path:
        own = self._folder / str(golem_id)
        own.mkdir(parents=True, exist_ok=True, mode=0o700)
        return own


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
