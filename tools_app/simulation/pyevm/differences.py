"""Computes the state diff of a simulation from the overlay of its state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tools_app.chain.abi import checksum
from tools_app.simulation.engine import AccountDiff, StateDiff
from tools_app.simulation.pyevm.state import hash_code


def list_differences(state: Any, *, created: Iterable[bytes]) -> StateDiff:  # Any: py-evm leaves it untyped
    """Every account that differs from the base, by address; what was changed and changed back is not in it."""
    slots: dict[bytes, list[tuple[int, int, int]]] = {}
    for (address, slot), after in state.storage.items():
        before = 0 if address in state.wiped else state.base.slot(address, slot, state.source)
        if before != after:
            slots.setdefault(address, []).append((slot, before, after))
    touched = {*state.nonces, *state.balances, *state.codes, *slots}
    differences = []
    for address in sorted(touched):
        below = state.base.account(address, state.source)
        nonce, balance = state.nonces.get(address, below.nonce), state.balances.get(address, below.balance)
        code = state.codes.get(address, below.code)
        difference = AccountDiff(
            address=checksum("0x" + address.hex()),
            nonce=None if nonce == below.nonce else (below.nonce, nonce),
            balance=None if balance == below.balance else (below.balance, balance),
            code_hash=None if code == below.code else (_hash_of(below.code), _hash_of(code)),
            storage=tuple(sorted(slots.get(address, ()))),
        )
        if difference.nonce or difference.balance or difference.code_hash or difference.storage:
            differences.append(difference)
    return StateDiff(tuple(differences), tuple(checksum("0x" + address.hex()) for address in sorted(set(created))))


def _hash_of(code: bytes) -> str:
    return "0x" + hash_code(code).hex()
