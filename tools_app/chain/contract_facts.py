"""Remembers across readers which addresses have code, and how tokens describe themselves.

Keyed by the block they were read at: a block hash names one state, so nothing remembered can become wrong, not even
after a reorganisation. Private chains are left out by the reader. Bounded; the least used goes first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final

_MOST_FACTS: Final = 16_384


class FactCache:
    """A bounded, thread-safe map from (chain, block hash, kind, address) to a fact."""

    def __init__(self, most: int = _MOST_FACTS) -> None:
        self._most = most
        self._facts: OrderedDict[tuple[int, str, str, str], object] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, chain_id: int, block_hash: str, kind: str, address: str) -> Any:  # Any: a fact of any kind
        """The fact, or None."""
        key = (chain_id, block_hash, kind, address)
        with self._lock:
            if key not in self._facts:
                return None
            self._facts.move_to_end(key)
            return self._facts[key]

    def put(self, chain_id: int, block_hash: str, kind: str, address: str, fact: object) -> None:
        with self._lock:
            self._facts[chain_id, block_hash, kind, address] = fact
            while len(self._facts) > self._most:
                self._facts.popitem(last=False)

    def __len__(self) -> int:
        return len(self._facts)


FACTS: Final = FactCache()
