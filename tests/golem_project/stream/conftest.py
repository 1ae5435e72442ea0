"""The real ASGI application behind uvicorn, and a client of server-sent events made of the standard library."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
import uvicorn

from golem_project.asgi import application, event_stream
from golem_project.embedded.process import free_port
from tests.golem_project.pi.conftest import make_agent as make_agent
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType

PATH = "/api/v1/events"


@dataclass(frozen=True)
class Received:
    """One server-sent event as a browser would see it."""

    id: str
    event: str
    data: dict[str, Any]


class EventSource:
    """Reads one stream. `last_id` moves as a browser's would."""

    def __init__(self, port: int, *, token: str = "", query: str = "", last_id: str = "", **headers: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        sent = {"Accept": "text/event-stream", **headers}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if last_id:
            sent["Last-Event-ID"] = last_id
        self.last_id = last_id
        self.comments = 0
        self.connection.request("GET", f"{PATH}{query}", headers=sent)
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def problem(self) -> dict[str, Any]:
        """The refusal instead of a stream."""
        answer: dict[str, Any] = json.loads(self.response.read())
        return answer

    def __iter__(self) -> Iterator[Received]:
        fields: dict[str, str] = {}
        while line := self.response.readline():
            text = line.decode().rstrip("\n")
            if not text:
                self.last_id = fields.get("id", self.last_id)
                if "data" in fields:
                    yield Received(fields.get("id", ""), fields.get("event", ""), json.loads(fields["data"]))
                fields = {}
            elif text.startswith(":"):
                self.comments += 1
            else:
                name, _, value = text.partition(": ")
                fields[name] = value

    def take(self, count: int) -> list[Received]:
        """The next `count` events."""
        found: list[Received] = []
        for event in self:
            found.append(event)
            if len(found) == count:
                break
        return found

    def wait_until_live(self) -> None:
        """Until the stream has begun; `retry` is the first thing it says."""
        assert self.response.readline().startswith(b"retry: ")
        assert self.response.readline() == b"\n"

    def wait_until_followed(self) -> None:
        """Until it has caught up, and what comes goes through its queue: only then it is told that nothing comes."""
        self.wait_until_live()
        while self.response.readline() != b": heartbeat\n":
            pass
        assert self.response.readline() == b"\n"

    def close(self) -> None:
        """Hang up without a word, as a lost connection does."""
        self.response.close()
        self.connection.close()


@pytest.fixture(scope="module")
def web_port() -> Iterator[int]:
    """A running uvicorn."""
    port = free_port()
    config = uvicorn.Config(
        application,
        host="127.0.0.1",
        port=port,
        log_level="warning",
        log_config=None,
        lifespan="off",
        timeout_graceful_shutdown=1,
        ws="none",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    yield port
    server.should_exit = True
    thread.join(30)


@pytest.fixture(autouse=True)
def no_stream_is_left() -> Iterator[None]:
    """A server that still reads for a client of the last test would meet the next one's database."""
    yield
    deadline = clock.Deadline.after_ms(30_000)
    while event_stream.open_streams and not deadline.is_over:
        threading.Event().wait(0.01)
    assert event_stream.open_streams == 0


def emit(golem_id: UUID, *numbers: int) -> None:
    """Emit one event per number, which comes back as its `duration_ms`."""
    events = [
        Event(EventType.TOOL_END, {"tool_name": "t", "success": True, "duration_ms": number}) for number in numbers
    ]
    event_bus.emit_all(golem_id=golem_id, events=events, now=clock.now())


def numbers_of(received: list[Received]) -> list[int]:
    """What `emit` was given."""
    return [event.data["payload"]["duration_ms"] for event in received]
