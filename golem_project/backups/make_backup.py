"""Writes a backup: the database as of one moment, golems' archives and folders; the keys into another place."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from django.conf import settings

from golem_project.backups import manifest, postgres_programs
from golem_project.backups.errors import BackupFailed
from golem_project.settings.environment import VAR_DIR
from golem_project.status import read_version

_PRIVATE: Final = 0o600
_PRIVATE_FOLDER: Final = 0o700


def list_keys() -> list[Path]:
    """The files and folders without which nobody signs, opens what is sealed, or proves the audit log."""
    return [
        Path(settings.GOLEM_KEYSTORE_DIR),
        Path(settings.GOLEM_KEYSTORE_PASSPHRASE_FILE),
        Path(settings.GOLEM_AUDIT_KEY_FILE),
        Path(settings.GOLEM_RELAYER_ADDRESS_FILE),
        Path(os.environ.get("GOLEM_SECRET_KEY_FILE") or VAR_DIR / "secret_key"),
    ]


def list_archives() -> list[Path]:
    """What golems keep in files: exported memories and the folders of those that code here."""
    return [Path(settings.GOLEM_GRIMOIRE_DIR), Path(settings.GOLEM_CODING_DIR)]


def make_backup(*, folder: Path, keys: Path | None, now: datetime) -> manifest.BackupManifest:
    """Write it into `folder`, which must be new or empty, and the keys into `keys`, which must lie elsewhere.

    Raises BackupFailed.
    """
    if keys is not None and (keys.resolve() == folder.resolve() or folder.resolve() in keys.resolve().parents):
        raise BackupFailed("keys and database in one place open everything to who finds it; name another for the keys")
    for place in (folder, keys):
        if place is not None and place.exists() and any(place.iterdir()):
            raise BackupFailed(f"{place} is not empty; a backup is never written over another")
    postgres_programs.refuse_shared_sessions()
    _make_private(folder)
    # Keys come behind the database: a wallet that is made meanwhile has a key too many and not one too few.
    postgres_programs.run("pg_dump", ["--format=custom", f"--file={folder / manifest.DATABASE}", "--no-owner"])
    _pack(folder / manifest.ARCHIVES, list_archives())
    written = manifest.write(folder, version=read_version(), now=now)
    if keys is not None:
        _make_private(keys)
        _pack(keys / manifest.KEYS, list_keys())
        manifest.write(keys, version=read_version(), now=now)
    for path in (*folder.iterdir(), *(keys.iterdir() if keys is not None else ())):
        path.chmod(_PRIVATE)
    return written


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    folder.chmod(_PRIVATE_FOLDER)


def _pack(target: Path, places: Sequence[Path]) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
    with os.fdopen(descriptor, "wb") as handle, tarfile.open(fileobj=handle, mode="w") as tar:
        for place in places:
            if place.exists():
                tar.add(place, arcname=place.name)
