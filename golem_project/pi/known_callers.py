"""Remembers tokens and sessions that were good a short while ago, which go before unknown ones.

It lets nobody in. Who is known stands in another line, and is asked for the token as ever.
"""

from __future__ import annotations

import threading
from hashlib import sha256
from typing import Final

from django.conf import settings

from tools_app.core import clock


class KnownCallers:
    """Of one server process; the oldest is forgotten beyond `most`."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._until: dict[bytes, tuple[float, str]] = {}

    def note(self, credential: str, *, who: str) -> None:
        """`credential` was good just now, and is of `who`."""
        key = _hash(credential)
        with self._lock:
            self._until.pop(key, None)
            self._until[key] = (clock.monotonic_ms() + settings.GOLEM_KNOWN_SECONDS * 1000, who)
            if len(self._until) > self._most:
                del self._until[next(iter(self._until))]

    def find(self, credential: str) -> str | None:
        """Whose `credential` is; None where it was not good lately."""
        with self._lock:
            until, who = self._until.get(_hash(credential), (0.0, ""))
        return who if clock.monotonic_ms() < until else None


def name_session(key: str) -> str:
    """How the session of a person is known here."""
    return f"session:{key}"


def _hash(credential: str) -> bytes:
    return sha256(credential.encode("utf-8", "surrogateescape")).digest()


KNOWN: Final = KnownCallers(most=20_000)
