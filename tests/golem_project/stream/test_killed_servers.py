"""Servers that are killed while events flow, under the real supervisor: none lost, none twice, everybody comes back.

The broker, one backend of the database, the database, the web server, the writer, the worker and beat are ended by
SIGKILL in turn. A subscriber that only resumes, and a webhook, must still get what was committed.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from golem_project.embedded.paths import Paths
from golem_project.embedded.postgres_binaries import reachable_binaries
from golem_project.embedded.process import identify
from golem_project.embedded.process_output import Output
from golem_project.embedded.product_process_plans import ChildPlan, plan_beat, plan_web, plan_worker
from golem_project.embedded.stack import Stack, Stopped
from golem_project.embedded.throwaway import make_throwaway_paths
from golem_project.stream import webhooks
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.stream.conftest import EventSource, Received
from tests.receiver import Receiver
from tests.receiver import receiver as receiver
from tools_app.core import clock, event_log

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(400)]

_PATIENCE_MS = 90_000
_MORE = 30
WRITER = """
import os, sys, threading, uuid
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")
import django
django.setup()
from django.db import Error, close_old_connections, connection, transaction
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType
golem, pause, number = uuid.UUID(sys.argv[1]), threading.Event(), 0
print("writer ready.", flush=True)
while True:
    number += 1
    events = [Event(EventType.TOOL_END, {"tool_name": "t", "success": True, "duration_ms": number})] * (number % 4 + 1)
    try:
        close_old_connections()
        if not os.path.exists(sys.argv[2]):
            with transaction.atomic():
                event_bus.emit_all(golem_id=golem, events=events, now=clock.now())
    except Error:
        connection.close()
    pause.wait(0.1)
"""


class Follower:
    """A subscriber that comes back with the last id it was given, whatever happened to its connection."""

    def __init__(self, *, token: str, last_id: str) -> None:
        self.received: list[Received] = []
        self.connections = 0
        self.is_done = threading.Event()
        self._token = token
        self._last_id = last_id

    def follow(self, port: int) -> None:
        while not self.is_done.is_set():
            try:
                self._read(EventSource(port, token=self._token, last_id=self._last_id))
            except (OSError, http.client.HTTPException, ValueError):
                pass
            self.is_done.wait(0.1)

    def _read(self, source: EventSource) -> None:
        if source.status == 200:
            self.connections += 1
            for event in source:
                # One that tells of a cut is no event of the log.
                if event.event != "stream:resume":
                    self.received.append(event)
                    self._last_id = event.id
                if self.is_done.is_set():
                    break
        source.close()


class Killing:
    """The scenario, in a thread beside the supervisor's loop."""

    def __init__(self, stack: Stack, follower: Follower) -> None:
        self.stack, self.follower = stack, follower
        self.told: list[str] = []
        self.problem: BaseException | None = None

    def wait(self, what: str, is_so: Callable[[], bool]) -> None:
        deadline, pause = clock.Deadline.after_ms(_PATIENCE_MS), threading.Event()
        while not is_so():
            assert not deadline.is_over, f"{what}; so far: {self.told}"
            pause.wait(0.05)
        self.told.append(what)

    def hear_more(self, after: str) -> None:
        heard = len(self.follower.received)
        self.wait(f"events go on after {after}", lambda: len(self.follower.received) >= heard + _MORE)

    def kill_server(self, name: str) -> None:
        server = {"postgres": self.stack.servers.postgres, "valkey": self.stack.servers.valkey}[name]
        assert server is not None
        assert server.child is not None
        identity = server.child.identity
        os.kill(identity.pid, signal.SIGKILL)
        self.wait(f"{name} is back", lambda: not identity.is_alive() and server.is_alive() and server.is_ready())
        self.hear_more(f"{name} was killed")

    def kill_backend(self) -> None:
        postgres = self.stack.servers.postgres
        assert postgres is not None
        with psycopg.connect(postgres.url, autocommit=True) as asking:
            mine = asking.info.backend_pid
            rows = asking.execute(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> %s", [mine]
            ).fetchall()
        victim = identify(rows[0][0])
        assert victim is not None
        os.kill(victim.pid, signal.SIGKILL)
        self.wait("the backend is gone", lambda: not victim.is_alive() and postgres.is_ready())
        self.hear_more("a backend was killed")

    def kill_child(self, name: str) -> None:
        identity = self.stack.children[name].identity
        os.kill(identity.pid, signal.SIGKILL)
        self.wait(f"{name} is back", lambda: self.stack.children[name].identity != identity)

    def run(self, quiet_file: Path, receiver: Receiver) -> None:
        try:
            self.hear_more("the start")
            self.kill_server("valkey")
            for name in ("writer", "stream", "beat"):
                self.kill_child(name)
            self.hear_more("the writer was killed")
            self.kill_backend()
            self.kill_server("postgres")
            self.kill_child("web")
            self.hear_more("the web server was killed")
            self.kill_server("valkey")
            quiet_file.touch()
            postgres = self.stack.servers.postgres
            assert postgres is not None
            committed: list[int] = []

            def is_everything_heard() -> bool:
                # Twice the same count: the last transaction has ended too.
                committed.append(count_events(postgres.url))
                return committed[-2:] == [len(self.follower.received)] * 2

            self.wait("everything is heard", is_everything_heard)
            self.wait("everything is delivered", lambda: len(delivered(receiver)) >= committed[-1])
        except BaseException as problem:
            self.problem = problem
        self.stack.ask_to_stop(signal.SIGTERM, None)


