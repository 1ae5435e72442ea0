"""Secrets that are made once and kept in files only their owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError


def write_once(path: Path, secret: str) -> None:
    """Write `secret` into `path` for its owner alone. Where somebody else was first, theirs stays, and is whole."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
    try:
        # A link, unlike a rename, fails when somebody else was first.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def read_or_make_secret(path: Path) -> str:
    """The secret in `path`, made on the first call; two callers at once get the same one."""
    if not path.exists():
        write_once(path, secrets.token_urlsafe(32))
    secret = path.read_text().strip()
    if not secret:
        raise EmbeddedError(f"{path} is empty. Fix: restore it from your backup, or delete it to start anew.")
    return secret
