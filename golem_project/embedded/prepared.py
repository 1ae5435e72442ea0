"""Remembers, beside the data itself, for which migrations a database was last made ready.

When nothing changed since, the product may start while the (then empty) preparation still runs; otherwise it waits.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from golem_project.embedded.paths import CHECKOUT

FILE_NAME = "golem-prepared"


def hash_migrations(checkout: Path = CHECKOUT) -> str:
    """One hash of all our migrations and of the versions of the packages that bring their own."""
    digest = hashlib.sha256((checkout / "constraints.txt").read_bytes())
    # Apps lie at the top, and inside golem_project.
    for path in sorted([*checkout.glob("*/migrations/*.py"), *checkout.glob("*/*/migrations/*.py")]):
        digest.update(str(path.relative_to(checkout)).encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def is_prepared(data: Path) -> bool:
    """Whether the database in `data` was made ready for exactly these migrations."""
    mark = data / FILE_NAME
    return mark.exists() and mark.read_text() == hash_migrations()


def mark_prepared(data: Path) -> None:
    """Say so; for after the preparation succeeded."""
    (data / FILE_NAME).write_text(hash_migrations())
