"""The product's web server as its plan starts it, and callers who speak to its socket without a client's manners."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn
from django.db import connections

from golem_project.asgi import application, front_door
from golem_project.embedded.process import free_port
from golem_project.embedded.product_process_plans import plan_web
from tests.golem_project.pi.conftest import make_agent  # noqa: F401  (a fixture)


@dataclass(frozen=True)
class Answer:
    """What a server said before it hung up, or fell silent."""

    status: int
    headers: dict[str, str]
    body: bytes

    def problem(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/problem+json", self
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass
class Caller:
    """One connection."""

    line: socket.socket

    def say(self, data: bytes) -> bool:
        """Send; False where the server has hung up."""
        try:
            self.line.sendall(data)
        except OSError:
            return False
        return True

    def hear(self, *, seconds: float = 20.0) -> Answer:
        """The first answer, read to its end."""
        self.line.settimeout(seconds)
        found = b""
        while b"\r\n\r\n" not in found:
            found += self._take()
        head, _, body = found.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        while len(body) < int(headers.get("content-length", 0)):
            body += self._take()
        return Answer(int(first.split()[1]), headers, body)

    def is_hung_up_on(self, *, seconds: float) -> bool:
        """Whether the server ends the connection within so many seconds, whatever it says before."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.line.settimeout(left)
            try:
                if not self.line.recv(65_536):
                    return True
            except TimeoutError:
                return False
            except OSError:
                return True
        return False

    def _take(self) -> bytes:
        piece = self.line.recv(65_536)
        if not piece:
            raise ConnectionError("the server hung up")
        return piece


@dataclass(frozen=True)
class Served:
    port: int

    @contextmanager
    def call(self, *, from_address: str = "127.0.0.1") -> Iterator[Caller]:
        line = socket.create_connection(("127.0.0.1", self.port), timeout=20, source_address=(from_address, 0))
        try:
            yield Caller(line)
        finally:
            line.close()

    def ask(self, head: str, body: bytes = b"", *, from_address: str = "127.0.0.1") -> Answer:
        with self.call(from_address=from_address) as caller:
            caller.say(write_head(head) + body)
            return caller.hear()


def write_head(first: str, *lines: str, host: str = "127.0.0.1") -> bytes:
    return "\r\n".join([first, f"Host: {host}", *lines, "", ""]).encode()


@pytest.fixture
def served(transactional_db: None) -> Iterator[Served]:
    """The application under uvicorn, with the options of `plan_web` that say how HTTP is read."""
    port = free_port()
    argv = plan_web(port).argv
    http: Any = argv[argv.index("--http") + 1] if "--http" in argv else "auto"
    # Without a log of its own: in the product the settings of the application come after it.
    config = uvicorn.Config(application, host="127.0.0.1", port=port, lifespan="off", http=http, log_config=None)
    front_door.__dict__.pop("lanes", None)
    server = uvicorn.Server(config)
    config.timeout_graceful_shutdown = 1
    running = threading.Thread(target=server.run, daemon=True)
    running.start()
    while not server.started and running.is_alive():
        running.join(0.01)
    yield Served(port)
    server.should_exit = True
    running.join(30)
    front_door.__dict__.pop("lanes", None)
    connections.close_all()
