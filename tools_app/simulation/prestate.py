"""Parses what nodes answer to `prestateTracer`, taking nothing on trust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.node_errors import RpcNonsense
from tools_app.chain.rpc import parse_bytes, parse_quantity
from tools_app.core.stored_json import read_stored

TRACER: Final = "prestateTracer"
_WORD_LIMIT: Final = 1 << 256


@dataclass(frozen=True, slots=True)
class ToldAccount:
    """One account of an answer; None is what was not told. Slots and their words as integers."""

    nonce: int | None
    balance: int | None
    code: bytes | None
    storage: dict[int, int]


@dataclass(frozen=True, slots=True)
class _ToldAccount:
    nonce: object = None
    balance: object = None
    code: object = None
    storage: object = None


def parse_accounts(answer: object) -> dict[bytes, ToldAccount]:
    """Accounts by raw address. Raises RpcNonsense."""
    if not isinstance(answer, dict):
        raise RpcNonsense("The node answered something that is no prestate")
    return {parse_sized(text, 20): _parse_account(entry) for text, entry in answer.items()}


def parse_word(value: object) -> int:
    """An integer of at most 32 bytes. Raises RpcNonsense."""
    word = parse_quantity(value)
    if word >= _WORD_LIMIT:
        raise RpcNonsense("The node answered a word of more than 32 bytes")
    return word


def parse_sized(value: object, size: int) -> bytes:
    """Exactly `size` bytes. Raises RpcNonsense."""
    data = parse_bytes(value)
    if len(data) != size:
        raise RpcNonsense(f"The node answered {len(data)} bytes where {size} belong")
    return data


def _parse_account(entry: object) -> ToldAccount:
    if not isinstance(entry, dict):
        raise RpcNonsense("The node answered something that is no prestate")
    told = read_stored(_ToldAccount, entry)
    storage = {} if told.storage is None else told.storage
    if not isinstance(storage, dict):
        raise RpcNonsense("The node answered something that is no prestate")
    nonce, balance, code = told.nonce, told.balance, told.code
    return ToldAccount(
        # A number in some nodes' answers, hex in others'.
        nonce=nonce if nonce is None or (type(nonce) is int and nonce >= 0) else parse_quantity(nonce),
        balance=None if balance is None else parse_quantity(balance),
        code=None if code is None else parse_bytes(code),
        storage={parse_word(slot): parse_word(word) for slot, word in storage.items()},
    )
