"""A line to a server that can be cut: it carries bytes both ways until every session is dropped at once."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class DroppingProxy:
    """Listens on loopback, or where it is told to, and leads to `host`:`port`."""

    def __init__(self, host: str, port: int, *, at: str = "127.0.0.1") -> None:
        self._to = host, port
        self._listener = socket.create_server((at, 0))
        self.port: int = self._listener.getsockname()[1]
        self._sessions: list[socket.socket] = []
        self._lock = threading.Lock()
        self.count = 0
        self._is_away = False
        threading.Thread(target=self._accept, daemon=True).start()

    def drop_all(self) -> None:
        """Every session ends in the middle of whatever it does; new ones are taken."""
        with self._lock:
            ended, self._sessions = self._sessions, []
        for each in ended:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def go_away(self) -> None:
        """As a server that was killed: every session ends, and nobody gets one before `come_back`."""
        self._is_away = True
        self.drop_all()

    def come_back(self) -> None:
        """New sessions are taken again."""
        self._is_away = False

    def close(self) -> None:
        """Nothing is carried any more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop_all()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                if self._is_away:
                    here.close()
                    continue
                there = socket.create_connection(self._to)
                self.count += 1
                with self._lock:
                    self._sessions += [here, there]
                for source, target in ((here, there), (there, here)):
                    threading.Thread(target=_carry, args=(source, target), daemon=True).start()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(1 << 16):
            target.sendall(part)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
