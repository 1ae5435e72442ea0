"""The HTTP under the node connections: every way to end a body, broken heads, bounds, kept connections, TLS."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.tools_app.chain.nodes import serve_silence
from tools_app.chain.http_pool import AnswerTooLarge, HttpAnswer, HttpFailure, HttpPool
from tools_app.core.clock import Deadline

# Key and certificate of localhost for these tests alone: it vouches for nothing and nobody trusts it.
CERTIFICATE = Path(__file__).with_name("localhost_certificate.txt")
BODY = b'{"jsonrpc": "2.0"}'


class Line:
    """A server that reads one request per answer and writes the answer's pieces one by one."""

    def __init__(self, answers: list[list[bytes]], tls: ssl.SSLContext | None = None) -> None:
        self.received: list[bytes] = []
        self.connections = 0
        self._answers = list(answers)
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while self._answers:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            try:
                self._talk(line if self._tls is None else self._tls.wrap_socket(line, server_side=True))
            except OSError:
                continue

    def _talk(self, line: socket.socket) -> None:
        with line:
            while self._answers:
                asked = line.recv(1 << 16)
                if not asked:
                    return
                self.received.append(asked)
                pieces = self._answers.pop(0)
                for piece in pieces:
                    line.sendall(piece)
                if pieces and pieces[-1] == b"":
                    return


@contextmanager
def answering(*answers: list[bytes]) -> Iterator[tuple[HttpPool, Line]]:
    """A pool of two connections to a server with these answers; an empty last piece closes the connection."""
    line = Line(list(answers))
    try:
        yield pool_to(line.port), line
    finally:
        line.stop()


def pool_to(port: int, scheme: str = "http", host: str = "127.0.0.1") -> HttpPool:
    parts = urlsplit(f"{scheme}://{host}:{port}/path?key=1")
    return HttpPool(parts, headers={"Accept": "application/json"}, most_connections=2)


def post(pool: HttpPool, *, most_bytes: int = 1_000, ms: float = 5_000) -> HttpAnswer:
    return pool.post(BODY, connect_ms=1_000, deadline=Deadline.after_ms(ms), most_bytes=most_bytes)


def plain(body: bytes, *, more: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s" % (len(body), more, body)


def test_a_request_leaves_in_one_piece_with_its_body() -> None:
    with answering([plain(b"yes")]) as (pool, line):
        assert post(pool) == HttpAnswer(200, b"yes")

    head, _, body = line.received[0].partition(b"\r\n\r\n")
    assert body == BODY
    assert head.split(b"\r\n")[0] == b"POST /path?key=1 HTTP/1.1"
    assert b"Content-Length: 18" in head
    assert f"Host: 127.0.0.1:{line.port}".encode() in head


@pytest.mark.parametrize(
    "pieces",
    [
        [plain(b"yes")],
        [bytes([byte]) for byte in plain(b"yes")],
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\ny\r\n2;x=1\r\nes\r\n0\r\nTrailer: t\r\n\r\n"],
        [b"HTTP/1.1 200\r\n\r\ny", b"es", b""],
        [b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nyes", b""],
        [b"HTTP/1.1 100 Continue\r\n\r\n", plain(b"yes")],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\ncontent-length: 3\r\n\r\nyes"],
    ],
    ids=["length", "byte by byte", "chunks", "until it closes", "1.0", "after continue", "equal lengths"],
)
def test_every_way_to_end_a_body_gives_the_same_bytes(pieces: list[bytes]) -> None:
    with answering(pieces) as (pool, _):
        assert post(pool) == HttpAnswer(200, b"yes")


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nyes!",
        b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nyes",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nyes\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 2_000,
        b"HTTP/1.1 200 OK\r\n" + b"x" * 70_000,
    ],
)
def test_what_is_no_http_is_a_failure_that_may_have_been_sent(answer: bytes) -> None:
    with answering([answer]) as (pool, _), pytest.raises(HttpFailure) as failed:
        post(pool)

    assert failed.value.maybe_sent
    assert not failed.value.is_timeout


def test_a_body_cut_short_is_a_failure_and_no_short_body() -> None:
    with answering([b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nyes", b""]) as (pool, _):
        with pytest.raises(HttpFailure):
            post(pool)


@pytest.mark.parametrize(
    "pieces",
    [
        [plain(b"x" * 1_001)],
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *[b"3e8\r\n" + b"x" * 1_000 + b"\r\n"] * 2],
        [b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 1_001, b""],
    ],
    ids=["length", "chunks", "until it closes"],
)
def test_more_bytes_than_allowed_are_not_taken(pieces: list[bytes]) -> None:
    with answering(pieces) as (pool, _), pytest.raises(AnswerTooLarge):
        post(pool, most_bytes=1_000)


def test_connections_are_kept_and_one_closed_meanwhile_is_replaced_unseen() -> None:
    with answering([plain(b"1")], [plain(b"2"), b""], [plain(b"3")]) as (pool, line):
        answers = [post(pool).body for _ in range(2)]
        # The end of the connection is on its way; a poll of the pool must see it before the next request uses it.
        connection = pool._idle[0]
        for _ in range(200):
            if not connection.is_open():
                break
            threading.Event().wait(0.005)
        answers.append(post(pool).body)

    assert answers == [b"1", b"2", b"3"]
    assert line.connections == 2


def test_a_node_that_says_close_is_not_asked_on_the_same_connection() -> None:
    with answering([plain(b"1", more=b"Connection: close\r\n"), b""], [plain(b"2")]) as (pool, line):
        assert [post(pool).body for _ in range(2)] == [b"1", b"2"]

    assert line.connections == 2


def test_silence_ends_at_the_deadline_and_frees_the_connection() -> None:
    with serve_silence() as url:
        pool = pool_to(urlsplit(url).port or 0)
        for _ in range(3):
            with pytest.raises(HttpFailure) as failed:
                post(pool, ms=60)
            assert failed.value.is_timeout
            assert failed.value.maybe_sent


def test_nobody_listening_means_nothing_was_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(HttpFailure) as failed:
        post(pool_to(port))

    assert not failed.value.maybe_sent


def test_a_line_break_in_the_url_or_a_header_is_refused() -> None:
    with pytest.raises(ValueError, match="line break"):
        HttpPool(urlsplit("http://127.0.0.1:1/"), headers={"X": "a\r\nY: b"}, most_connections=1)


def test_a_certificate_nobody_vouches_for_is_refused_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(CERTIFICATE)
    line = Line([[plain(b"yes")], [plain(b"yes")]], tls=server)
    with pytest.raises(HttpFailure) as failed:
        post(pool_to(line.port, "https", "localhost"))
    assert not failed.value.maybe_sent
    assert line.received == []

    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    trusting = pool_to(line.port, "https", "localhost")
    assert [post(trusting).body for _ in range(2)] == [b"yes", b"yes"]
    assert line.connections == 2
    line.stop()
