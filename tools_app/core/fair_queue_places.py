"""Places that are given by turns: who holds least is next, and among equals who waited longest.

A crowd of one keeps nobody waiting: another's first comes before its second. What is beyond the places waits, and what
is beyond those who may wait is refused at once. Pure but for its lock; a waiter is told by a call.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tools_app.core import clock


class NoRoom(Exception):
    """As many wait as may; `of_one` says whether they are all this one's own."""

    def __init__(self, *, of_one: bool) -> None:
        super().__init__("no room to wait")
        self.of_one = of_one


@dataclass(eq=False, slots=True)
class WaitingTurn:
    """One who asked. `grant` is called once, by whoever frees the place, unless the place was free at once."""

    who: str
    grant: Callable[[], None]
    is_granted: bool = False
    has_left: bool = False


_BESIDE_MS: Final = 2_000.0
"""Who asked within this long is there, and others leave room."""


class Turns:
    """`places` at once, at most `of_one` of them for one; at most `waiting` wait, `waiting_of_one` of them of one."""

    def __init__(
        self, *, places: int, of_one: int, waiting: int, waiting_of_one: int, beside_others: int | None = None
    ) -> None:
        """`beside_others`: of one, while another is there; None: as many as else."""
        self._places, self._of_one = max(1, places), max(1, of_one)
        self._beside = self._of_one if beside_others is None else max(1, beside_others)
        self._asked_ms: dict[str, float] = {}
        self._most, self._most_of_one = waiting, waiting_of_one
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[WaitingTurn]] = {}
        self._count = 0

    def ask(self, who: str, grant: Callable[[], None]) -> WaitingTurn:
        """A turn that is granted already, or will be. Raises NoRoom."""
        turn = WaitingTurn(who, grant)
        with self._lock:
            self._note(who)
            if who not in self._waiting and self._has_place(who):
                turn.is_granted = True
                self._held[who] += 1
                return turn
            if len(self._waiting.get(who, ())) >= self._most_of_one:
                raise NoRoom(of_one=True)
            if self._count >= self._most:
                raise NoRoom(of_one=False)
            self._waiting.setdefault(who, deque()).append(turn)
            self._count += 1
        return turn

    def leave(self, turn: WaitingTurn) -> None:
        """Give the place back, or stop waiting; a second time nothing happens."""
        with self._lock:
            if turn.has_left:
                return
            turn.has_left = True
            if turn.is_granted:
                self._held[turn.who] -= 1
                if not self._held[turn.who]:
                    del self._held[turn.who]
            else:
                self._forget(turn)
            granted = self._grant_next()
        for each in granted:
            each.grant()

    def count_waiting(self) -> int:
        """How many wait now."""
        with self._lock:
            return self._count

    def _has_place(self, who: str) -> bool:
        most = self._of_one if self._beside == self._of_one or self._is_alone(who) else self._beside
        return self._held.total() < self._places and self._held[who] < most

    def _note(self, who: str) -> None:
        """The latest last; those who are gone are forgotten, so there are no more than came within a moment."""
        now_ms = clock.monotonic_ms()
        self._asked_ms.pop(who, None)
        self._asked_ms[who] = now_ms
        while now_ms - self._asked_ms[next(iter(self._asked_ms))] > _BESIDE_MS:
            del self._asked_ms[next(iter(self._asked_ms))]

    def _is_alone(self, who: str) -> bool:
        since_ms = clock.monotonic_ms() - _BESIDE_MS
        return all(each == who or at_ms < since_ms for each, at_ms in self._asked_ms.items())

    def _grant_next(self) -> list[WaitingTurn]:
        granted = []
        while self._waiting:
            # A dictionary keeps the order in which they began to wait; `min` takes the first of equals.
            able = [each for each in self._waiting if self._has_place(each)]
            if not able:
                break
            who = min(able, key=lambda each: self._held[each])
            turn = self._waiting[who][0]
            self._forget(turn)
            if who in self._waiting:
                self._waiting[who] = self._waiting.pop(who)
            turn.is_granted = True
            self._held[who] += 1
            granted.append(turn)
        return granted

    def _forget(self, turn: WaitingTurn) -> None:
        line = self._waiting[turn.who]
        line.remove(turn)
        self._count -= 1
        if not line:
            del self._waiting[turn.who]
