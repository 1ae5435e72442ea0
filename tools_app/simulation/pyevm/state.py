"""Py-evm's state over flat dictionaries: what a block has below, what a simulation changed above, one undo list.

A checkpoint is a length of the undo list, so taking one costs nothing and going back costs what was changed. That
covers storage, transient storage and the sets of warm things alike, as the rules want it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from eth.constants import EMPTY_SHA3
from eth.vm.execution_context import ExecutionContext
from eth.vm.forks.cancun.state import CancunState
from eth.vm.forks.prague.state import PragueState
from eth.vm.forks.shanghai.state import ShanghaiState
from eth_hash.auto import keccak
from eth_typing import Address, BlockNumber, Hash32

from tools_app.simulation.pyevm.base import Base, EvmAccount, StateSource
from tools_app.simulation.pyevm.budget import Budget
from tools_app.simulation.pyevm.computation import CancunMachine, PragueMachine, ShanghaiMachine

_ABSENT: Final = object()
_OLDEST_BLOCK_HASH: Final = 256


@dataclass(frozen=True, slots=True)
class BlockEnv:
    """What the opcodes about blocks answer. Integers; `coinbase` and `prevrandao` raw bytes."""

    chain_id: int
    number: int
    timestamp: int
    coinbase: bytes
    prevrandao: bytes
    gas_limit: int
    base_fee: int
    excess_blob_gas: int
    parent_hash: bytes


class FlatState:
    """Mixed into py-evm's state classes in place of their account database."""

    def __init__(self, *, base: Base, source: StateSource, env: BlockEnv, budget: Budget) -> None:
        self.enter_block(env)
        self.budget = budget
        self.base = base
        self.source = source
        self.nonces: dict[bytes, int] = {}
        self.balances: dict[bytes, int] = {}
        self.codes: dict[bytes, bytes] = {}
        self.storage: dict[tuple[bytes, int], int] = {}
        self.transient: dict[tuple[bytes, int], bytes] = {}
        self.originals: dict[tuple[bytes, int], int] = {}
        self.warm: dict[object, bool] = {}
        self.wiped: dict[bytes, bool] = {}
        self.guessed: set[tuple[str, bytes]] = set()
        self.ran: set[tuple[bytes, bytes]] = set()
        self._undo: list[tuple[dict[object, object], object, object]] = []

    def enter_block(self, env: BlockEnv) -> None:
        """What the opcodes about blocks answer from now on."""
        self.env = env
        self.execution_context = ExecutionContext(
            coinbase=Address(env.coinbase),
            timestamp=env.timestamp,
            block_number=BlockNumber(env.number),
            difficulty=0,
            mix_hash=Hash32(env.prevrandao),
            gas_limit=env.gas_limit,
            prev_hashes=(),
            chain_id=env.chain_id,
            base_fee_per_gas=env.base_fee,
            excess_blob_gas=env.excess_blob_gas,
        )

    # ---- writing, every write with its way back ----------------------------------------------------------------------

    def _put(self, table: dict[Any, Any], key: Any, value: Any) -> None:  # Any: py-evm leaves it untyped
        self._undo.append((table, key, table.get(key, _ABSENT)))
        table[key] = value

    def snapshot(self) -> int:
        return len(self._undo)

    def revert(self, snapshot: int) -> None:
        undo = self._undo
        while len(undo) > snapshot:
            table, key, old = undo.pop()
            if old is _ABSENT:
                table.pop(key, None)
            else:
                table[key] = old

    def commit(self, snapshot: int) -> None:
        """Nothing to do: a checkpoint that is not gone back to is only a number."""

    def end_transaction(self) -> None:
        """Forget what lives for one transaction: warm things, original values, transient storage."""
        self.warm.clear()
        self.originals.clear()
        self.transient.clear()

    def forget_history(self) -> None:
        """Drop the undo list; checkpoints taken before are void."""
        self._undo.clear()

    # ---- accounts ----------------------------------------------------------------------------------------------------

    def _below(self, address: bytes) -> EvmAccount:
        return self.base.account(address, self.source)

    def get_balance(self, address: bytes) -> int:
        found = self.balances.get(address)
        return self._below(address).balance if found is None else found

    def set_balance(self, address: bytes, balance: int) -> None:
        self._put(self.balances, address, balance)

    def delta_balance(self, address: bytes, delta: int) -> None:
        if delta:
            self._put(self.balances, address, self.get_balance(address) + delta)

    def get_nonce(self, address: bytes) -> int:
        found = self.nonces.get(address)
        return self._below(address).nonce if found is None else found

    def set_nonce(self, address: bytes, nonce: int) -> None:
        self._put(self.nonces, address, nonce)

    def increment_nonce(self, address: bytes) -> None:
        self._put(self.nonces, address, self.get_nonce(address) + 1)

    def get_code(self, address: bytes) -> bytes:
        found = self.codes.get(address)
        return self._below(address).code if found is None else found

    def set_code(self, address: bytes, code: bytes) -> None:
        self._put(self.codes, address, code)

    def delete_code(self, address: bytes) -> None:
        self._put(self.codes, address, b"")

    def get_code_hash(self, address: bytes) -> bytes:
        code = self.get_code(address)
        return hash_code(code) if code else bytes(EMPTY_SHA3)

    def has_code_or_nonce(self, address: bytes) -> bool:
        return bool(self.get_nonce(address) or self.get_code(address))

    def account_is_empty(self, address: bytes) -> bool:
        return not (self.get_balance(address) or self.get_nonce(address) or self.get_code(address))

    def account_exists(self, address: bytes) -> bool:
        # Since EIP-161 an account that is empty is not there.
        return not self.account_is_empty(address)

    def touch_account(self, address: bytes) -> None:
        """Nothing to do: touching can only remove accounts that are empty, and those are not there."""

    def delete_account(self, address: bytes) -> None:
        self.set_balance(address, 0)
        self.set_nonce(address, 0)
        self.set_code(address, b"")
        self.delete_storage(address)

    # ---- storage -----------------------------------------------------------------------------------------------------

    def get_storage(self, address: bytes, slot: int, from_journal: bool = True) -> int:
        key = (address, slot)
        if not from_journal:
            found = self.originals.get(key)
            if found is not None:
                return found
        found = self.storage.get(key)
        if found is None:
            return 0 if address in self.wiped else self.base.slot(address, slot, self.source)
        return found

    def set_storage(self, address: bytes, slot: int, value: int) -> None:
        key = (address, slot)
        if key not in self.originals:
            self._put(self.originals, key, self.get_storage(address, slot))
        self._put(self.storage, key, value)

    def delete_storage(self, address: bytes) -> None:
        for key in [key for key in self.storage if key[0] == address]:
            self._put(self.storage, key, 0)
        self._put(self.wiped, address, True)

    def get_transient_storage(self, address: bytes, slot: int) -> bytes:
        return self.transient.get((address, slot), b"")

    def set_transient_storage(self, address: bytes, slot: int, value: bytes) -> None:
        self._put(self.transient, (address, slot), value)

    def clear_transient_storage(self) -> None:
        self.transient.clear()

    # ---- what is warm ------------------------------------------------------------------------------------------------

    def is_storage_warm(self, address: bytes, slot: int) -> bool:
        return (address, slot) in self.warm

    def mark_storage_warm(self, address: bytes, slot: int) -> None:
        key = (address, slot)
        if key not in self.warm:
            self._put(self.warm, key, True)

    def is_address_warm(self, address: bytes) -> bool:
        return address in self.warm or address in self.computation_class.get_precompiles()  # type: ignore[attr-defined]

    def mark_address_warm(self, address: bytes) -> None:
        if address not in self.warm:
            self._put(self.warm, address, True)

    # ---- blocks ------------------------------------------------------------------------------------------------------

    def get_ancestor_hash(self, block_number: int) -> bytes:
        depth = self.env.number - block_number
        if block_number < 0 or not 1 <= depth <= _OLDEST_BLOCK_HASH:
            return b""
        return self.env.parent_hash if depth == 1 else self.base.block_hash(block_number, self.source)


class ShanghaiFlatState(FlatState, ShanghaiState):  # type: ignore[misc]
    """Shanghai's rules."""

    computation_class = ShanghaiMachine


class CancunFlatState(FlatState, CancunState):  # type: ignore[misc]
    """Cancun's rules."""

    computation_class = CancunMachine


class PragueFlatState(FlatState, PragueState):  # type: ignore[misc]
    """Prague's rules."""

    computation_class = PragueMachine


STATES: Final[dict[str, Any]] = {  # Any: py-evm leaves it untyped
    "shanghai": ShanghaiFlatState,
    "cancun": CancunFlatState,
    "prague": PragueFlatState,
}


@lru_cache(maxsize=512)
def hash_code(code: bytes) -> bytes:
    return bytes(keccak(code))
