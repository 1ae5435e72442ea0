"""Gives a `manage.py` command its database: the one in the environment, the one running, or one for its own run."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from typing import IO

from golem_project.embedded.environment import (
    LOCAL_RPC_VARIABLE,
    SECOND_FILE_VARIABLE,
    SECOND_RPC_VARIABLE,
    base_environment,
    is_given,
    load_env_file,
)
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT, Paths, locate
from golem_project.embedded.postgres import EmbeddedPostgres, hold_database
from golem_project.embedded.process import identity_from, read_record
from golem_project.embedded.valkey import EmbeddedValkey

SUPERVISOR_RECORD = "supervisor.json"
# Nobody listens on port 1: a command that does need the broker fails at once and says so.
NO_BROKER_URL = "redis://127.0.0.1:1/0"
# The lock that holds the database lives as long as these files are open, that is as long as this process.
_HELD: list[IO[bytes]] = []


def supervisor_environment(paths: Paths) -> dict[str, str]:
    """What a running supervisor exported for others; empty when none runs."""
    record = read_record(paths.run_dir / SUPERVISOR_RECORD)
    identity = identity_from(record)
    exported = record.get("environment")
    if identity is None or not identity.is_alive() or not isinstance(exported, dict):
        return {}
    return {str(name): str(value) for name, value in exported.items()}


def provide_services(environment: MutableMapping[str, str]) -> bool:
    """Complete `environment` with DATABASE_URL, REDIS_URL and the folders of secrets.

    A database that is not running is started and stops when the last command using it has ended. A broker is used when
    it runs and never started. True where the database is one of the checkout's own that nobody named. Raises
    EmbeddedError, one line with the fix.
    """
    load_env_file(environment)
    paths = locate(environment)
    running = supervisor_environment(paths)
    for name, value in base_environment(paths, environment).items():
        environment.setdefault(name, value)
    is_unnamed, found = not is_given(environment, "postgres"), running.get("DATABASE_URL")
    if is_unnamed:
        environment["DATABASE_URL"] = found or _database_for_this_run(paths, environment)
    if not is_given(environment, "valkey"):
        valkey = EmbeddedValkey(paths, throwaway=False)
        server = valkey.find_running()
        if server is not None and server.port:
            valkey.port = server.port
        environment["REDIS_URL"] = valkey.url if valkey.port else NO_BROKER_URL
    for name in (LOCAL_RPC_VARIABLE, SECOND_RPC_VARIABLE, SECOND_FILE_VARIABLE):
        if running.get(name) and not environment.get(f"{name}_FILE"):
            environment.setdefault(name, running[name])
    return is_unnamed and not found


def _database_for_this_run(paths: Paths, environment: MutableMapping[str, str]) -> str:
    # Held before looking: a keeper that is about to stop the server then either waits for us or is finished first.
    _HELD.append(hold_database(paths))
    postgres = EmbeddedPostgres(paths, throwaway=False)
    server = postgres.find_running()
    if server is None or not server.is_looked_after or not _answers(postgres, server.port):
        _start_keeper(paths, environment)
        server = postgres.find_running()
    if server is None:
        raise EmbeddedError(f"The database ended again at once. Fix: see {postgres.log_path}")
    postgres.port = server.port
    return postgres.url


def _answers(postgres: EmbeddedPostgres, port: int) -> bool:
    # Recorded as running, but perhaps another command has only just begun to start it; the keeper waits for that.
    postgres.port = port
    return postgres.is_ready()


def _start_keeper(paths: Paths, environment: MutableMapping[str, str]) -> None:
    reading, writing = os.pipe()
    log = os.open(paths.log_dir / "keeper.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    argv = [sys.executable, "-m", "golem_project.embedded.keep_database_running"]
    keeper_environment = {
        "PATH": environment.get("PATH", "/usr/bin:/bin"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(CHECKOUT), environment.get("PYTHONPATH")])),
        "GOLEM_VAR_DIR": str(paths.var_dir),
    }
    if environment.get("PG_BIN_DIR"):
        keeper_environment["PG_BIN_DIR"] = environment["PG_BIN_DIR"]
    os.posix_spawn(
        sys.executable,
        argv,
        keeper_environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, writing, 1),
            (os.POSIX_SPAWN_DUP2, log, 2),
        ],
        setsid=True,
    )
    os.close(writing)
    os.close(log)
    with os.fdopen(reading) as answers:
        answer = answers.readline().strip()
    if answer != "ready":
        raise EmbeddedError(answer or f"The database could not be started. Fix: see {paths.log_dir / 'keeper.log'}")
