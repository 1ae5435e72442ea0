"""A source with nothing behind it: what a base does not hold does not exist. For chains that live in this process."""

from __future__ import annotations

from collections.abc import Callable

from tools_app.simulation.pyevm.base import NO_ACCOUNT, EvmAccount


class MemorySource:
    """Answers that there is no account and no value; block hashes come from `block_hash`."""

    def __init__(self, *, block_hash: Callable[[int], bytes]) -> None:
        self._block_hash = block_hash

    def load_account(self, address: bytes) -> EvmAccount:
        return NO_ACCOUNT

    def load_slot(self, address: bytes, slot: int) -> int:
        return 0

    def load_block_hash(self, number: int) -> bytes:
        return self._block_hash(number)
