"""A line to a server that passes every request on and loses some answers: the client cannot know what happened."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Final

_MOST: Final = 65_536


class LossyLine:
    """Listens on `url` and loses the next answers, as many as `loses` says, behind the next `loses_after`."""

    def __init__(self, upstream: tuple[str, int]) -> None:
        self.loses = 0
        self.loses_after = 0
        self.requests = 0
        self._upstream = upstream
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        # A thread that waits for somebody to come does not notice a socket that is only closed.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _listen(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.requests += 1
            is_lost = self.loses > 0 and self.loses_after == 0
            if self.loses_after:
                self.loses_after -= 1
            elif self.loses:
                self.loses -= 1
            # Either end may hang up at any time.
            with near, contextlib.suppress(OSError), socket.create_connection(self._upstream, timeout=60) as far:
                self._pass_on(near, far, is_lost=is_lost)

    def _hear(self, near: socket.socket) -> bytes:
        """What comes next. Raises OSError where nothing does any more."""
        heard = near.recv(_MOST)
        if not heard:
            raise ConnectionResetError("it hung up in the middle of a request")
        return heard

    def _pass_on(self, near: socket.socket, far: socket.socket, *, is_lost: bool) -> None:
        """One request forth and its answer back, or only forth; one exchange a connection."""
        request = b""
        while b"\r\n\r\n" not in request:
            request += self._hear(near)
        head, _, body = request.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
        length = next((int(line[15:]) for line in lines if line.lower().startswith(b"content-length:")), 0)
        while len(body) < length:
            body += self._hear(near)
        far.sendall(b"\r\n".join([*lines, b"Connection: close"]) + b"\r\n\r\n" + body)
        while answer := far.recv(_MOST):
            if not is_lost:
                near.sendall(answer)
