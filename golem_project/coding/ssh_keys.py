"""The keys golems log in to other machines with: in the keystore's folder, under the keystore's passphrase.

Made here, never imported, never shown; an owner copies the public half to the machine. One per golem.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final
from uuid import UUID

import asyncssh

from tools_app.core.errors import GolemError, Recovery
from tools_app.core.taint import Secret

_KIND: Final = "ssh-ed25519"


class SshKeyBroken(
    GolemError,
    status=503,
    recovery=Recovery.ASK_OWNER,
    title="A golem's SSH key does not open with this server's passphrase",
):
    """A golem's SSH key does not open with this server's passphrase."""


class SshKeys:
    """A folder of encrypted private keys, each in a file of mode 0600."""

    def __init__(self, folder: Path, *, passphrase: Secret) -> None:
        self._folder = folder
        self._passphrase = passphrase

    def read(self, golem_id: UUID) -> asyncssh.SSHKey:
        """The golem's key; made when there is none. Raises SshKeyBroken."""
        path = self._folder / f"{golem_id}.pem"
        if not path.exists():
            self._make(path, golem_id)
        try:
            return asyncssh.import_private_key(path.read_bytes(), self._passphrase.reveal())
        except (asyncssh.KeyImportError, OSError):
            raise SshKeyBroken(f"the SSH key of golem {golem_id} does not open") from None

    def spell_public(self, golem_id: UUID) -> str:
        """One line for authorized_keys. Raises SshKeyBroken."""
        return f"{self.read(golem_id).export_public_key().decode().strip()} golem-{golem_id}"

    def _make(self, path: Path, golem_id: UUID) -> None:
        key = asyncssh.generate_private_key(_KIND)
        sealed = key.export_private_key("pkcs8-pem", passphrase=self._passphrase.reveal())
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(sealed)
            handle.flush()
            os.fsync(handle.fileno())
        try:
            # Whoever was first keeps theirs.
            os.link(temporary, path)
        except FileExistsError:
            return
        finally:
            os.unlink(temporary)
