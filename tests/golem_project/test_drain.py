"""Real processes that are asked to stop in the middle of their work: what runs is answered, what waits others do."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connections

from golem_project.celery import app
from golem_project.embedded.children import plan_web, plan_worker
from golem_project.embedded.process import free_port, listens_on
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.pi.conftest import make_agent as make_agent

pytestmark = pytest.mark.timeout(600)
QUEUE = "drain-test"


def wait_for(is_so: Callable[[], object], log_path: Path, *, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, log_path.read_text()[-3000:]
        time.sleep(0.05)


@contextmanager
def running(argv: list[str], log_path: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "golem_project.settings.test", "PYTHONWARNINGS": "ignore"}
    with log_path.open("ab") as log:
        process = subprocess.Popen(argv, env={**environment, **variables}, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def web(log_path: Path, *, grace: int, module: str, **variables: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    argv = [*plan_web(port).argv]
    argv[argv.index("golem_project.asgi:application")] = f"{module}:application"
    argv[argv.index("--timeout-graceful-shutdown") + 1] = str(grace)
    with running(argv, log_path, **variables) as process:
        wait_for(lambda: listens_on(process.pid, port), log_path)
        yield process, port


class Asked(threading.Thread):
    """One request, in a thread of its own."""

    def __init__(self, port: int, path: str) -> None:
        super().__init__(daemon=True)
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._connection.request("GET", path)
        self.status, self.body = 0, b""
        self.headers: dict[str, str] = {}
        self.start()

    def run(self) -> None:
        answer = self._connection.getresponse()
        self.status, self.headers, self.body = answer.status, dict(answer.getheaders()), answer.read()


def test_a_server_that_is_asked_to_stop_finishes_what_it_began_and_takes_nothing_more(tmp_path: Path) -> None:
    with web(tmp_path / "log", grace=30, module="tests.slow_web") as (process, port):
        asked = Asked(port, "/2")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        with pytest.raises(OSError):
            Asked(port, "/0")
        asked.join(30)
        assert (asked.status, asked.body) == (200, b"answered")
        assert process.wait(30) in {0, -signal.SIGTERM}


def test_who_still_waits_when_the_time_to_stop_is_over_is_told_to_ask_again(tmp_path: Path) -> None:
    with web(tmp_path / "log", grace=1, module="tests.slow_web") as (process, port):
        asked = Asked(port, "/8")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        asked.join(6)
        problem = json.loads(asked.body)
        assert (asked.status, problem["code"], problem["recovery"]) == (503, "SERVER_STOPPING", "WAIT")
        assert asked.headers["retry-after"] == "2" and "Idempotency-Key" in problem["detail"]


@pytest.mark.django_db(transaction=True)
def test_a_stream_of_events_keeps_no_server_from_its_stop(tmp_path: Path, make_agent: MakeAgent) -> None:
    name = connections["default"].settings_dict["NAME"]
    database = f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}"
    token, log_path = make_agent().key.token, tmp_path / "log"
    with web(log_path, grace=30, module="golem_project.asgi", DATABASE_URL=database) as (process, port):
        stream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        accept = {"Accept": "text/event-stream", "Authorization": f"Bearer {token}"}
        stream.request("GET", "/api/v1/events", headers=accept)
        answer = stream.getresponse()
        assert answer.status == 200 and answer.readline().startswith(b"retry:")
        process.send_signal(signal.SIGTERM)
        # Well before the 30 s of its grace are over.
        assert process.wait(20) in {0, -signal.SIGTERM}


@contextmanager
def worker(log_path: Path, pool: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    plan = plan_worker("drains", QUEUE, pool=pool, concurrency=1)
    already = log_path.read_bytes().count(b" ready.") if log_path.exists() else 0
    with running([*plan.argv, "-I", "tests.slow_tasks"], log_path, **variables) as process:
        wait_for(lambda: log_path.read_bytes().count(b" ready.") > already, log_path)
        yield process


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_worker_that_is_asked_to_stop_ends_its_task_and_leaves_the_others_to_the_next(
    pool: str, django_db_setup: None, tmp_path: Path
) -> None:
    log_path = tmp_path / "log"
    sent = []
    for number in range(4):
        paths = {"begun": str(tmp_path / f"begun-{number}"), "done": str(tmp_path / f"done-{number}")}
        kwargs = {**paths, "seconds": 3 if number == 0 else 0}
        sent.append(app.send_task("tests.slow_tasks.slow_task", kwargs=kwargs, queue=QUEUE))
    with worker(log_path, pool) as process:
        wait_for((tmp_path / "begun-0").exists, log_path)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, log_path.read_text()[-3000:]
    assert (tmp_path / "done-0").read_text() == "once\n" and sent[0].get(timeout=5) == "finished"
    assert not (tmp_path / "begun-1").exists()
    with worker(log_path, pool):
        assert [each.get(timeout=60) for each in sent[1:]] == ["finished"] * 3
    assert [(tmp_path / f"done-{number}").read_text() for number in range(4)] == ["once\n"] * 4
