"""Remembers answers that a process will likely need again, so that they can be asked ahead.

A reader of positions that has to ask for a list before it can ask about its members asks about those of the last time
together with the list, and compares. `version` moves when anything remembered becomes another, so that a question kept
by somebody above is put together anew.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

_MOST: Final = 1_024


class Recalled:
    """A bounded, thread-safe map from a contract of a chain to what it listed; the oldest goes first."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lists: OrderedDict[tuple[int, str], tuple[str, ...]] = OrderedDict()
        self._lock = threading.Lock()
        self.version = 0

    def get(self, chain_id: int, contract: str) -> tuple[str, ...]:
        """What the contract listed the last time; nothing where it was not asked yet."""
        return self._lists.get((chain_id, contract), ())

    def put(self, chain_id: int, contract: str, told: tuple[str, ...]) -> None:
        """Remember what it lists now."""
        if self.get(chain_id, contract) == told:
            return
        with self._lock:
            self._lists[chain_id, contract] = told
            self.version += 1
            while len(self._lists) > self._most:
                self._lists.popitem(last=False)


RECALLED: Final = Recalled()
