"""An HTTP server on loopback that answers in another service's place."""

from __future__ import annotations

import http.server
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.proof.serving import serving

Answer = Callable[[str, str, dict[str, str], bytes], tuple[int, Any] | tuple[int, Any, dict[str, str]]]
"""Method, path, headers with names in lower case, and body; gives the status and a document, bytes as they are, and
headers besides where there are any.

None instead of a document closes the connection without a word.
"""


@contextmanager
def serve_stand_in(answer: Answer) -> Iterator[str]:
    """Its URL, on a free port of this machine; each request on a thread of its own."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("GET", b"")

        def do_POST(self) -> None:
            self._answer("POST", self.rfile.read(int(self.headers["Content-Length"])))

        def _answer(self, method: str, body: bytes) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, document, *besides = answer(method, self.path, headers, body)
            if document is None:
                self.close_connection = True
                return
            raw = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            for name, value in besides[0].items() if besides else ():
                self.send_header(name, value)
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(raw)

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}"
