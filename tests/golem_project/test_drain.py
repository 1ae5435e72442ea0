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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connections

from golem_project.a2a.models import Task, TaskState
from golem_project.a2a.tasks import follow_tasks_task
from golem_project.celery import app
from golem_project.embedded.process import free_port, listens_on
from golem_project.embedded.product_process_plans import plan_web, plan_worker
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from tests import factories
from tests.golem_project.pi.conftest import SWAP, Agent, MakeAgent
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.golem_project.stream.conftest import EventSource, emit, numbers_of
from tests.waiting_tasks import drop_waiting_tasks
from tools_app.core import broker, event_log
from tools_app.core.events import EventType

pytestmark = pytest.mark.timeout(600)
QUEUE = "drain-test"
SIMULATION = "simulation"


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


@pytest.mark.django_db(transaction=True)
def test_who_listens_and_who_asked_over_any_door_goes_on_at_another_server_where_they_were_left(
    tmp_path: Path, make_agent: MakeAgent
) -> None:
    agent, log_path = make_agent(), tmp_path / "log"
    variables, (task, permit) = of_this_database(), make_waiting(agent)
    token, here = agent.key.token, event_log.read_head().cursor()
    drop_waiting_tasks()
    with web(log_path, grace=6, module="golem_project.asgi", **variables) as (process, port):
        listener = EventSource(port, token=token, last_id=here)
        emit(agent.golem.pk, 1, 2, 3)
        heard = listener.take(3)
        with following(port, token, task) as told:
            assert next(told)["task"]["status"]["state"].endswith("INPUT_REQUIRED")
            # No worker is there: the call waits, longer than its server may.
            asking = Called(port, token)
            wait_for(lambda: count_waiting(SIMULATION) > 0, log_path, seconds=30)
            process.send_signal(signal.SIGTERM)
            (last,) = list(listener)
            assert (last.event, last.data["reason"]) == ("stream:resume", "server_stopping")
            assert last.data["last_event_id"] == heard[-1].id
            # Its end is one of the protocol: nothing was cut in its middle.
            assert list(told) == []
        # Both were told at once, while the call still waits for the grace to be over.
        assert asking.is_alive()
        asking.join(30)
        assert (asking.status, asking.body["code"], asking.retry_after) == (503, "SERVER_STOPPING", "2")
        assert process.wait(40) in {0, -signal.SIGTERM}
    # What happens while nobody serves is not missed.
    emit(agent.golem.pk, 4, 5)
    ActionPermit.objects.filter(pk=permit.pk).update(status=PermitStatus.CANCELLED)
    with web(log_path, grace=6, module="golem_project.asgi", **variables) as (_, port):
        again = EventSource(port, token=token, last_id=last.data["last_event_id"])
        emit(agent.golem.pk, 6)
        assert numbers_of([*heard, *again.take(3)]) == [1, 2, 3, 4, 5, 6]
        again.close()
        found = httpx.get(f"{a2a_url(port, task)}/tasks/{task.pk}", headers=a2a_headers(token)).json()
        assert found["status"]["state"].endswith("CANCELED")
    drop_waiting_tasks()


@pytest.mark.django_db(transaction=True)
def test_streams_of_a_server_that_was_killed_go_on_at_another_one_where_they_were_cut(
    tmp_path: Path, make_agent: MakeAgent
) -> None:
    agent, log_path = make_agent(), tmp_path / "log"
    variables, (task, permit) = of_this_database(), make_waiting(agent)
    token, here = agent.key.token, event_log.read_head().cursor()
    with web(log_path, grace=6, module="golem_project.asgi", **variables) as (process, port):
        listener = EventSource(port, token=token, last_id=here)
        emit(agent.golem.pk, 1, 2, 3)
        heard = listener.take(3)
        with following(port, token, task) as told:
            assert next(told)["task"]["status"]["state"].endswith("INPUT_REQUIRED")
            process.kill()
            with pytest.raises(httpx.TransportError):
                list(told)
        with suppress(OSError, http.client.HTTPException):
            assert list(listener) == []
    emit(agent.golem.pk, 4, 5)
    with web(log_path, grace=6, module="golem_project.asgi", **variables) as (_, port):
        again = EventSource(port, token=token, last_id=listener.last_id)
        with following(port, token, task) as told:
            assert next(told)["task"]["status"]["state"].endswith("INPUT_REQUIRED")
            ActionPermit.objects.filter(pk=permit.pk).update(status=PermitStatus.CANCELLED)
            follow_tasks_task.run()
            assert "CANCELED" in json.dumps(list(told)[-1])
        emit(agent.golem.pk, 6)
        # What became of the task is an event as well.
        numbers = numbers_of(heard)
        while numbers[-1] != 6:
            numbers += numbers_of([each for each in again.take(1) if each.event == EventType.TOOL_END])
        assert numbers == [1, 2, 3, 4, 5, 6]
        again.close()


def of_this_database() -> dict[str, str]:
    """What a server of this test is told."""
    name = connections["default"].settings_dict["NAME"]
    return {"DATABASE_URL": f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}", "GOLEM_MCP": "1"}


def make_waiting(agent: Agent) -> tuple[Task, ActionPermit]:
    """A task of another agent whose permit waits for owners."""
    permit = factories.make_permit(golem=agent.golem, status=PermitStatus.AWAITING_APPROVAL, api_key=agent.key.key)
    task = factories.make_a2a_task(golem=agent.golem, api_key=agent.key.key, state=TaskState.INPUT_REQUIRED)
    Task.objects.filter(pk=task.pk).update(permit=permit)
    return task, permit


class Called(threading.Thread):
    """A preview over the Model Context Protocol."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__(daemon=True)
        self._url, self._token = f"http://127.0.0.1:{port}/mcp", token
        self.status, self.retry_after = 0, ""
        self.body: dict[str, Any] = {}
        self.start()

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json, text/event-stream"}
        params = {"name": "preview_action", "arguments": SWAP, "_meta": {"golem/idempotency-key": "once"}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = httpx.post(self._url, json=asked, headers=headers, timeout=60)
        self.status, self.retry_after, self.body = answer.status_code, answer.headers["retry-after"], answer.json()


def a2a_url(port: int, task: Task) -> str:
    return f"http://127.0.0.1:{port}/a2a/{task.golem_id}/rest"


def a2a_headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "A2A-Version": "1.0"}


@contextmanager
def following(port: int, token: str, task: Task) -> Iterator[Iterator[dict[str, Any]]]:
    """The messages of a stream of one task."""
    url = f"{a2a_url(port, task)}/tasks/{task.pk}:subscribe"
    with httpx.stream("POST", url, headers=a2a_headers(token), timeout=60) as answer:
        assert answer.status_code == 200, answer.read()
        yield (json.loads(line.removeprefix("data: ")) for line in answer.iter_lines() if line.startswith("data: "))


def count_waiting(queue: str) -> int:
    return int(broker.connect().llen(queue))


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
