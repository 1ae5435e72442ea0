"""Runs PostgreSQL's own programs on this deployment's database; no password stands in a command line."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

import psycopg
from django.db import connection
from psycopg.conninfo import make_conninfo

from golem_project.backups.errors import BackupFailed
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.postgres_binaries import find_binaries

_LAST: Final = 400
"""Characters of what a program said last."""
_SECONDS: Final = 5
"""Until a connection that does not come is given up."""
_LOOKS: Final = 5
"""Others take sessions of the pooler meanwhile; one look may miss that they are shared."""

_WORDS: Final = {
    "PGHOST": "host",
    "PGPORT": "port",
    "PGUSER": "user",
    "PGPASSWORD": "password",
    "PGDATABASE": "dbname",
    "PGSSLMODE": "sslmode",
    "PGSSLROOTCERT": "sslrootcert",
}
"""What a connection's address calls what the programs' variables say."""

_FIRST_WITH_TRANSACTION_TIMEOUT: Final = 170_000
_UNKNOWN_BEFORE: Final = b"SET transaction_timeout = 0;"
_HEAD: Final = (b"--", b"BEGIN;", b"SET ", b"SELECT pg_catalog.set_config", b"\\restrict")
"""With one of these begins each line of a script that comes before its first table."""


def run(program: str, arguments: Sequence[str]) -> None:
    """Run it to its end. Raises BackupFailed with what it said."""
    with TemporaryFile() as said, _open(program, arguments, stdout=subprocess.DEVNULL, stderr=said) as process:
        _wait(process, program, said)


def restore_dump(dump: Path) -> None:
    """Restore it whole, or nothing of it. Raises BackupFailed with what a program said.

    `pg_restore` begins with a setting that PostgreSQL knows since 17. It asks an older server for it too, and fails, so
    there its script goes to `psql` without that line.
    """
    options = ["--no-owner", "--no-comments", "--no-privileges", "--single-transaction"]
    with _connect() as line:
        database, version = line.info.dbname, line.info.server_version
    if knows_transaction_timeout(version):
        run("pg_restore", ["--dbname", database, *options, str(dump)])
        return
    reads = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null", "--file=-"]
    with (
        TemporaryFile() as said_by_maker,
        TemporaryFile() as said_by_reader,
        _open("pg_restore", [*options, "--file=-", str(dump)], stdout=subprocess.PIPE, stderr=said_by_maker) as maker,
        _open("psql", reads, stdin=subprocess.PIPE, stderr=said_by_reader) as reader,
    ):
        _copy_script(maker, reader)
        # The script commits with its last line: of half a script nothing stays.
        _wait(reader, "psql", said_by_reader)
        _wait(maker, "pg_restore", said_by_maker)


def knows_transaction_timeout(version: int) -> bool:
    """Whether a server of this number, such as 150013, has the setting that `pg_restore` begins with."""
    return version >= _FIRST_WITH_TRANSACTION_TIMEOUT


def _open(
    program: str, arguments: Sequence[str], *, stderr: IO[bytes], stdin: int | None = None, stdout: int | None = None
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603  (our own words)
            [str(_find(program)), *arguments],
            env={**os.environ, **_read_place(), "PGAPPNAME": f"golem {program}"},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
    except OSError as error:
        raise BackupFailed(f"{program} does not run: {error}") from None


def _copy_script(maker: subprocess.Popen[bytes], reader: subprocess.Popen[bytes]) -> None:
    """All of it but the line that an older server does not know, which is looked for in its head alone."""
    made, taken = maker.stdout, reader.stdin
    if made is None or taken is None:
        return
    # A reader that failed takes nothing more, and its maker ends with it.
    with suppress(BrokenPipeError), made, taken:
        for line in made:
            if line.strip() != _UNKNOWN_BEFORE:
                taken.write(line)
            if line.strip() and not line.startswith(_HEAD):
                break
        shutil.copyfileobj(made, taken)


def _wait(process: subprocess.Popen[bytes], program: str, said: IO[bytes]) -> None:
    if process.wait() != 0:
        said.seek(0)
        raise BackupFailed(f"{program} failed: {said.read().decode(errors='replace').strip()[-_LAST:]}")


def refuse_shared_sessions() -> None:
    """Raise BackupFailed where transactions of one connection come to several sessions of the server.

    PostgreSQL's programs empty `search_path` for their session. Behind such a pooler that session is handed on as they
    left it, and whoever has it next is told that no table exists.
    """
    try:
        with _connect() as one, _connect() as other:
            is_shared = _ask_session(one) != one.info.backend_pid and any(
                _share_sessions(one, other) for _ in range(_LOOKS)
            )
    except psycopg.Error as error:
        raise BackupFailed(f"the database does not answer: {str(error).strip()[-_LAST:]}") from None
    if is_shared:
        raise BackupFailed(
            "a pooler by transactions (PgBouncer) stands before PostgreSQL, and others would get its sessions without "
            "a table in them. Fix: for this command alone let DATABASE_URL, or the file that DATABASE_URL_FILE names, "
            "lead to PostgreSQL itself"
        )


def _read_place() -> dict[str, str]:
    """Where the database is, in the variables that PostgreSQL's programs read; none that is empty."""
    known = connection.settings_dict
    variables = {
        "PGHOST": known["HOST"],
        "PGPORT": known["PORT"],
        "PGUSER": known["USER"],
        "PGPASSWORD": known["PASSWORD"],
        "PGDATABASE": known["NAME"],
        "PGSSLMODE": known["OPTIONS"].get("sslmode", ""),
        "PGSSLROOTCERT": known["OPTIONS"].get("sslrootcert", ""),
    }
    return {name: str(value) for name, value in variables.items() if value}


def _connect() -> psycopg.Connection[tuple[int]]:
    words = {_WORDS[name]: value for name, value in _read_place().items()}
    return psycopg.connect(make_conninfo(**words), autocommit=True, prepare_threshold=None, connect_timeout=_SECONDS)


def _ask_session(line: psycopg.Connection[tuple[int]]) -> int:
    row = line.execute("SELECT pg_backend_pid()").fetchone()
    return row[0] if row is not None else 0


def _share_sessions(one: psycopg.Connection[tuple[int]], other: psycopg.Connection[tuple[int]]) -> bool:
    first, second = _ask_session(one), _ask_session(one)
    return first != second or _ask_session(other) == first


def _find(program: str) -> Path:
    try:
        return find_binaries() / program
    except EmbeddedError:
        found = shutil.which(program)
        if found is None:
            raise BackupFailed(f"{program} is not installed; set PG_BIN_DIR to PostgreSQL's programs") from None
        return Path(found)
