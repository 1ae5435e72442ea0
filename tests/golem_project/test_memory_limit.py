"""Real processes that grow: told before their end, and ended between two jobs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client

from golem_project.celery import app
from golem_project.embedded.process import free_port, listens_on
from golem_project.embedded.product_process_plans import plan_web
from golem_project.runtime import memory_limit

QUEUE = "memory-bound-test"
MOST_MIB = 900


@pytest.fixture(autouse=True)
def nothing_is_told() -> None:
    cache.clear()


@contextmanager
def worker(log_path: Path, pool: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of its own queue, on the servers of this run."""
    argv = [sys.executable, "-m", "celery", "-A", "golem_project.celery", "worker", "-n", "grows@%h", "-c", "1"]
    argv += ["-P", pool, "-Q", QUEUE, "-I", "tests.growing_tasks", "--without-gossip", "--without-mingle", "-l", "INFO"]
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "golem_project.settings.test",
        "GOLEM_WORKER_MEMORY_MIB": str(MOST_MIB),
        "GOLEM_WORKER_CHILD_MEMORY_MIB": str(MOST_MIB),
        "PYTHONWARNINGS": "ignore",
    }
    with log_path.open("wb") as log:
        process = subprocess.Popen(argv, env=environment, stdout=log, stderr=log)
    try:
        wait_for(lambda: b" ready." in log_path.read_bytes(), log_path)
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for(is_so: object, log_path: Path) -> None:
    assert callable(is_so)
    until = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < until, log_path.read_text()[-3000:]
        time.sleep(0.1)


def send(name: str, done: Path) -> None:
    app.send_task(f"tests.growing_tasks.{name}", kwargs={"most_mib": MOST_MIB, "done": str(done)}, queue=QUEUE)


def test_a_worker_of_threads_that_grows_is_told_finishes_its_job_and_ends_to_be_started_anew(
    django_db_setup: None, tmp_path: Path
) -> None:
    log_path, done = tmp_path / "log", tmp_path / "done"
    with worker(log_path, "threads") as process:
        send("grow_task", done)
        wait_for(lambda: process.poll() is not None, log_path)
        log = log_path.read_text()
        assert done.read_text() == "finished", log
        assert process.returncode == 0
        assert log.index("memory: worker grows has") < log.index("worker grows ends between two jobs")


def test_a_child_of_a_forking_worker_that_grows_is_told_finishes_its_job_and_another_takes_its_place(
    django_db_setup: None, tmp_path: Path
) -> None:
    log_path, done = tmp_path / "log", tmp_path / "done"
    with worker(log_path, "prefork") as process:
        send("grow_child_task", done)
        wait_for(done.exists, log_path)
        again = tmp_path / "again"
        send("grow_child_task", again)
        wait_for(again.exists, log_path)
        assert process.poll() is None
        assert done.read_text() != again.read_text()
        assert "memory: a child of a worker has" in log_path.read_text()


def test_a_web_server_that_grows_is_told_answers_who_has_asked_and_ends_to_be_started_anew(tmp_path: Path) -> None:
    log_path, port = tmp_path / "log", free_port()
    argv = [*plan_web(port).argv]
    argv[argv.index("golem_project.asgi:application")] = "tests.growing_web:application"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "golem_project.settings.test",
        "GOLEM_WEB_MEMORY_MIB": str(MOST_MIB),
        "PYTHONWARNINGS": "ignore",
    }
    with log_path.open("wb") as log:
        process = subprocess.Popen(argv, env=environment, stdout=log, stderr=log)
    try:
        wait_for(lambda: listens_on(process.pid, port), log_path)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=120) as answer:
            assert (answer.status, answer.read()) == (200, b"answered")
        wait_for(lambda: process.poll() is not None, log_path)
    finally:
        process.kill()
        process.wait()
    log_text = log_path.read_text()
    assert log_text.index("memory: web has") < log_text.index("web ends between two jobs")
    assert process.returncode in {0, -signal.SIGTERM}


def test_readiness_tells_of_a_process_near_its_bound_and_serves_on(db: None) -> None:
    check = {check["name"]: check for check in Client().get("/readyz").json()["checks"]}["memory"]
    assert (check["ok"], check["detail"]) == (True, "every process has room")
    memory_limit._note(memory_limit.NearLimit("worker commit", 1_700, 2_048))
    check = {check["name"]: check for check in Client().get("/readyz").json()["checks"]}["memory"]
    assert (check["ok"], check["detail"]) == (True, "worker commit has 1700 of 2048 MiB")


@pytest.mark.parametrize(("percent", "is_told"), [(79, False), (80, True)])
def test_a_process_is_told_from_four_fifths_of_its_bound_on(
    percent: int, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = memory_limit.MemoryWatch(memory_limit.WEB)
    most = watch._most_bytes
    monkeypatch.setattr(memory_limit, "read_used_bytes", lambda: most * percent // 100 + memory_limit.MIB)
    assert watch._look() is False
    assert bool(memory_limit.list_told()) is is_told
    monkeypatch.setattr(memory_limit, "read_used_bytes", lambda: most + memory_limit.MIB)
    assert watch._look() is True
