"""SHA-256 over RFC 8785 canonical JSON: the one way this product names bytes it will stand by.

Integers are written as decimal strings before hashing, because canonical JSON has no exact integers
above 2**53 and amounts do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import rfc8785

# In C, and four times as fast as a canonical encoder in Python; every preview hashes kilobytes three times.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hash_canonical(value: Any) -> str:  # Any: a value of any type is walked
    """`0x`-prefixed SHA-256 of the canonical JSON of `value` (str, int, bool, None, bytes, lists, mappings)."""
    return "0x" + hashlib.sha256(canonical_bytes(value)).hexdigest()


def canonical_bytes(value: object) -> bytes:
    """RFC 8785 bytes of `value` with integers as decimal strings and bytes as 0x-hex."""
    exact = _exact(value)
    text = _ENCODER.encode(exact)
    # Beyond ASCII the orders of code points and of UTF-16 units part; without numbers nothing else could differ.
    return text.encode() if text.isascii() else rfc8785.dumps(exact)


def _exact(value: Any) -> Any:  # Any: a value of any type is walked
    kind = type(value)
    # What nearly everything is, before the questions that subclasses and other mappings need; texts without a call.
    if kind is dict:
        return {
            name if type(name) is str else str(name): member if type(member) is str else _exact(member)
            for name, member in value.items()
        }
    if kind is list or kind is tuple:
        return [member if type(member) is str else _exact(member) for member in value]
    if kind is int:
        return str(value)
    if kind is str or value is None or kind is bool:
        return value
    return _exact_other(value)


def _exact_other(value: object) -> object:
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return "0x" + bytes(value).hex()
    if isinstance(value, Mapping):
        return {str(k): _exact(v) for k, v in value.items()}
    if isinstance(value, Sequence):
        return [_exact(v) for v in value]
    raise TypeError(f"{type(value).__name__} has no canonical form; hash integers and strings only")
