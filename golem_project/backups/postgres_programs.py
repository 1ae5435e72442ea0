"""Runs PostgreSQL's own programs on this deployment's database; no password stands in a command line."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from django.db import connection

from golem_project.backups.errors import BackupFailed
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.postgres_binaries import find_binaries

_LAST: Final = 400
"""Characters of what a program said last."""


def run(program: str, arguments: Sequence[str]) -> None:
    """Run it to its end. Raises BackupFailed with what it said."""
    known = connection.settings_dict
    variables = {
        "PGHOST": known["HOST"],
        "PGPORT": known["PORT"],
        "PGUSER": known["USER"],
        "PGPASSWORD": known["PASSWORD"],
        "PGDATABASE": known["NAME"],
        "PGAPPNAME": f"golem {program}",
        "PGSSLMODE": known["OPTIONS"].get("sslmode", ""),
        "PGSSLROOTCERT": known["OPTIONS"].get("sslrootcert", ""),
    }
    environment = {**os.environ, **{name: str(value) for name, value in variables.items() if value}}
    try:
        done = subprocess.run(  # noqa: S603  (our own words)
            [str(_find(program)), *arguments], env=environment, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise BackupFailed(f"{program} does not run: {error}") from None
    if done.returncode != 0:
        raise BackupFailed(f"{program} failed: {done.stderr.strip()[-_LAST:]}")


def _find(program: str) -> Path:
    try:
        return find_binaries() / program
    except EmbeddedError:
        found = shutil.which(program)
        if found is None:
            raise BackupFailed(f"{program} is not installed; set PG_BIN_DIR to PostgreSQL's programs") from None
        return Path(found)
