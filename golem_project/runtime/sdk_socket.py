"""Asks the SDK that runs beside the server: one question over a Unix socket, and its answer or none in time.

Who listens there is asked of the kernel: the socket is ours, nobody else may open it, and the process behind it runs as
we do. A frame is four bytes of length and JSON; it has an end in time and size, and carries the number of its question.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import stat
import struct
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from tools_app.core import clock
from tools_app.core.bounded_parsing import OutsideTextRefused, read_exact_json
from tools_app.toolkit.official_sdk import SdkFallbackUnavailable

M = TypeVar("M", bound=BaseModel)

SECONDS: Final = 2.5
"""A question has so long from its first byte to the last of its answer; the SDK itself ends a sum after two."""
MOST_BYTES: Final = 1_048_576
MOST_AT_ONCE: Final = 8
"""So many questions of one process wait for answers; the next one is refused at once."""
_MOST_DEPTH: Final = 4
_HEAD: Final = struct.Struct(">I")
_PEER: Final = struct.Struct("3i")
_CHUNK: Final = 65_536


class SdkSocket:
    """The door to it; `path` None where none is set up."""

    def __init__(self, path: Path | None, *, seconds: float = SECONDS) -> None:
        self._path = path
        self._seconds = seconds
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)

    def ask(self, op: str, args: Mapping[str, object], shape: type[M]) -> M:
        """The answer to one question, of its shape. Raises SdkFallbackUnavailable."""
        if self._path is None:
            raise SdkFallbackUnavailable("no SDK is set up beside this server", reason="absent")
        number = secrets.token_hex(8)
        body = json.dumps({"id": number, "op": op, "args": args}).encode()
        if len(body) > MOST_BYTES:
            raise SdkFallbackUnavailable("the question is larger than the SDK is asked", reason="size")
        if not self._places.acquire(blocking=False):
            raise SdkFallbackUnavailable(f"{MOST_AT_ONCE} questions wait for the SDK already", reason="busy")
        try:
            told = self._exchange(self._path, body)
        finally:
            self._places.release()
        if told.get("id") != number:
            raise SdkFallbackUnavailable("the SDK answered another question", reason="id")
        if set(told) != {"id", "result"}:
            raise SdkFallbackUnavailable("the SDK has no answer to this question", reason="no answer")
        try:
            return shape.model_validate(told["result"])
        except ValidationError:
            raise SdkFallbackUnavailable("the SDK's answer is not of the shape it must have", reason="shape") from None

    def _exchange(self, path: Path, body: bytes) -> dict[str, object]:
        ends_at = clock.monotonic_ms() + self._seconds * 1_000
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(self._seconds)
                _check_path(path)
                connection.connect(str(path))
                _check_peer(connection)
                connection.sendall(_HEAD.pack(len(body)) + body)
                (length,) = _HEAD.unpack(_receive(connection, _HEAD.size, ends_at))
                if length > MOST_BYTES:
                    raise SdkFallbackUnavailable("the SDK's answer is too large", reason="size")
                told = read_exact_json(
                    _receive(connection, length, ends_at), most_bytes=MOST_BYTES, most_depth=_MOST_DEPTH
                )
        except TimeoutError:
            raise SdkFallbackUnavailable("the SDK did not answer in time", reason="time") from None
        except OSError:
            raise SdkFallbackUnavailable("the SDK does not run, or ended while it was asked", reason="gone") from None
        except OutsideTextRefused:
            raise SdkFallbackUnavailable("the SDK's answer cannot be read", reason="frame") from None
        if not isinstance(told, dict):
            raise SdkFallbackUnavailable("the SDK's answer cannot be read", reason="frame")
        return told


def _check_path(path: Path) -> None:
    """Nobody else may have put it there or may open it. Raises OSError, SdkFallbackUnavailable."""
    found = path.lstat()
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise SdkFallbackUnavailable("the SDK's socket is not ours alone", reason="owner")


def _check_peer(connection: socket.socket) -> None:
    """Whoever listens runs as we do. Raises OSError, SdkFallbackUnavailable."""
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _, uid, _ = _PEER.unpack(told)
    if uid != os.geteuid():
        raise SdkFallbackUnavailable("somebody else listens at the SDK's socket", reason="owner")


def _receive(connection: socket.socket, size: int, ends_at: float) -> bytes:
    """So many bytes. Raises TimeoutError, and ConnectionError where it ends before."""
    read = bytearray()
    while len(read) < size:
        left = (ends_at - clock.monotonic_ms()) / 1_000
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        part = connection.recv(min(_CHUNK, size - len(read)))
        if not part:
            raise ConnectionError("ended within a frame")
        read += part
    return bytes(read)
