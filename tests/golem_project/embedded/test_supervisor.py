"""The commands: throw-away servers for any command, and one supervisor for a checkout."""

from __future__ import annotations

import dataclasses
import fcntl
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from golem_project.embedded.page_address import find_page_url
from golem_project.embedded.paths import CHECKOUT, Paths
from golem_project.embedded.process import write_record
from tests.golem_project.embedded.conftest import identity_of, read_line, wait_until_gone

SUPERVISOR = [sys.executable, "-m", "golem_project.embedded.supervisor"]
SHOW = "import json, os, sys; print(json.dumps({**os.environ}), flush=True); sys.stdin.read()"


def run_supervisor(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(
        [*SUPERVISOR, *arguments], cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=60, input=""
    )


def test_exec_lends_what_is_wanted_and_removes_it_afterwards() -> None:
    result = run_supervisor("exec", "--no-chain", sys.executable, "-c", SHOW)
    assert result.returncode == 0, result.stderr
    environment = json.loads(result.stdout)
    assert environment["DATABASE_URL"].startswith("postgresql://golem:")
    assert environment["REDIS_URL"].startswith("redis://:")
    assert "GOLEM_RPC_URL_31337" not in environment
    assert environment["GOLEM_VAR_DIR"] != str(CHECKOUT / "var")
    assert not Path(environment["GOLEM_VAR_DIR"]).exists()


def test_exec_leaves_alone_what_the_environment_names() -> None:
    given = "postgresql://given@127.0.0.1:1/db"
    result = run_supervisor("exec", "--no-chain", "--no-valkey", sys.executable, "-c", SHOW, DATABASE_URL=given)
    assert json.loads(result.stdout)["DATABASE_URL"] == given


@pytest.mark.parametrize(("script", "status"), [("exit 7", 7), ("kill -KILL $$", 137), ("true", 0)])
def test_exec_ends_with_the_status_of_the_command(script: str, status: int) -> None:
    result = run_supervisor("exec", "--no-postgres", "--no-valkey", "--no-chain", "sh", "-c", script)
    assert result.returncode == status


def test_exec_without_a_command_or_with_an_unknown_one_is_one_line() -> None:
    nothing = run_supervisor("exec")
    assert (nothing.returncode, nothing.stderr) == (
        1,
        "golem: exec needs a command. Fix: exec [--no-chain] COMMAND...\n",
    )
    unknown = run_supervisor("exec", "--no-postgres", "--no-valkey", "--no-chain", "/no/such/program")
    assert (unknown.returncode, unknown.stderr) == (127, "/no/such/program: No such file or directory\n")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_exec_leaves_nothing_when_it_is_ended(how: signal.Signals) -> None:
    script = SHOW.replace("**os.environ", "'pid': os.getpid(), **os.environ")
    lender = subprocess.Popen(
        [*SUPERVISOR, "exec", "--no-chain", sys.executable, "-c", script],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    environment = json.loads(read_line(lender))
    run_dir = Path(environment["GOLEM_VAR_DIR"]) / "run"
    records = [json.loads((run_dir / f"{name}.json").read_text()) for name in ("postgres", "valkey")]
    everything = [identity_of(pid) for pid in (environment["pid"], *(record["pid"] for record in records))]
    assert all(one.is_alive() for one in everything)
    lender.send_signal(how)
    for one in everything:
        wait_until_gone(one)
    lender.communicate(timeout=20)
    assert not any(one.is_alive() for one in everything)


def test_a_second_run_says_where_the_first_one_is(paths: Paths) -> None:
    class Ready(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing of this belongs on the screen."""

    with http.server.HTTPServer(("127.0.0.1", 0), Ready) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{web.server_port}"
        record = dataclasses.asdict(identity_of(os.getpid()))
        write_record(paths.run_dir / "supervisor.json", {**record, "web_url": url, "environment": {}})
        with (paths.run_dir / "supervisor.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            result = run_supervisor("run", GOLEM_VAR_DIR=str(paths.var_dir))
        page = find_page_url(url)
        web.shutdown()
    assert result.returncode == 0
    assert page in (url, url.replace("127.0.0.1", "localhost"))
    assert result.stdout == f"golem already runs at {page}/admin/ (process {os.getpid()}).\n"


def test_a_second_run_while_the_first_is_not_ready_yet_is_one_line(paths: Paths) -> None:
    with (paths.run_dir / "supervisor.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = run_supervisor("run", GOLEM_VAR_DIR=str(paths.var_dir))
    assert result.returncode == 1
    assert result.stderr.startswith("golem is being started or stopped by another command. Fix: ")
    assert result.stderr.count("\n") == 1
