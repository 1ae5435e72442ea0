"""Names whose servers answer nothing, as whoever owns one may have them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest


class SilentNames:
    """The resolver of this machine, where the servers of every name below `.silent` answer nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_over = threading.Event()
        self.ended = 0
        """How often the resolver itself gave up: who was told before did not wait for it."""
        real = socket.getaddrinfo

        def look_up(host: Any, *args: Any, **options: Any) -> Any:
            if str(host).endswith(".silent"):
                self.is_over.wait(60)
                self.ended += 1
                raise socket.gaierror(socket.EAI_AGAIN, "no server answered")
            return real(host, *args, **options)

        monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.fixture
def silent_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[SilentNames]:
    names = SilentNames(monkeypatch)
    yield names
    names.is_over.set()
