"""Single words of the ABI, written from Python values; each refuses what does not fit its type."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final


def word_kind(kind: str) -> str:
    """The kind of a type that is one word, without its size; empty for every other type."""
    match = re.fullmatch(r"(uint|int|bytes)[0-9]+|address|bool", kind)
    return (match.group(1) or kind) if match else ""


def word_size(kind: str) -> int:
    """The digits at the end of a type; 0 without any."""
    digits = re.search(r"[0-9]+$", kind)
    return int(digits.group()) if digits else 0


def _pack_uint(value: object, bits: int) -> bytes:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0 or value >> bits:
        raise ValueError(f"{value!r} is no uint{bits}")
    return int(value).to_bytes(32, "big")


def _pack_int(value: object, bits: int) -> bytes:
    if not isinstance(value, int) or isinstance(value, bool) or not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"{value!r} is no int{bits}")
    return int(value).to_bytes(32, "big", signed=True)


def _pack_address(value: object, _: int) -> bytes:
    raw = bytes.fromhex(value[2:]) if isinstance(value, str) and value[:2] == "0x" else value
    if not isinstance(raw, bytes) or len(raw) != 20:
        raise ValueError(f"{value!r} is no address")
    return b"\0" * 12 + raw


def _pack_bool(value: object, _: int) -> bytes:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is no bool")
    return value.to_bytes(32, "big")


def _pack_bytes(value: object, size: int) -> bytes:
    if not isinstance(value, bytes) or len(value) > size:
        raise ValueError(f"{value!r} is no bytes{size}")
    return value.ljust(32, b"\0")


WORD_PACKERS: Final[dict[str, Callable[[Any, int], bytes]]] = {  # Any: a value of the ABI's type
    "uint": _pack_uint,
    "int": _pack_int,
    "address": _pack_address,
    "bool": _pack_bool,
    "bytes": _pack_bytes,
}
