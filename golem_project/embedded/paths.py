"""Names the folders and files of this checkout on this machine.

Everything is below the var folder of the checkout. One exception: PostgreSQL refuses to run as root, so root hands its
data to `nobody`; where `nobody` cannot enter the checkout, that data lies in a per-checkout folder of the system.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.system_folder import SYSTEM_DATA_ROOT, system_data_dir

CHECKOUT = Path(__file__).resolve().parents[2]
# Below this a memory-backed folder is too small for a test database (containers often give /dev/shm 64 MB).
LEAST_FREE_THROWAWAY_BYTES = 2 * 1024**3


@dataclass(frozen=True)
class ServerAccount:
    """A user and group that a server runs as."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Paths:
    """The folders one running set of servers uses. `data_dir` is outside `var_dir` only for root, see the module."""

    checkout: Path
    var_dir: Path
    data_dir: Path

    @property
    def run_dir(self) -> Path:
        """Locks and records of running processes."""
        return self.var_dir / "run"

    @property
    def log_dir(self) -> Path:
        """One file per process."""
        return self.var_dir / "log"

    @property
    def secrets_dir(self) -> Path:
        """Generated passwords of the servers, one 0600 file each."""
        return self.var_dir / "secrets"

    @property
    def keystore_dir(self) -> Path:
        """Wallets: `<address>.json` and beside it `<address>.chains`."""
        return self.var_dir / "keystore"

    @property
    def cache_dir(self) -> Path:
        """What set-up downloaded or built, safe to delete; always the checkout's own."""
        return self.checkout / "var" / "cache"

    def make_folders(self) -> None:
        """Create the folders. Raises EmbeddedError when the var folder cannot be written."""
        try:
            if not self.var_dir.exists():
                self.var_dir.mkdir(parents=True)
                # Others may pass through (PostgreSQL as `nobody`), the folders below decide what they may see.
                self.var_dir.chmod(0o711)
            for folder in (self.run_dir, self.log_dir, self.secrets_dir):
                folder.mkdir(mode=0o700, exist_ok=True)
            probe = self.run_dir / f".probe-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise EmbeddedError(
                f"{self.var_dir} cannot be written ({error.strerror}). "
                "Fix: set GOLEM_VAR_DIR to a folder of your own, or make this one writable."
            ) from error


def database_account() -> ServerAccount | None:
    """The account PostgreSQL runs as: None means the caller's own, root gets `nobody`."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedError(
            "PostgreSQL cannot run as root and this system has no user `nobody`. "
            "Fix: run as an ordinary user, or set DATABASE_URL to a server of yours."
        ) from None
    return ServerAccount(uid=entry.pw_uid, gid=entry.pw_gid)


def can_enter(folder: Path, account: ServerAccount) -> bool:
    """Whether `account`, without further groups, can pass through `folder` and everything above it."""
    for step in (folder, *folder.parents):
        status = step.stat()
        if status.st_uid == account.uid:
            allowed = status.st_mode & stat.S_IXUSR
        elif status.st_gid == account.gid:
            allowed = status.st_mode & stat.S_IXGRP
        else:
            allowed = status.st_mode & stat.S_IXOTH
        if not allowed:
            return False
    return True


def can_hold_data(folder: Path, account: ServerAccount) -> bool:
    """Whether a sub-folder of `folder` can be given to `account` (network mounts often refuse)."""
    if not can_enter(folder, account):
        return False
    probe = Path(tempfile.mkdtemp(prefix=".probe-", dir=folder))
    try:
        os.chown(probe, account.uid, account.gid)
    except OSError:
        return False
    finally:
        probe.rmdir()
    return True


def make_system_data_dir(var_dir: Path) -> Path:
    """Create the per-checkout system folder; only root gets here."""
    folder = system_data_dir(var_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for step in (SYSTEM_DATA_ROOT, folder):
            step.chmod(0o711)
        (folder / "belongs-to").write_text(f"{var_dir}\n")
    except OSError as error:
        raise EmbeddedError(
            f"{folder} cannot be made ({error.strerror}). Fix: set GOLEM_VAR_DIR to a folder that every user can enter."
        ) from error
    return folder


def locate(environment: Mapping[str, str], checkout: Path = CHECKOUT) -> Paths:
    """The folders of this checkout, made if missing. Says once when the data lies outside of it."""
    var_dir = Path(environment.get("GOLEM_VAR_DIR") or checkout / "var").absolute()
    paths = Paths(checkout=checkout, var_dir=var_dir, data_dir=var_dir)
    paths.make_folders()
    account = database_account()
    if account is None or can_hold_data(var_dir, account):
        return paths
    folder = make_system_data_dir(var_dir)
    notice = paths.run_dir / "data-folder-was-named"
    if not notice.exists():
        notice.write_text(f"{folder}\n")
        sys.stderr.write(
            f"golem: PostgreSQL runs as `nobody`, who cannot enter {var_dir}; its data lies in {folder}\n",
        )
    return Paths(checkout=checkout, var_dir=var_dir, data_dir=folder)


def throwaway_root() -> Path:
    """Where throw-away data goes: memory if there is enough of it, else the temporary folder."""
    account = database_account()
    for candidate in (Path("/dev/shm"), Path(tempfile.gettempdir()), Path("/var/tmp")):  # noqa: S108
        if not candidate.is_dir() or not os.access(candidate, os.W_OK | os.X_OK):
            continue
        if account is not None and not can_enter(candidate, account):
            continue
        if shutil.disk_usage(candidate).free >= LEAST_FREE_THROWAWAY_BYTES:
            return candidate
    raise EmbeddedError("No temporary folder has 2 GB free. Fix: free some space in /tmp.")
