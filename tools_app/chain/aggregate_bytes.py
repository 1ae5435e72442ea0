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
    start, size, number = _read(data, 0), len(data), int.from_bytes
    count, first = _read(data, start), start + _WORD
    if count * _WORD > size - first:
        raise InsufficientDataBytes("more results than bytes")
    results = []
    for index in range(first, first + count * _WORD, _WORD):
        at = first + number(data[index : index + _WORD], "big")
        body = at + _read(data, at + _WORD)
        end = body + _WORD + _read(data, body)
        # The word before one that was read whole is whole.
        succeeded = number(data[at : at + _WORD], "big")
        if succeeded > 1 or end > size:
            raise InsufficientDataBytes("a result of another shape")
        results.append((succeeded == 1, data[body + _WORD : end]))
    return results


def _word(value: int) -> bytes:
    return value.to_bytes(_WORD, "big")


def _read(data: bytes, at: int) -> int:
    word = data[at : at + _WORD]
    if len(word) != _WORD:
        raise InsufficientDataBytes("the bytes end early")
    return int.from_bytes(word, "big")
