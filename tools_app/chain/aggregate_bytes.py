"""The bytes of Multicall3's aggregate, written and read by hand: its calls, and what each of them answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eth_abi.exceptions import InsufficientDataBytes

RESULTS: Final = ("(bool,bytes)[]",)
"""What the aggregate returns, as types of its signature."""
_WORD: Final = 32


def encode_calls(chunk: Sequence[tuple[str, bytes]]) -> bytes:
    """The reads as the aggregate takes them: each may fail alone. By hand, since a decision encodes a hundred of them
    and the general encoder took a quarter of its processor time for that.
    """
    parts: list[bytes] = []
    offsets: list[bytes] = []
    at = _WORD * len(chunk)
    for to, data in chunk:
        padded = data + bytes(-len(data) % _WORD)
        offsets.append(_word(at))
        parts.append(bytes(12) + bytes.fromhex(to[2:]) + _word(1) + _word(3 * _WORD) + _word(len(data)) + padded)
        at += 4 * _WORD + len(padded)
    return b"".join((_word(_WORD), _word(len(chunk)), *offsets, *parts))


def decode_results(data: bytes) -> list[tuple[bool, bytes]]:
    """Whether each read succeeded, and its bytes. Raises DecodingError for anything of another shape."""
    start = _read(data, 0)
    count = _read(data, start)
    first = start + _WORD
    if count * _WORD > len(data):
        raise InsufficientDataBytes("more results than bytes")
    results = []
    for index in range(count):
        at = first + _read(data, first + _WORD * index)
        succeeded = _read(data, at)
        body = at + _read(data, at + _WORD)
        length = _read(data, body)
        found = data[body + _WORD : body + _WORD + length]
        if succeeded > 1 or len(found) != length:
            raise InsufficientDataBytes("a result of another shape")
        results.append((bool(succeeded), found))
    return results


def _word(value: int) -> bytes:
    return value.to_bytes(_WORD, "big")


def _read(data: bytes, at: int) -> int:
    word = data[at : at + _WORD]
    if len(word) != _WORD:
        raise InsufficientDataBytes("the bytes end early")
    return int.from_bytes(word, "big")
