"""Tiny local servers that stand for nodes which are broken in one particular way."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.proof.serving import serving

Answer = Callable[[list[dict[str, Any]]], Any]


class Node(ThreadingHTTPServer):
    """An HTTP server that answers JSON-RPC bodies with whatever `answer` makes of them, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Node

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        requests = body if isinstance(body, list) else [body]
        self.server.asked += [request["method"] for request in requests]
        answer = self.server.answer(requests)
        headers: dict[str, str] = {}
        if isinstance(answer, tuple):
            answer, headers = answer
        if isinstance(answer, int):
            self.send_response(answer)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if not isinstance(answer, bytes):
            answer = json.dumps(
                answer if isinstance(body, list) or not isinstance(answer, list) else answer[0]
            ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: Any) -> None:
        return


@contextmanager
def serve(answer: Answer) -> Iterator[Node]:
    """A running node."""
    node = Node(answer)
    with serving(node):
        yield node


@contextmanager
def serve_silence() -> Iterator[str]:
    """The url of a server that accepts connections and never says a word."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=16)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()


@contextmanager
def serve_drip() -> Iterator[str]:
    """The url of a server whose answer comes a byte at a time and never ends."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=16)
    stopped = threading.Event()

    def drip() -> None:
        # Who asks may leave at any time, or not come at all.
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not stopped.wait(0.01):
                    connection.sendall(b" ")

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stopped.set()
        # A thread that waits for somebody to come does not notice a socket that is only closed.
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        listener.close()


def closed_port_url() -> str:
    """A url nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def answering(results: dict[str, Any], *, chain_id: int = 31337) -> Answer:
    """Answers by method; a dict with `error` is an error, a callable is given the parameters."""
    table = {"eth_chainId": hex(chain_id), **results}

    def answer(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        replies = []
        for request in requests:
            value = table[request["method"]]
            if callable(value):
                value = value(*request["params"])
            key = "error" if isinstance(value, dict) and "code" in value else "result"
            replies.append({"jsonrpc": "2.0", "id": request["id"], key: value})
        return replies

    return answer


def block_json(number: int, *, timestamp: int = 1_800_000_000) -> dict[str, Any]:
    """A block as nodes give it, cut to what is read."""
    return {
        "number": hex(number),
        "hash": "0x" + number.to_bytes(32, "big").hex(),
        "timestamp": hex(timestamp),
        "baseFeePerGas": "0x1",
    }
