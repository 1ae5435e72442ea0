"""A command gets a database for its own run, shares one that runs, and leaves none behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from golem_project.embedded.autostart import NO_BROKER_URL, provide_services
from golem_project.embedded.paths import CHECKOUT, Paths
from golem_project.embedded.postgres import EmbeddedPostgres
from golem_project.embedded.process import RunningServer, find_recorded_server
from golem_project.embedded.valkey import EmbeddedValkey
from tests.golem_project.embedded.conftest import Starter, kill_hard, read_line, wait_until_gone

# What manage.py does, with a query in the place of Django: prints one line, then waits for its input to end.
COMMAND = """
import json, os, psycopg
from golem_project.embedded.autostart import provide_services
os.environ["GOLEM_VAR_DIR"] = str(paths.var_dir)
provide_services(os.environ)
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    answer = connection.execute("SELECT 7").fetchone()[0]
print(json.dumps({"answer": answer, **os.environ}), flush=True)
sys.stdin.read()
"""


def server_of(paths: Paths) -> RunningServer:
    server = find_recorded_server(paths.run_dir / "postgres.json")
    assert server is not None
    return server


def finish(command: subprocess.Popen[str]) -> None:
    command.communicate("", timeout=20)
    assert command.returncode == 0


def test_a_command_has_a_database_that_ends_with_it(paths: Paths, start_program: Starter) -> None:
    command = start_program(COMMAND)
    environment = json.loads(read_line(command))
    assert environment["answer"] == 7
    assert environment["REDIS_URL"] == NO_BROKER_URL
    assert Path(environment["GOLEM_SECRET_KEY_FILE"]).exists()
    server = server_of(paths)
    assert server.owner is not None
    finish(command)
    wait_until_gone(server.identity)
    wait_until_gone(server.owner)


def test_the_database_stays_until_the_last_of_two_commands_has_ended(paths: Paths, start_program: Starter) -> None:
    first = start_program(COMMAND)
    read_line(first)
    server = server_of(paths)
    second = start_program(COMMAND)
    assert json.loads(read_line(second))["answer"] == 7
    assert server_of(paths) == server
    finish(first)
    third = start_program(COMMAND)
    assert json.loads(read_line(third))["answer"] == 7
    assert server.identity.is_alive()
    finish(second)
    assert server.identity.is_alive()
    kill_hard(third)
    wait_until_gone(server.identity)


def test_commands_that_begin_at_the_same_time_share_one_database(paths: Paths, start_program: Starter) -> None:
    commands = [start_program(COMMAND) for _ in range(4)]
    urls = {json.loads(read_line(command))["DATABASE_URL"] for command in commands}
    assert len(urls) == 1
    server = server_of(paths)
    for command in commands:
        finish(command)
    wait_until_gone(server.identity)


def test_commands_one_right_after_the_other_never_meet_a_stopping_database(
    paths: Paths, start_program: Starter
) -> None:
    for _ in range(5):
        command = start_program(COMMAND)
        assert json.loads(read_line(command))["answer"] == 7
        finish(command)
    server = find_recorded_server(paths.run_dir / "postgres.json")
    if server is not None:
        wait_until_gone(server.identity)


def test_a_running_database_and_broker_are_used_and_left_running(paths: Paths, start_program: Starter) -> None:
    postgres = EmbeddedPostgres(paths, throwaway=True)
    valkey = EmbeddedValkey(paths, throwaway=True)
    postgres.start()
    valkey.start()
    try:
        command = start_program(COMMAND)
        environment = json.loads(read_line(command))
        assert environment["DATABASE_URL"] == postgres.url
        assert environment["REDIS_URL"] == valkey.url
        finish(command)
        assert postgres.is_ready()
        assert valkey.is_ready()
    finally:
        valkey.stop()
        postgres.stop()


def test_a_database_named_in_the_environment_is_used_as_it_is(paths: Paths) -> None:
    environment = {"DATABASE_URL": "postgresql://given/db", "REDIS_URL": "redis://given/0"}
    environment["GOLEM_VAR_DIR"] = str(paths.var_dir)
    assert provide_services(environment) is False
    assert environment["DATABASE_URL"] == "postgresql://given/db"
    assert environment["REDIS_URL"] == "redis://given/0"
    assert not (paths.var_dir / "postgres").exists()


def test_after_kill_9_of_the_keeper_the_next_command_has_a_database(paths: Paths, start_program: Starter) -> None:
    first = start_program(COMMAND)
    read_line(first)
    server = server_of(paths)
    assert server.owner is not None
    os.kill(server.owner.pid, 9)
    wait_until_gone(server.identity)
    second = start_program(COMMAND)
    assert json.loads(read_line(second))["answer"] == 7
    assert server_of(paths).identity != server.identity


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        ({"GOLEM_VAR_DIR": "/proc/no"}, "manage.py: /proc/no cannot be written"),
        ({"PG_BIN_DIR": "/usr/share"}, "manage.py: PG_BIN_DIR=/usr/share holds no `postgres`. Fix: "),
    ],
)
def test_manage_py_says_in_one_line_what_is_wrong(paths: Paths, variables: dict[str, str], line: str) -> None:
    environment = {"PATH": os.environ["PATH"], "GOLEM_VAR_DIR": str(paths.var_dir), **variables}
    result = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 1
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_command_of_a_deployment_that_was_given_no_database_says_whose_it_has(paths: Paths) -> None:
    environment = {"PATH": os.environ["PATH"], "GOLEM_VAR_DIR": str(paths.var_dir)}
    told = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--check"],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    ).stderr
    assert "a database of this checkout's own" in told and ". /etc/golem/environment" in told


def test_manage_py_without_the_environment_says_how_to_make_it(paths: Paths) -> None:
    result = subprocess.run([sys.executable, "-I", "-S", "manage.py"], cwd=CHECKOUT, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == ("Django is not installed here. Fix: run `make setup`, then .venv/bin/python manage.py.\n")
