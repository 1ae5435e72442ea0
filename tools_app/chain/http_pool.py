"""Kept-alive HTTP/1.1 to one node: one write for a request, one bound on time and on size for its answer.

Only what JSON-RPC needs, because the general libraries spend more processor time on a request than the rest of a
simulation takes. TLS is the standard library's with its default checks. Follows no redirect and asks for no encoding.
"""

from __future__ import annotations

import math
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import SplitResult

from tools_app.core import clock
from tools_app.core.clock import Deadline

_PIECE: Final = 1 << 18
_LONGEST_HEAD: Final = 1 << 16
_LONGEST_CHUNK_LINE: Final = 1 << 10
_LONGEST_WAIT_DIGITS: Final = 9
_LONGEST_NUMBER: Final = 19
_HEAD_END: Final = b"\r\n\r\n"


class HttpFailure(Exception):
    """No answer. `maybe_sent`: whether the request may have reached the node all the same."""

    def __init__(self, what: str, *, maybe_sent: bool, is_timeout: bool = False) -> None:
        super().__init__(what)
        self.maybe_sent = maybe_sent
        self.is_timeout = is_timeout


class AnswerTooLarge(Exception):
    """The answer has more bytes than were allowed; the rest was not read."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """Status and body, and in how many seconds the node wants to be asked again where it says so."""

    status: int
    body: bytes
    retry_after_seconds: int | None = None


class HttpPool:
    """Connections to one host. Thread-safe; not to be taken across a fork."""

    def __init__(self, parts: SplitResult, *, headers: Mapping[str, str], most_connections: int) -> None:
        is_tls = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if is_tls else 80)
        self._tls = ssl.create_default_context() if is_tls else None
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = [
            f"POST {path} HTTP/1.1",
            f"Host: {parts.netloc.rpartition('@')[2]}",
            *(f"{name}: {value}" for name, value in headers.items()),
            "Content-Length: ",
        ]
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a header of a request has a line break")
        self._head = "\r\n".join(lines).encode()
        self._idle: list[_Connection] = []
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(most_connections)

    def post(self, body: bytes, *, connect_ms: float, deadline: Deadline, most_bytes: int) -> HttpAnswer:
        """Send `body` and read the answer. Raises HttpFailure, AnswerTooLarge."""
        if not self._free.acquire(timeout=deadline.remaining_ms() / 1000):
            raise HttpFailure("no free connection", maybe_sent=False)
        try:
            connection = self._take() or self._connect(min(connect_ms, deadline.remaining_ms()))
            try:
                answer = connection.exchange(b"%s%d\r\n\r\n%s" % (self._head, len(body), body), deadline, most_bytes)
            except BaseException:
                connection.close()
                raise
            if connection.is_reusable:
                with self._lock:
                    self._idle.append(connection)
            else:
                connection.close()
            return answer
        finally:
            self._free.release()

    def _take(self) -> _Connection | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if connection.is_open():
                return connection
            connection.close()

    def _connect(self, connect_ms: float) -> _Connection:
        try:
            line = socket.create_connection((self._host, self._port), timeout=max(connect_ms, 1) / 1000)
        except OSError as error:
            raise HttpFailure(type(error).__name__, maybe_sent=False) from None
        try:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                line = self._tls.wrap_socket(line, server_hostname=self._host)
        except OSError as error:
            line.close()
            raise HttpFailure(type(error).__name__, maybe_sent=False) from None
        return _Connection(line)


class _Connection:
    """One line to the node, one request at a time."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._read = bytearray()
        self.is_reusable = True

    def close(self) -> None:
        self._line.close()

    def is_open(self) -> bool:
        """Whether the node has neither closed it nor said anything unasked."""
        try:
            self._line.settimeout(0)
            self._line.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        except OSError:
            pass
        return False

    def exchange(self, request: bytes, deadline: Deadline, most_bytes: int) -> HttpAnswer:
        """One request and its answer."""
        try:
            self._line.settimeout(_seconds_left(deadline))
            self._line.sendall(request)
            status, headers = self._read_head(deadline)
            while 100 <= status < 200:
                status, headers = self._read_head(deadline)
            body = self._read_body(headers, deadline, most_bytes)
            return HttpAnswer(status, body, read_retry_after(headers.get(b"retry-after", b"")))
        except TimeoutError:
            raise HttpFailure("no answer in time", maybe_sent=True, is_timeout=True) from None
        except OSError as error:
            raise HttpFailure(type(error).__name__, maybe_sent=True) from None

    def _read_head(self, deadline: Deadline) -> tuple[int, dict[bytes, bytes]]:
        while (end := self._read.find(_HEAD_END)) < 0:
            if len(self._read) > _LONGEST_HEAD:
                raise HttpFailure("endless head", maybe_sent=True)
            self._receive(deadline)
        first, *lines = bytes(self._read[:end]).split(b"\r\n")
        del self._read[: end + len(_HEAD_END)]
        version, _, rest = first.partition(b" ")
        code = rest[:3]
        if version not in (b"HTTP/1.1", b"HTTP/1.0") or not code.isdigit() or len(code) != 3:
            raise HttpFailure("no HTTP", maybe_sent=True)
        headers: dict[bytes, bytes] = {}
        for line in lines:
            name, colon, value = line.partition(b":")
            name, value = name.lower(), value.strip()
            if not colon or (name == b"content-length" and headers.get(name, value) != value):
                raise HttpFailure("malformed head", maybe_sent=True)
            headers[name] = value
        kept = headers.get(b"connection", b"").lower()
        self.is_reusable = kept != b"close" and (version == b"HTTP/1.1" or kept == b"keep-alive")
        return int(code), headers

    def _read_body(self, headers: dict[bytes, bytes], deadline: Deadline, most_bytes: int) -> bytes:
        if headers.get(b"transfer-encoding", b"identity").lower() == b"chunked":
            return self._read_chunks(deadline, most_bytes)
        length = headers.get(b"content-length")
        if length is not None:
            if not length.isdigit() or len(length) > _LONGEST_NUMBER:
                raise HttpFailure("malformed length", maybe_sent=True)
            return self._take(int(length), deadline, most_bytes)
        self.is_reusable = False
        try:
            while True:
                if len(self._read) > most_bytes:
                    raise AnswerTooLarge
                self._receive(deadline)
        except ConnectionAbortedError:
            return bytes(self._read)

    def _read_chunks(self, deadline: Deadline, most_bytes: int) -> bytes:
        body = bytearray()
        while size := self._read_chunk_size(deadline):
            body += self._take(size, deadline, most_bytes - len(body))
            if self._take(2, deadline, 2) != b"\r\n":
                raise HttpFailure("malformed chunk", maybe_sent=True)
        while self._read_line(deadline):
            pass  # trailers say nothing that is needed
        return bytes(body)

    def _read_chunk_size(self, deadline: Deadline) -> int:
        text = self._read_line(deadline).partition(b";")[0].strip()
        if not text or text.strip(b"0123456789abcdefABCDEF"):
            raise HttpFailure("malformed chunk", maybe_sent=True)
        return int(text, 16)

    def _read_line(self, deadline: Deadline) -> bytes:
        while (end := self._read.find(b"\r\n")) < 0:
            if len(self._read) > _LONGEST_CHUNK_LINE:
                raise HttpFailure("endless line", maybe_sent=True)
            self._receive(deadline)
        line = bytes(self._read[:end])
        del self._read[: end + 2]
        return line

    def _take(self, size: int, deadline: Deadline, most_bytes: int) -> bytes:
        if size > most_bytes:
            raise AnswerTooLarge
        while len(self._read) < size:
            self._receive(deadline)
        taken = bytes(self._read[:size])
        del self._read[:size]
        return taken

    def _receive(self, deadline: Deadline) -> None:
        self._line.settimeout(_seconds_left(deadline))
        piece = self._line.recv(_PIECE)
        if not piece:
            raise ConnectionAbortedError
        self._read += piece


def read_retry_after(value: bytes) -> int | None:
    """The seconds of a Retry-After header, which has them or a time (RFC 9110); None for anything else."""
    if not value:
        return None
    if value.isdigit():
        return int(value) if len(value) <= _LONGEST_WAIT_DIGITS else None
    try:
        until = parsedate_to_datetime(value.decode("ascii"))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # What is no date, and what is one of a year that no calendar has.
        return None
    # A time without a zone is of Greenwich, as all times of HTTP.
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max(0, math.ceil((until - clock.now()).total_seconds()))


def _seconds_left(deadline: Deadline) -> float:
    left = deadline.remaining_ms() / 1000
    if left <= 0:
        raise TimeoutError
    return left
