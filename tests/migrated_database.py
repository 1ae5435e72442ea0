"""The migrated test database, kept from run to run: making it anew takes longer than most runs of a few tests.

What `migrate` made is written down once as SQL under var/cache, by a name that says which migrations, which packages
and which PostgreSQL made it; a later run, and the other workers of one, read it in. Migrations run all the same, and
find nothing left to do. Where the environment names a database (DATABASE_URL) nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.postgres_binaries import find_binaries
from tests.once_for_all import one_at_a_time
from tests.services import SERVERS

# Beside the migrations, what they import of the product.
_PRODUCT_FILES = (
    "memory_app/glossary.py",
    "memory_app/bend_embeddings.py",
    "tools_app/core/clock.py",
    "permits_app/models/spending.py",
)
# What one of these reads.
_READ = ("memory_app/glossary.txt", "memory_app/bend_embeddings.f16")
_MOST_KEPT = 3


def _digest() -> str:
    """Of everything a migrated database follows from."""
    found = hashlib.sha256()
    # Not a glob over everything: var/ and the clients' packages hold tens of thousands of folders.
    packages = [each.parent for each in CHECKOUT.glob("*/__init__.py")]
    migrations = sorted(path for package in packages for path in package.glob("**/migrations/*.py"))
    for path in (*migrations, *(CHECKOUT / each for each in (*_PRODUCT_FILES, *_READ, "constraints.txt"))):
        found.update(str(path.relative_to(CHECKOUT)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:32]


def find_kept() -> Path:
    """Where what this checkout's migrations made is written down, once a test has asked for a database."""
    return CHECKOUT / "var" / "cache" / "test-databases" / f"{_digest()}.sql"


def _run(program: str, *arguments: str, database: dict[str, Any]) -> None:
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "PGHOST": str(database["HOST"]),
        "PGPORT": str(database["PORT"]),
        "PGUSER": str(database["USER"]),
        "PGPASSWORD": str(database["PASSWORD"]),
    }
    command = [str(find_binaries() / program), *arguments, str(database["NAME"])]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=120)


def _test_database() -> dict[str, Any]:
    from django.db import connection

    given = connection.settings_dict
    return {**given, "NAME": given["TEST"]["NAME"] or f"test_{given['NAME']}"}


@dataclass(frozen=True)
class KeptDatabase:
    """Where the migrated database is written down, and how the one of this run is reached."""

    path: Path
    database: dict[str, Any]
    making: ExitStack


@pytest.fixture(scope="session")
def kept_database(django_db_modify_db_settings_parallel_suffix: None) -> KeptDatabase | None:
    """None where none is kept."""
    if not SERVERS.owns_postgres:
        return None
    path = find_kept()
    path.parent.mkdir(parents=True, exist_ok=True)
    return KeptDatabase(path, _test_database(), ExitStack())


@pytest.fixture(scope="session")
def django_db_keepdb(kept_database: KeptDatabase | None, request: pytest.FixtureRequest) -> bool:
    """True when the database was read in, so that `migrate` goes on from there."""
    if kept_database is None:
        return bool(request.config.getvalue("reuse_db"))
    # The first worker migrates; the others wait until it has written down what came of that.
    kept_database.making.enter_context(one_at_a_time(kept_database.path))
    if not kept_database.path.exists():
        return bool(request.config.getvalue("reuse_db"))
    kept_database.making.close()
    _run("createdb", "--template=template0", database=kept_database.database)
    kept_database.path.touch()
    _run("psql", "-qXv", "ON_ERROR_STOP=1", "-f", str(kept_database.path), database=kept_database.database)
    return True


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, kept_database: KeptDatabase | None) -> Iterator[None]:
    """Write down what was migrated just now, before a test writes into it."""
    if kept_database is not None and not kept_database.path.exists():
        draft = kept_database.path.with_suffix(f".{os.getpid()}")
        _run("pg_dump", "--no-owner", "-f", str(draft), database=kept_database.database)
        draft.rename(kept_database.path)
        old = sorted(draft.parent.glob("*.sql"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in old[_MOST_KEPT:]:
            path.unlink(missing_ok=True)
        kept_database.making.close()
    yield
