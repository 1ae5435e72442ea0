"""The event fabric under load: how long an event takes to a hundred clients, and how many go through in a second."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.models import Golem
from archetypes_app.models.api_key import Scope
from golem_project.demo.seed import seed_demo
from golem_project.embedded.process import free_port
from golem_project.embedded.product_process_plans import answers_ok
from tests.bench.figures import Figure, measure, percentile
from tests.bench.profiles import profile_calls
from tools_app.core import clock, event_bus, event_log, event_publisher
from tools_app.core.events import Event, EventType
from tools_app.core.models import OutboxEvent

CLIENTS = 100
_AUDIENCE = Path(__file__).with_name("audience.py")
_PER_KEY = 10
_EVENTS = 300
_PACE_SECONDS = 0.01
MANY_CLIENTS = 500
_EVENTS_OF_MANY = 100
MOST_MS_OF_MANY = 25
_PACE_OF_MANY_SECONDS = 0.1
_PER_TRANSACTION = 20
_TRANSACTIONS = 500
_FOLLOWERS = 5
_START_SECONDS = 60.0


@measure("fabric")
def measure_fabric() -> Iterator[Figure]:
    """On a web server of its own, with the database and the broker of this run."""
    golem = seed_demo(now=clock.now(), with_token=False).golem
    keys = [
        create_api_key(golem=golem, scopes=[Scope.EVENTS], label="bench", created_by=golem.owner, now=clock.now())
        for _ in range(MANY_CLIENTS // _PER_KEY)
    ]
    tokens = [key.token for key in keys]
    yield from _measure_emit()
    with _serve() as port:
        yield from _measure_latency(port, tokens, golem)
        yield from _measure_rate(port, tokens, golem)


def _measure_emit() -> Iterator[Figure]:
    golem_id, started = uuid4(), clock.monotonic_ms()
    for number in range(_TRANSACTIONS):
        _emit(golem_id, number * _PER_TRANSACTION, _PER_TRANSACTION)
    is_published = event_publisher.PUBLISHER.wait(seconds=_START_SECONDS)
    rate = _TRANSACTIONS * _PER_TRANSACTION / (clock.monotonic_ms() - started) * 1000
    placed = OutboxEvent.objects.filter(golem_id=golem_id, position__isnull=False).count()
    if not is_published or placed != _TRANSACTIONS * _PER_TRANSACTION:
        raise AssertionError(f"{placed} events were placed")
    yield Figure(
        "fabric.emit",
        f"events a second written, committed and published by one process, {_PER_TRANSACTION} a time",
        round(rate),
        "/s",
        at_least=True,
        target=2_000,
    )


def _measure_latency(port: int, tokens: list[str], golem: Golem) -> Iterator[Figure]:
    times = _hear(port, tokens, golem, clients=CLIENTS, events=_EVENTS, pace_seconds=_PACE_SECONDS)
    yield Figure(
        "fabric.sse.p95",
        f"from before the commit to each of {CLIENTS} clients, {_EVENTS} events, 95th percentile",
        percentile(times, 95),
        "ms",
        target=200,
        reference=f"median {percentile(times, 50):g} ms",
    )
    times = _hear(port, tokens, golem, clients=MANY_CLIENTS, events=_EVENTS_OF_MANY, pace_seconds=_PACE_OF_MANY_SECONDS)
    p95 = percentile(times, 95)
    yield Figure(
        "fabric.sse.many.p95",
        f"from before the commit to each of {MANY_CLIENTS} clients, {_EVENTS_OF_MANY} events, 95th percentile",
        p95,
        "ms",
        target=MOST_MS_OF_MANY,
        reference=f"median {percentile(times, 50):g} ms; {MANY_CLIENTS / _PACE_OF_MANY_SECONDS:g} messages a second",
        profile=_profile_emit(golem) if p95 > MOST_MS_OF_MANY else (),
    )


def _hear(port: int, tokens: list[str], golem: Golem, *, clients: int, events: int, pace_seconds: float) -> list[float]:
    """Milliseconds from before the commit of each event to each client."""
    with _attend(port, tokens, clients=clients, events=events) as audience:
        sent: dict[int, float] = {}
        pace = threading.Event()
        for number in range(events):
            sent[number] = clock.monotonic_ms()
            _emit(golem.pk, number, 1)
            pace.wait(pace_seconds)
        heard = audience.hear()
    return [at - sent[number] for one in heard for number, at in one]


def _profile_emit(golem: Golem) -> tuple[str, ...]:
    """What is before the web server; the rest is its loop, which writes to one client after another."""
    numbers = iter(range(10**9, 2 * 10**9))
    return profile_calls(lambda: _emit(golem.pk, next(numbers), 1), count=100)


def _measure_rate(port: int, tokens: list[str], golem: Golem) -> Iterator[Figure]:
    total = _TRANSACTIONS * _PER_TRANSACTION
    with _attend(port, tokens, clients=_FOLLOWERS, events=total) as audience:
        started = clock.monotonic_ms()
        for number in range(_TRANSACTIONS):
            _emit(golem.pk, number * _PER_TRANSACTION, _PER_TRANSACTION)
        heard = audience.hear()
    last = max(at for one in heard for _, at in one)
    yield Figure(
        "fabric.throughput",
        f"events a second from emit to each of {_FOLLOWERS} clients, {total} events in transactions of "
        f"{_PER_TRANSACTION}, none lost",
        round(total / (last - started) * 1000),
        "/s",
        at_least=True,
        target=2_000,
        reference=f"{audience.connections - _FOLLOWERS} times a client was cut off and came back",
    )


def _emit(golem_id: UUID, first: int, count: int) -> None:
    events = [
        Event(EventType.TOOL_END, {"tool_name": "bench", "success": True, "duration_ms": number})
        for number in range(first, first + count)
    ]
    with transaction.atomic():
        event_bus.emit_all(golem_id=golem_id, events=events, now=clock.now())


@dataclass
class Audience:
    """Clients in another process."""

    process: subprocess.Popen[str]
    connections: int = 0

    def hear(self) -> list[list[tuple[int, float]]]:
        """For each client, when it heard which event; waits until each heard all."""
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        if answer["repeated"]:
            raise AssertionError(f"{answer['repeated']} events came twice")
        self.connections = answer["connections"]
        return [[(number, at) for number, at in one] for one in answer["heard"]]


@contextlib.contextmanager
def _attend(port: int, tokens: list[str], *, clients: int, events: int) -> Iterator[Audience]:
    question = {
        "port": port,
        "tokens": tokens,
        "clients": clients,
        "events": events,
        "cursor": event_log.read_head().cursor(),
    }
    argv = [sys.executable, str(_AUDIENCE)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        ending = threading.Timer(_START_SECONDS * 2, process.kill)
        ending.start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            if process.stdout.readline() != "ready\n":
                raise RuntimeError("the clients did not connect")
            # `retry` is said before the client joins the hub; joining takes one read of the log.
            threading.Event().wait(0.5)
            yield Audience(process)
        finally:
            ending.cancel()
            process.kill()


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
    # All of them are one owner's, as no real owner's are.
    environment = {**os.environ, "GOLEM_STREAM_MOST_CLIENTS_PER_OWNER": str(2 * MANY_CLIENTS)}
    with subprocess.Popen(argv, env=environment) as server:
        try:
            _wait(lambda: answers_ok(f"http://127.0.0.1:{port}/healthz"), "the web server did not start")
            yield port
        finally:
            server.terminate()
