"""A host that answers 402 to whoever asks, as this server itself asks it whom it is paid at."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.tools_app.protocols.x402.payee import Payee


@dataclass
class Host:
    """Where it stands, whom it says that it is paid at, and what was asked of it."""

    origin: str
    payee: Payee
    asked: list[tuple[str, str, bytes]] = field(default_factory=list)
    status: int = 402
    header: str | None = None

    def ask(self, path: str = "/paris", **changes: Any) -> str:
        """The header of its 402 answer."""
        return self.payee.ask(self.payee.item(**changes), url=self.origin + path)


@contextmanager
def open_host(payee: Payee) -> Iterator[Host]:
    """The host, until the end."""
    host = Host("", payee)

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            host.asked.append((self.command, self.path, self.rfile.read(length)))
            self.send_response(host.status)
            self.send_header("PAYMENT-REQUIRED", host.ask(self.path) if host.header is None else host.header)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host.origin = f"http://127.0.0.1:{server.server_port}"
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
