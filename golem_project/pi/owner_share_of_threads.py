"""Keeps the agents of one owner to half of a server process's threads.

A token with the least of rights can ask for what takes long, as often as it likes. What is beyond the half is refused
at once, so that other owners' agents are answered, and people see their pages. A halt needs no place.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings

from golem_project.pi.errors import TooManyAtOnce


class ThreadPlaces:
    """Who holds how many threads of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[object] = Counter()

    @contextmanager
    def hold(self, owner_id: object) -> Iterator[None]:
        """One of the owner's places until the end. Raises TooManyAtOnce."""
        most = max(1, settings.GOLEM_WEB_THREADS // 2)
        with self._lock:
            if self._taken[owner_id] >= most:
                raise TooManyAtOnce(
                    f"{most} requests of this owner's agents are worked on here; this one was not begun",
                    limit=most,
                    retry_after_seconds=1,
                )
            self._taken[owner_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken[owner_id] -= 1
                if not self._taken[owner_id]:
                    del self._taken[owner_id]


PLACES: Final = ThreadPlaces()
