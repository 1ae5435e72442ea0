"""Remembers, beside the data itself, for which code a database was last made ready: its migrations, and the tools and
archetypes that the preparation writes down.

When nothing changed since, the product may start while the (then empty) preparation still runs; otherwise it waits.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from golem_project.embedded.paths import CHECKOUT

FILE_NAME = "golem-prepared"


PACKAGES: Final = ("archetypes_app", "golem_project", "memory_app", "permits_app", "tools_app")
_READ: Final = (".py", ".toml", ".json", ".md")


def hash_product(checkout: Path = CHECKOUT) -> str:
    """One hash of all our code, and of the versions of the packages that bring migrations of their own."""
    digest = hashlib.sha256((checkout / "constraints.txt").read_bytes())
    for package in PACKAGES:
        for path in sorted((checkout / package).rglob("*")):
            if path.suffix in _READ and path.is_file():
                digest.update(str(path.relative_to(checkout)).encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def is_prepared(data: Path) -> bool:
    """Whether the database in `data` was made ready by exactly this code."""
    mark = data / FILE_NAME
    return mark.exists() and mark.read_text() == hash_product()


def mark_prepared(data: Path) -> None:
    """Say so; for after the preparation succeeded."""
    (data / FILE_NAME).write_text(hash_product())
