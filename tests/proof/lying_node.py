"""A node that lies: a server on loopback in front of a real one, which hands on what it is told to hand on.

A lie sees the requests of one POST and a way to ask the real node. It gives back answers, in whatever state; a number
is an HTTP status without a body, bytes are a body as they are, None closes the connection without a word.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.proof.serving import serving

Request = dict[str, Any]
Answers = list[dict[str, Any]]
Ask = Callable[[list[Request]], Answers]
Lie = Callable[[list[Request], Ask], Any]

_TIMEOUT_SECONDS = 30


class LyingNode(ThreadingHTTPServer):
    """Tells the truth until `lie` is set, and again once it is None. `asked`: the methods that met a lie."""

    daemon_threads = True
    # All workers of a product connect at once; who finds the line full tries again a second later.
    request_queue_size = 128

    def __init__(self, real_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lie: Lie | None = None
        self.lies_told = 0
        self.asked: set[str] = set()
        self._real = urlsplit(real_url)
        self._local = threading.local()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @contextmanager
    def lying(self, lie: Lie) -> Iterator[None]:
        """Lies until this ends."""
        self.lie, self.asked = lie, set()
        try:
            yield
        finally:
            self.lie = None

    def ask_real(self, requests: list[Request]) -> Answers:
        """What the real node says, in the order asked."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection(
                str(self._real.hostname), self._real.port or 80, timeout=_TIMEOUT_SECONDS
            )
            self._local.connection = connection
        try:
            connection.request("POST", "/", json.dumps(requests), {"Content-Type": "application/json"})
            answers: Answers = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException):
            connection.close()
            self._local.connection = None
            raise
        by_id = {answer["id"]: answer for answer in answers}
        return [by_id[request["id"]] for request in requests]

    def answer(self, requests: list[Request]) -> Any:
        """What this node says."""
        lie = self.lie
        if lie is None:
            return self.ask_real(requests)
        self.asked.update(request["method"] for request in requests)
        told = lie(requests, self.ask_real)
        self.lies_told += 1
        return told


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: LyingNode

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = self.server.answer(body if isinstance(body, list) else [body])
        if told is None:
            self.close_connection = True
            return
        raw, status = b"", 200
        if isinstance(told, int):
            status = told
        elif isinstance(told, bytes):
            raw = told
        else:
            raw = json.dumps(told if isinstance(body, list) else (told or [{}])[0]).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@contextmanager
def serve_lying_node(real_url: str) -> Iterator[LyingNode]:
    """A running one; it tells the truth at first."""
    node = LyingNode(real_url)
    with serving(node):
        yield node


def change_answers(method: str, change: Callable[[Request, Any], Any], *, times: int | None = None) -> Lie:
    """A lie about one method: `change` makes of the real result what is told. `times` bounds how often."""
    left = [times]
    lock = threading.Lock()

    def lie(requests: list[Request], ask: Ask) -> Any:
        answers = ask(requests)
        for request, answer in zip(requests, answers, strict=True):
            if request["method"] != method or "result" not in answer:
                continue
            with lock:
                if left[0] is not None:
                    if left[0] <= 0:
                        continue
                    left[0] -= 1
            answer["result"] = change(request, answer["result"])
        return answers

    return lie