def count_events(url: str) -> int:
    with psycopg.connect(url) as asking:
        row = asking.execute("SELECT count(*) FROM tools_app_outboxevent").fetchone()
    assert row is not None
    return int(row[0])


def delivered(receiver: Receiver) -> set[str]:
    return {json.loads(body)["data"]["event_id"] for _, body in list(receiver.got)}


@pytest.fixture
def paths() -> Iterator[Paths]:
    made = make_throwaway_paths()
    yield made
    shutil.rmtree(made.var_dir, ignore_errors=True)


def make_plans(golem_id: UUID, quiet_file: Path) -> Callable[[int], tuple[ChildPlan, ...]]:
    writer = (sys.executable, "-c", WRITER, str(golem_id), str(quiet_file))
    return lambda port: (
        # No chain runs here, so the server never calls itself ready.
        replace(plan_web(port), ready_url=f"http://127.0.0.1:{port}/healthz"),
        plan_worker("stream", "stream,webhooks,heartbeat", pool="threads", concurrency=4),
        plan_beat(),
        ChildPlan("writer", writer, ready_line=r"writer ready\.$"),
    )


def dump_database(paths: Paths) -> Path:
    """The rows of this test and all tables, as a file that another server can read."""
    dumped = paths.var_dir / "golem.dump"
    settings: dict[str, Any] = connection.settings_dict
    environment = {**os.environ, "PGPASSWORD": settings["PASSWORD"]}
    argv = [str(reachable_binaries(paths, None) / "pg_dump"), "-Fc", "-f", str(dumped), "-d", settings["NAME"]]
    argv += ["-h", settings["HOST"], "-p", str(settings["PORT"]), "-U", settings["USER"]]
    subprocess.run(argv, env=environment, check=True, capture_output=True, timeout=60)
    return dumped


def test_killed_servers_lose_no_event_and_repeat_none(
    paths: Paths, make_agent: MakeAgent, receiver: Receiver, tmp_path: Path
) -> None:
    agent, quiet_file = make_agent(), tmp_path / "quiet"
    webhooks.create_endpoint(
        owner=agent.golem.owner, golem=None, label="hook", url=receiver.url, types=(), now=clock.now()
    )
    follower = Follower(token=agent.key.token, last_id=event_log.read_head().cursor())
    restore = f'{reachable_binaries(paths, None)}/pg_restore --no-owner -d "$DATABASE_URL" {dump_database(paths)}'
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment = {
        **kept,
        "GOLEM_RPC_URL_31337": "http://127.0.0.1:1",
        "GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES": "1",
        "DJANGO_SETTINGS_MODULE": "golem_project.settings.local",
        "GOLEM_DATABASE_POOL_TIMEOUT_SECONDS": "2",
    }
    # Throw-away databases commit without waiting for the disk; a killed one would forget what it said it kept.
    stack = Stack(
        paths,
        throwaway=False,
        output=Output(paths.log_dir, stream=sys.stderr),
        environment=environment,
        preparation=("sh", "-c", restore),
        plan_children=make_plans(agent.golem.pk, quiet_file),
    )
    killing = Killing(stack, follower)
    try:
        stack.start()
        port = int(stack.web_url.rpartition(":")[2])
        threads = [
            threading.Thread(target=follower.follow, args=(port,), daemon=True),
            threading.Thread(target=killing.run, args=(quiet_file, receiver), daemon=True),
        ]
        for thread in threads:
            thread.start()
        with pytest.raises(Stopped):
            stack.serve()
        assert killing.problem is None, killing.problem
        assert stack.servers.postgres is not None
        with psycopg.connect(stack.servers.postgres.url) as asking:
            rows = asking.execute(
                "SELECT id, sequence, position FROM tools_app_outboxevent ORDER BY position"
            ).fetchall()
    finally:
        follower.is_done.set()
        stack.stop()
        stack.output.close()
    assert [sequence for _, sequence, _ in rows] == list(range(1, len(rows) + 1))
    assert [position for _, _, position in rows] == list(range(1, len(rows) + 1))
    assert [event.data["event_id"] for event in follower.received] == [str(event_id) for event_id, _, _ in rows]
    assert delivered(receiver) == {str(event_id) for event_id, _, _ in rows}
    assert follower.connections >= 2
