"""Shares one readiness check between all who ask at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Shared(Generic[T]):
    """Whoever asks gets an answer that was begun after they asked, so it is never older than their question."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._state = threading.Lock()
        self._next: _Look[T] | None = None

    def ask(self, look: Callable[[], T]) -> T:
        """The answer of `look`, which may be shared with others who ask now. Raises what it raises."""
        with self._state:
            is_mine = self._next is None
            if self._next is None:
                self._next = _Look()
            mine = self._next
        if is_mine:
            with self._looking:
                with self._state:
                    # From here on it has begun: who comes later waits for the next.
                    self._next = None
                mine.run(look)
        else:
            mine.done.wait()
        return mine.read()


class _Look(Generic[T]):
    def __init__(self) -> None:
        self.done = threading.Event()
        self._answer: T | None = None
        self._error: Exception | None = None

    def run(self, look: Callable[[], T]) -> None:
        try:
            self._answer = look()
        except Exception as error:  # noqa: BLE001  (handed to everybody who waits)
            self._error = error
        finally:
            self.done.set()

    def read(self) -> T:
        if self._error is not None:
            raise self._error
        answer: T = self._answer  # type: ignore[assignment]
        return answer
