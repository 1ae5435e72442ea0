"""A disk of PostgreSQL that is full, and a database that takes no writes: by its own means, and nothing stands in.

Where this process may mount, the table lies on a disk in memory that is really full. Elsewhere the server raises what
it raises then, from a trigger of the same table.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.db import connection, models

SIZE = "1m"
NO_SPACE = "53100"


class FullDisk:
    """The disk below one table; `fill` and `free` are for the test."""

    def __init__(self, folder: Path | None, table: str) -> None:
        self._folder = folder
        self._table = table

    def fill(self) -> None:
        """Nothing more can be stored in the table."""
        if self._folder is None:
            _run(raising_sql(self._table, NO_SPACE))
            return
        with (self._folder / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                return

    def free(self) -> None:
        """There is space again."""
        if self._folder is None:
            _run(f'DROP TRIGGER IF EXISTS fails ON "{self._table}"')
            return
        (self._folder / "filler").unlink(missing_ok=True)


@contextmanager
def full_disk(model: type[models.Model]) -> Iterator[FullDisk]:
    """The model's table on a disk of its own."""
    table = model._meta.db_table
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    mounted = _mount(folder)
    name = f"small_{uuid.uuid4().hex}"
    disk = FullDisk(folder if mounted else None, table)
    try:
        if mounted:
            _run(
                f"CREATE TABLESPACE {name} LOCATION '{folder / 'data'}'",
                f'ALTER TABLE "{table}" SET TABLESPACE {name}',
                # A page that rows of an earlier test left behind would take new ones on a full disk too.
                f'VACUUM FULL "{table}"',
            )
        yield disk
    finally:
        disk.free()
        if mounted:
            _run(f'ALTER TABLE "{table}" SET TABLESPACE pg_default', f"DROP TABLESPACE {name}")
            subprocess.run(["umount", str(folder)], check=True)
        shutil.rmtree(folder)


class SmallDisk:
    """A disk for a folder of ours, which a test fills."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """Not a byte more can be written."""
        with (self.folder / "filler").open("wb", buffering=0) as filler:
            for size in (4096, 1):
                try:
                    while True:
                        filler.write(bytes(size))
                except OSError:
                    continue

    def free(self) -> None:
        """There is room again."""
        (self.folder / "filler").unlink(missing_ok=True)


@contextmanager
def small_disk() -> Iterator[SmallDisk]:
    """A disk in memory of a megabyte, really mounted. Raises PermissionError where this process may not mount."""
    folder = Path(tempfile.mkdtemp())
    if not _mount_memory(folder):
        folder.rmdir()
        raise PermissionError("a test of a full disk mounts one: run it as root, as CI does")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


@contextmanager
def failing_writes(model: type[models.Model], state: str) -> Iterator[None]:
    """PostgreSQL answers every INSERT into the model's table with the SQLSTATE `state`."""
    table = model._meta.db_table
    _run(raising_sql(table, state))
    try:
        yield
    finally:
        _run(f'DROP TRIGGER fails ON "{table}"')


@contextmanager
def read_only_database() -> Iterator[None]:
    """Every new session of the database takes no writes, as on a standby."""
    name = connection.settings_dict["NAME"]
    connection.close()
    _run(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    forget_sessions()
    try:
        yield
    finally:
        # The sessions of the pool are left as they are: that they are parted with is what is to be seen.
        _run("SET default_transaction_read_only = off", f'ALTER DATABASE "{name}" RESET default_transaction_read_only')


def raising_sql(table: str, state: str) -> str:
    """The SQL of a trigger that raises `state` for each INSERT."""
    return (
        "CREATE OR REPLACE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION 'as the server says it' USING ERRCODE = '{state}'; END $$;"
        f' CREATE TRIGGER fails BEFORE INSERT ON "{table}" FOR EACH STATEMENT EXECUTE FUNCTION fails()'
    )


def _mount_memory(folder: Path) -> bool:
    if os.geteuid() != 0:
        return False
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)], capture_output=True)
    return done.returncode == 0


def _mount(folder: Path) -> bool:
    if not _mount_memory(folder):
        return False
    with connection.cursor() as cursor:
        cursor.execute("SHOW data_directory")
        owner = Path(cursor.fetchone()[0]).stat()
    data = folder / "data"
    data.mkdir(mode=0o700)
    os.chown(data, owner.st_uid, owner.st_gid)
    os.chown(folder, owner.st_uid, owner.st_gid)
    return True


def forget_sessions() -> None:
    """What this process has open is closed, so that no later test is handed it."""
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]


def _run(*statements: str) -> None:
    """By a session beside those of the pool."""
    known = connection.settings_dict
    place = {"host": known["HOST"], "port": known["PORT"], "user": known["USER"], "password": known["PASSWORD"]}
    with psycopg.connect(**place, dbname=known["NAME"], autocommit=True, connect_timeout=5) as session:
        for statement in statements:
            session.execute(statement.encode())
