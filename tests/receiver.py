"""An HTTP server on loopback that plays whoever the product sends requests to, and may answer late."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest


class Receiver:
    """An http server that answers with the statuses it was told, and keeps what it got."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        self.extra: dict[str, str] = {}
        self.before_answer: Callable[[], object] | None = None
        self.at_once = self.most_at_once = 0
        self._counting = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                receiver.count(1)
                if receiver.before_answer is not None:
                    receiver.before_answer()
                receiver.count(-1)
                try:
                    self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
                    for name, value in receiver.extra.items():
                        self.send_header(name, value)
                    self.end_headers()
                except OSError:
                    """Whoever asked has hung up."""

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook?a=1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def count(self, change: int) -> None:
        """One request more, or less, that has no answer yet."""
        with self._counting:
            self.at_once += change
            self.most_at_once = max(self.most_at_once, self.at_once)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def make_receiver() -> Iterator[Callable[[], Receiver]]:
    """More of them."""
    made: list[Receiver] = []

    def make() -> Receiver:
        made.append(Receiver())
        return made[-1]

    yield make
    for each in made:
        each.server.shutdown()
        each.server.server_close()
