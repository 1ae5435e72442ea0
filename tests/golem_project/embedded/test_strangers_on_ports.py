"""A stranger takes a port between our look at it and our start, and says yes to everything: it is told nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest

from golem_project.embedded.chain import EmbeddedChain
from golem_project.embedded.own_server import OwnServer
from golem_project.embedded.paths import Paths
from golem_project.embedded.postgres import EmbeddedPostgres
from golem_project.embedded.process import free_port, listens_on
from golem_project.embedded.product_process_plans import ChildPlan, answers_ok
from golem_project.embedded.valkey import EmbeddedValkey
from tests.golem_project.embedded.test_stack import MakeStack, make_stack, plan_small, serve_until, watch

__all__ = ["make_stack"]
YES = {
    "http": b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n" + b'{"jsonrpc":"2.0","id":1,"result":"0x7a69"}'[:40],
    "valkey": b"+OK\r\n+PONG\r\n",
    "postgres": b"R\x00\x00\x00\x08\x00\x00\x00\x03",
}


class Stranger:
    """A server of somebody else on `port`: whoever connects gets `answer`, and what they said is kept."""

    def __init__(self, port: int, answer: bytes) -> None:
        self.port, self.heard = port, bytearray()
        self._answer, self._heard_out = answer, threading.Event()
        self._listening = socket.socket()
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listening.bind(("127.0.0.1", port))
        self._listening.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def hear_out(self) -> bytes:
        """All that was said by whoever connected first, once they have hung up."""
        assert self._heard_out.wait(60), "nobody came, or they stay"
        return bytes(self.heard)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._hear, args=(connection,), daemon=True).start()

    def _hear(self, connection: socket.socket) -> None:
        with closing(connection), suppress(OSError):
            connection.sendall(self._answer)
            while received := connection.recv(4096):
                self.heard += received
        self._heard_out.set()


@pytest.fixture
def strangers() -> Iterator[Callable[[int, str], Stranger]]:
    made: list[Stranger] = []

    def settle(port: int, kind: str) -> Stranger:
        made.append(Stranger(port, YES[kind]))
        return made[-1]

    yield settle
    for stranger in made:
        stranger.close()


def make_server(kind: str, paths: Paths, folder: Path) -> OwnServer:
    if kind == "http":
        return EmbeddedChain(folder / "chain")
    return {"valkey": EmbeddedValkey, "postgres": EmbeddedPostgres}[kind](paths, throwaway=True)


@pytest.mark.parametrize("kind", ["valkey", "postgres", "http"])
def test_a_server_whose_port_was_taken_at_the_last_moment_starts_on_another_and_tells_nothing(
    paths: Paths,
    tmp_path: Path,
    strangers: Callable[[int, str], Stranger],
    capfd: pytest.CaptureFixture[str],
    kind: str,
) -> None:
    stranger = strangers(free_port(), kind)
    server = make_server(kind, paths, tmp_path)
    # As it is when the stranger comes after the look at the port.
    server._remembered_port = lambda: stranger.port  # type: ignore[method-assign]
    try:
        assert server.start()  # type: ignore[attr-defined]
        assert server.child is not None
        assert server.port != stranger.port
        assert listens_on(server.child.pid, server.port)
        assert stranger.heard == b""
        assert f"another program took port {stranger.port} just now" in capfd.readouterr().err
    finally:
        server.stop()  # type: ignore[attr-defined]


def test_a_database_that_asks_for_the_bare_password_does_not_get_it(
    paths: Paths, strangers: Callable[[int, str], Stranger]
) -> None:
    postgres = EmbeddedPostgres(paths, throwaway=True)
    stranger = strangers(free_port(), "postgres")
    postgres.port = stranger.port
    password = postgres.url.partition("golem:")[2].partition("@")[0]
    assert password and not postgres.is_ready()
    heard = stranger.hear_out()
    assert heard and password.encode() not in heard


def test_the_web_server_is_never_taken_for_ready_on_a_strangers_port(
    make_stack: MakeStack, strangers: Callable[[int, str], Stranger]
) -> None:
    first = free_port()
    met: list[Stranger] = []

    def plan(port: int) -> Sequence[ChildPlan]:
        # After the port was found free, and before our server is there.
        if not met:
            met.append(strangers(port, "http"))
        return plan_small(port)

    stack, screen = make_stack(plan=plan, GOLEM_WEB_PORT=str(first))
    stack.start()
    assert met[0].heard == b""
    assert f"another program took port {met[0].port} just now" in screen.getvalue()
    assert stack.web_url != f"http://127.0.0.1:{met[0].port}"
    assert answers_ok(f"{stack.web_url}/readyz")
    assert screen.getvalue().count("ready after") == 1


def test_a_web_server_that_comes_back_to_a_taken_port_moves_and_says_so(
    make_stack: MakeStack, strangers: Callable[[int, str], Stranger]
) -> None:
    stack, screen = make_stack()
    stack.start()
    before, port = stack.web_url, int(stack.web_url.rpartition(":")[2])
    stack.children["web"].stop(grace_seconds=0)
    stranger = strangers(port, "http")
    moved = threading.Event()
    watch(stack, moved, lambda: stack.web_url != before and answers_ok(f"{stack.web_url}/readyz"))
    serve_until(stack, moved)
    assert f"the web server moved to {stack.web_url}/admin/" in screen.getvalue()
    assert stranger.heard == b""
