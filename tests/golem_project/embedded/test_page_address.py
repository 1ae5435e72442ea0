"""People are told a name, since browsers keep passkeys for one; and never a name that leads to somebody else."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from golem_project.embedded.page_address import find_page_url


class Handler(http.server.BaseHTTPRequestHandler):
    """Ready, at the names it answers to."""

    names = ("localhost", "127.0.0.1")

    def do_GET(self) -> None:
        host = self.headers["Host"].partition(":")[0]
        self.send_response(200 if host in self.names else 400)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing of this belongs on the screen."""


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Of a server at 127.0.0.1; the name leads there, whatever this machine's own table says."""
    resolve(monkeypatch, "127.0.0.1")
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield web.server_port
        web.shutdown()


def resolve(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """What `localhost` is called from now on."""
    real = socket.getaddrinfo

    def answer(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if host != "localhost":
            return real(host, port, *args, **kwargs)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


def test_a_person_is_told_the_name_that_a_passkey_is_kept_for(port: int) -> None:
    assert find_page_url(f"http://127.0.0.1:{port}") == f"http://localhost:{port}"


@pytest.mark.parametrize("addresses", [(), ("192.0.2.7",), ("127.0.0.1", "192.0.2.7"), ("127.0.0.2",)])
def test_a_name_that_leads_elsewhere_is_not_told(
    port: int, monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    resolve(monkeypatch, *addresses)
    assert find_page_url(f"http://127.0.0.1:{port}") == f"http://127.0.0.1:{port}"


def test_a_name_under_which_a_stranger_would_be_met_first_is_not_told(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, "127.0.0.9", "127.0.0.1")
    assert find_page_url(f"http://127.0.0.1:{port}") == f"http://localhost:{port}"
    with socket.create_server(("127.0.0.9", port)):
        assert find_page_url(f"http://127.0.0.1:{port}") == f"http://127.0.0.1:{port}"


def test_a_name_that_the_server_does_not_answer_to_is_not_told(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handler, "names", ("127.0.0.1",))
    assert find_page_url(f"http://127.0.0.1:{port}") == f"http://127.0.0.1:{port}"
