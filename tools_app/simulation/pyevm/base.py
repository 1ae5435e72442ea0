"""The read-only state of one block, filled as it is needed and shared by every simulation on that block.

Bounded in bytes: bases are dropped whole, the least used block first. Code is kept once per content.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

EMPTY_CODE: Final = b""
# A slot with its key, value and place in the dictionary, measured; an account takes about as much beside its code.
_ENTRY_BYTES: Final = 256


class EvmAccount(NamedTuple):
    """An account as a block has it; all zero when there is none."""

    nonce: int
    balance: int
    code: bytes


NO_ACCOUNT: Final = EvmAccount(0, 0, EMPTY_CODE)


@dataclass(frozen=True, slots=True)
class Header:
    """What a block's header says that a simulation needs; `coinbase` and `prevrandao` are raw bytes."""

    number: int
    hash: str
    timestamp: int
    base_fee: int
    gas_limit: int
    coinbase: bytes
    prevrandao: bytes
    excess_blob_gas: int


class StateSource(Protocol):
    """Where state comes from that a base does not hold yet. Raises the node's typed errors."""

    def load_account(self, address: bytes) -> EvmAccount: ...

    def load_slot(self, address: bytes, slot: int) -> int: ...

    def load_block_hash(self, number: int) -> bytes: ...


@dataclass(slots=True)
class Base:
    """Accounts, slots and block hashes of one block."""

    accounts: dict[bytes, EvmAccount] = field(default_factory=dict)
    slots: dict[tuple[bytes, int], int] = field(default_factory=dict)
    block_hashes: dict[int, bytes] = field(default_factory=dict)
    header: Header | None = None
    code_bytes: int = 0

    def account(self, address: bytes, source: StateSource) -> EvmAccount:
        """The account, loaded when it is not here. Raises what the source raises."""
        found = self.accounts.get(address)
        if found is None:
            found = self.put_account(address, source.load_account(address))
        return found

    def slot(self, address: bytes, slot: int, source: StateSource) -> int:
        """The slot, loaded when it is not here. Raises what the source raises."""
        key = (address, slot)
        found = self.slots.get(key)
        if found is None:
            found = self.slots[key] = source.load_slot(address, slot)
        return found

    def block_hash(self, number: int, source: StateSource) -> bytes:
        """The hash of an earlier block. Raises what the source raises."""
        found = self.block_hashes.get(number)
        if found is None:
            found = self.block_hashes[number] = source.load_block_hash(number)
        return found

    def put_account(self, address: bytes, account: EvmAccount) -> EvmAccount:
        """Keep an account, its code shared with every other block's."""
        kept = account._replace(code=_CODES.intern(account.code)) if account.code else account
        self.accounts[address] = kept
        self.code_bytes += len(kept.code)
        return kept

    @property
    def size(self) -> int:
        """Bytes held, about: code is counted in every base that has it, also where it is shared."""
        entries = len(self.accounts) + len(self.slots) + len(self.block_hashes)
        return entries * _ENTRY_BYTES + self.code_bytes


class CodeStore:
    """One copy of each contract's bytes, the least recently met leaving first. Thread-safe."""

    def __init__(self, most_bytes: int) -> None:
        self._codes: OrderedDict[bytes, None] = OrderedDict()
        self._originals: dict[bytes, bytes] = {}
        self._bytes = 0
        self._most_bytes = most_bytes
        self._lock = threading.Lock()

    def intern(self, code: bytes) -> bytes:
        """The kept copy of equal bytes."""
        with self._lock:
            known = self._originals.get(code)
            if known is not None:
                self._codes.move_to_end(known)
                return known
            self._originals[code] = code
            self._codes[code] = None
            self._bytes += len(code)
            while self._bytes > self._most_bytes and len(self._codes) > 1:
                dropped, _ = self._codes.popitem(last=False)
                del self._originals[dropped]
                self._bytes -= len(dropped)
            return code


class BaseStore:
    """The bases of this process, by chain and block, and by which order of its nodes told them. Thread-safe."""

    def __init__(self, *, most_bases: int, most_bytes: int) -> None:
        self._bases: OrderedDict[tuple[int, str, bool], Base] = OrderedDict()
        self._most_bases = most_bases
        self._most_bytes = most_bytes
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._bases)

    def get(self, chain_id: int, block_hash: str, *, is_second: bool = False) -> Base:
        """The base of a block, a new one when it is not held or has alone outgrown the bound. `is_second`: as the
        second opinion of its nodes tells it, which knows nothing of the first.
        """
        key = (chain_id, block_hash, is_second)
        with self._lock:
            base = self._bases.get(key)
            if base is None or base.size > self._most_bytes:
                base = self._bases[key] = Base()
            self._bases.move_to_end(key)
            held = sum(other.size for other in self._bases.values())
            while len(self._bases) > self._most_bases or held > self._most_bytes:
                _, dropped = self._bases.popitem(last=False)
                held -= dropped.size
            return base

    def forget(self, chain_id: int, block_hash: str) -> None:
        """Drop a base that turned out not to be of that block."""
        with self._lock:
            for is_second in (False, True):
                self._bases.pop((chain_id, block_hash, is_second), None)

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._bases.clear()


_CODES: Final = CodeStore(most_bytes=16_000_000)
BASES: Final = BaseStore(most_bases=16, most_bytes=64_000_000)
