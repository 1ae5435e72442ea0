"""A dump comes back whole or not at all, and on an older PostgreSQL too, which knows less than our programs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from golem_project.backups import postgres_programs
from golem_project.backups.errors import BackupFailed
from golem_project.embedded.paths import database_account
from golem_project.embedded.process import free_port
from tests.architecture.sources import ROOT

_ROWS = 1_000
# A row may say what a script's head says.
_MADE = f"""
CREATE TABLE kept (id int PRIMARY KEY, said text NOT NULL);
INSERT INTO kept SELECT number, 'SET transaction_timeout = 0;' FROM generate_series(1, {_ROWS}) AS number
"""
_CALL = """
import sys, django
from pathlib import Path
django.setup()
from golem_project.backups import postgres_programs
if sys.argv[1] == "dump":
    postgres_programs.run("pg_dump", ["--format=custom", f"--file={sys.argv[2]}", "--no-owner"])
else:
    postgres_programs.restore_dump(Path(sys.argv[2]))
"""


def call(what: str, dump: Path, url: str) -> None:
    environment = {**os.environ, "DATABASE_URL": url}
    subprocess.run([sys.executable, "-c", _CALL, what, str(dump)], cwd=ROOT, env=environment, check=True, timeout=60)


def read_rows(where: str) -> Any:
    with psycopg.connect(where) as here:
        return here.execute("SELECT count(*), min(said), max(said) FROM kept").fetchone()


@pytest.fixture
def older() -> Iterator[str]:
    """The address of a server older than 17, without the name of a database."""
    found = [path for path in Path("/usr/lib/postgresql").glob("1[56]/bin") if (path / "initdb").exists()]
    if not found:
        pytest.skip("not run: no PostgreSQL 15 or 16 is installed")
    account, port = database_account(), free_port()
    folder = Path(tempfile.mkdtemp(prefix="golem-older-"))
    rights: dict[str, Any] = {"cwd": "/", "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if account is not None:
        os.chown(folder, account.uid, account.gid)
        rights |= {"user": account.uid, "group": account.gid, "extra_groups": []}
    data = folder / "data"
    subprocess.run([found[0] / "initdb", "-D", data, "-U", "golem", "-A", "trust"], check=True, **rights)
    words = ["-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"]
    with subprocess.Popen([found[0] / "postgres", "-D", data, *words], **rights) as server:
        try:
            wait_for(f"postgres://golem@127.0.0.1:{port}/postgres")
            yield f"postgres://golem@127.0.0.1:{port}"
        finally:
            server.send_signal(signal.SIGQUIT)
    shutil.rmtree(folder)


def wait_for(url: str) -> None:
    for _ in range(200):
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the older server does not answer")


def test_postgresql_17_knows_what_a_restore_begins_with_and_16_does_not() -> None:
    assert not postgres_programs.knows_transaction_timeout(169_999)
    assert postgres_programs.knows_transaction_timeout(170_000)


def test_a_dump_of_an_older_server_comes_back_to_it(older: str, tmp_path: Path) -> None:
    with psycopg.connect(f"{older}/postgres", autocommit=True) as server:
        server.execute(_MADE)
        server.execute("CREATE DATABASE another")
    call("dump", tmp_path / "dump", f"{older}/postgres")
    call("restore", tmp_path / "dump", f"{older}/another")
    assert read_rows(f"{older}/another") == read_rows(f"{older}/postgres")
    assert read_rows(f"{older}/another")[0] == _ROWS


@pytest.fixture
def another(db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """An empty database that the programs are led to as if its server were an older one; a dump lies beside."""
    known = connection.settings_dict
    server = f"postgres://{known['USER']}:{known['PASSWORD']}@{known['HOST']}:{known['PORT']}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as here:
        for name in ("dumped", "another"):
            here.execute(f"DROP DATABASE IF EXISTS {name}")
            here.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        with psycopg.connect(f"{server}/dumped") as filled:
            filled.execute(_MADE)
        monkeypatch.setitem(known, "NAME", "dumped")
        postgres_programs.run("pg_dump", ["--format=custom", f"--file={tmp_path / 'dump'}", "--no-owner"])
        monkeypatch.setitem(known, "NAME", "another")
        monkeypatch.setattr(postgres_programs, "_FIRST_WITH_TRANSACTION_TIMEOUT", sys.maxsize)
        yield f"{server}/another"
        for name in ("dumped", "another"):
            here.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_every_row_comes_back_as_it_was_and_only_the_head_of_the_script_is_changed(
    another: str, tmp_path: Path
) -> None:
    postgres_programs.restore_dump(tmp_path / "dump")
    assert read_rows(another) == (_ROWS, "SET transaction_timeout = 0;", "SET transaction_timeout = 0;")


def test_what_the_server_refuses_is_said_and_nothing_of_the_dump_stays(another: str, tmp_path: Path) -> None:
    with psycopg.connect(another) as here:
        here.execute("CREATE VIEW public.kept AS SELECT 1")
    with pytest.raises(BackupFailed, match='psql failed: .*relation "kept" already exists'):
        postgres_programs.restore_dump(tmp_path / "dump")
    with psycopg.connect(another) as here:
        assert here.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_of_a_dump_that_ends_too_early_nothing_stays(another: str, tmp_path: Path, share: float) -> None:
    dump = tmp_path / "dump"
    os.truncate(dump, int(dump.stat().st_size * share))
    with pytest.raises(BackupFailed, match="failed: "):
        postgres_programs.restore_dump(dump)
    with psycopg.connect(another) as here:
        assert here.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)
