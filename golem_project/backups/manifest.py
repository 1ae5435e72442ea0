"""What a backup consists of: its files with their digests, when it was made, and of which version."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from golem_project.backups.errors import RestoreRefused

NAME: Final = "manifest.json"
DATABASE: Final = "database.dump"
ARCHIVES: Final = "archives.tar"
KEYS: Final = "keys.tar"
_BLOCK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """Digests are SHA-256, by the file's name."""

    version: str
    made_at: str
    files: dict[str, str]

    @property
    def made(self) -> datetime:
        """When."""
        return datetime.fromisoformat(self.made_at)


def write(folder: Path, *, version: str, now: datetime) -> BackupManifest:
    """Write down every file of the folder."""
    files = {path.name: digest(path) for path in sorted(folder.iterdir()) if path.name != NAME}
    manifest = BackupManifest(version, now.isoformat(), files)
    (folder / NAME).write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")
    return manifest


def read(folder: Path) -> BackupManifest:
    """The manifest of a folder whose files are as they were written. Raises RestoreRefused."""
    try:
        manifest = BackupManifest(**json.loads((folder / NAME).read_text(encoding="utf-8")))
        _ = manifest.made
    except (OSError, ValueError, TypeError) as error:
        raise RestoreRefused(f"{folder / NAME} cannot be read: {error}") from None
    for name, expected in manifest.files.items():
        path = folder / name
        if not path.is_file() or digest(path) != expected:
            raise RestoreRefused(f"{path} is missing, or is not what was written")
    return manifest


def digest(path: Path) -> str:
    """SHA-256 of one file."""
    found = hashlib.sha256()
    with path.open("rb") as handle:
        while block := handle.read(_BLOCK):
            found.update(block)
    return found.hexdigest()
