"""The event fabric under load: how long an event takes to a hundred clients, and how many go through in a second."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from django.db import transaction

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.models import Golem
from archetypes_app.models.api_key import Scope
from golem_project.bench.figures import Figure, measure, percentile
from golem_project.demo.seed import seed_demo
from golem_project.embedded.children import answers_ok
from golem_project.embedded.process import free_port
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.models import OutboxEvent

CLIENTS = 100
_PER_KEY = 10
_EVENTS = 300
_PACE_SECONDS = 0.01
_PER_TRANSACTION = 20
_TRANSACTIONS = 500
_FOLLOWERS = 5
_START_SECONDS = 60.0
_NUMBER = re.compile(rb'"duration_ms":(\d+)')


@dataclass
class Audience:
    """Clients of one server, each noting when which event came."""

    port: int
    tokens: list[str]
    heard: list[dict[int, float]] = field(default_factory=list)
    ready: int = 0
    is_over: threading.Event = field(default_factory=threading.Event)

    async def listen(self, index: int) -> None:
        """Follow the stream as one client until cancelled."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)
        token = self.tokens[index % len(self.tokens)]
        writer.write(
            b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
            b"Authorization: Bearer " + token.encode() + b"\r\n\r\n"
        )
        heard = self.heard[index]
        try:
            while line := await reader.readline():
                if line.startswith(b"data: "):
                    found = _NUMBER.search(line)
                    if found is not None:
                        heard[int(found[1])] = clock.monotonic_ms()
                elif line.startswith(b"retry: "):
                    self.ready += 1
        finally:
            writer.close()

    async def listen_all(self, count: int) -> None:
        """All of them at once."""
        self.heard = [{} for _ in range(count)]
        self.ready = 0
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*(self.listen(index) for index in range(count)))
        self.is_over.set()


@measure("fabric")
def measure_fabric() -> Iterator[Figure]:
    """On a web server of its own, with the database and the broker of this run."""
    golem = seed_demo(now=clock.now(), with_token=False).golem
    keys = [
        create_api_key(golem=golem, scopes=[Scope.EVENTS], label="bench", created_by=golem.owner, now=clock.now())
        for _ in range(CLIENTS // _PER_KEY)
    ]
    tokens = [key.token for key in keys]
    yield from _measure_emit()
    with _serve() as port:
        yield from _measure_latency(Audience(port, tokens), golem)
        yield from _measure_rate(Audience(port, tokens), golem)


def _measure_emit() -> Iterator[Figure]:
    golem_id, started = uuid4(), clock.monotonic_ms()
    for number in range(_TRANSACTIONS):
        _emit(golem_id, number * _PER_TRANSACTION, _PER_TRANSACTION)
    rate = _TRANSACTIONS * _PER_TRANSACTION / (clock.monotonic_ms() - started) * 1000
    placed = OutboxEvent.objects.filter(golem_id=golem_id, position__isnull=False).count()
    if placed != _TRANSACTIONS * _PER_TRANSACTION:
        raise AssertionError(f"{placed} events were placed")
    yield Figure(
        "fabric.emit", f"events a second written, committed and published by one process, {_PER_TRANSACTION} a time",
        round(rate), "/s", at_least=True, target=2_000,
    )  # fmt: skip


def _measure_latency(audience: Audience, golem: Golem) -> Iterator[Figure]:
    with _attend(audience, CLIENTS):
        sent: dict[int, float] = {}
        pace = threading.Event()
        for number in range(_EVENTS):
            sent[number] = clock.monotonic_ms()
            _emit(golem.pk, number, 1)
            pace.wait(_PACE_SECONDS)
        _wait_for(audience, _EVENTS)
    times = [heard[number] - sent[number] for heard in audience.heard for number in sent]
    yield Figure(
        "fabric.sse.p95", f"from before the commit to each of {CLIENTS} clients, {_EVENTS} events, 95th percentile",
        percentile(times, 95), "ms", target=200, reference=f"median {percentile(times, 50):g} ms",
    )  # fmt: skip


def _measure_rate(audience: Audience, golem: Golem) -> Iterator[Figure]:
    total = _TRANSACTIONS * _PER_TRANSACTION
    with _attend(audience, _FOLLOWERS):
        started = clock.monotonic_ms()
        for number in range(_TRANSACTIONS):
            _emit(golem.pk, number * _PER_TRANSACTION, _PER_TRANSACTION)
        _wait_for(audience, total)
        last = max(max(heard.values()) for heard in audience.heard)
    yield Figure(
        "fabric.throughput",
        f"events a second from emit to each of {_FOLLOWERS} clients, {total} events in transactions of "
        f"{_PER_TRANSACTION}, none lost",
        round(total / (last - started) * 1000), "/s", at_least=True, target=2_000,
    )  # fmt: skip


def _emit(golem_id: UUID, first: int, count: int) -> None:
    events = [
        Event(EventType.TOOL_END, {"tool_name": "bench", "success": True, "duration_ms": number})
        for number in range(first, first + count)
    ]
    with transaction.atomic():
        event_bus.emit_all(golem_id=golem_id, events=events, now=clock.now())


@contextlib.contextmanager
def _attend(audience: Audience, count: int) -> Iterator[None]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = asyncio.run_coroutine_threadsafe(audience.listen_all(count), loop)
    try:
        _wait(lambda: audience.ready >= count, "the clients did not connect")
        # `retry` is said before the client joins the hub; joining takes one read of the log.
        threading.Event().wait(0.5)
        yield
    finally:
        listening.cancel()
        audience.is_over.wait(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)


def _wait_for(audience: Audience, count: int) -> None:
    _wait(lambda: all(len(heard) >= count for heard in audience.heard), f"not every client heard {count} events")


def _wait(is_done: Callable[[], bool], complaint: str) -> None:
    deadline, pause = clock.Deadline.after_ms(_START_SECONDS * 1000), threading.Event()
    while not is_done():
        if deadline.is_over:
            raise RuntimeError(complaint)
        pause.wait(0.02)


@contextlib.contextmanager
def _serve() -> Iterator[int]:
    port = free_port()
    argv = [sys.executable, "-m", "uvicorn", "golem_project.asgi:application", "--port", str(port)]
    argv += ["--no-access-log", "--log-level", "warning", "--timeout-graceful-shutdown", "1"]
    with subprocess.Popen(argv, env=os.environ.copy()) as server:  # noqa: S603
        try:
            _wait(lambda: answers_ok(f"http://127.0.0.1:{port}/healthz"), "the web server did not start")
            yield port
        finally:
            server.terminate()
