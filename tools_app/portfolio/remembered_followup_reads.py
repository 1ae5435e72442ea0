"""Remembers what reading an account's positions asked after its first batch, to ask it sooner next time.

The second batch depends on what the first told, and is mostly the same from one reading to the next: the reserves of a
lending market do not change between two previews. Asked ahead it costs no round trip. It decides nothing: what turns
out to be asked otherwise is asked then, and what was asked for nothing is thrown away.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from tools_app.toolkit.context import ReadCall

_MOST_ACCOUNTS: Final = 512
_MOST_CALLS: Final = 256
"""Of one account: beyond that a reading is no longer one small batch, and what is asked ahead would weigh on others."""


class LaterReads:
    """A bounded, thread-safe map from an account of a chain to its later calls; the longest unread goes first."""

    def __init__(self, most_accounts: int = _MOST_ACCOUNTS, most_calls: int = _MOST_CALLS) -> None:
        self._most_accounts = most_accounts
        self._most_calls = most_calls
        self._calls: OrderedDict[tuple[int, str], tuple[ReadCall, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, chain_id: int, account: str) -> tuple[ReadCall, ...]:
        """What was asked later the last time; nothing for an account that was not read yet."""
        return self._calls.get((chain_id, account), ())

    def put(self, chain_id: int, account: str, calls: Sequence[ReadCall]) -> None:
        """Remember it in place of what was asked before."""
        key = (chain_id, account)
        with self._lock:
            self._calls[key] = tuple(calls[: self._most_calls])
            self._calls.move_to_end(key)
            while len(self._calls) > self._most_accounts:
                self._calls.popitem(last=False)


LATER_READS: Final = LaterReads()
