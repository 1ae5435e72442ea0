"""The digest of typed data (EIP-712), written from the standard and not with the library that signs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eth_utils.crypto import keccak

from tools_app.toolkit.typed_data import DOMAIN, TypedData

Structs = Mapping[str, Sequence[tuple[str, str]]]


def hash_typed_data(typed: TypedData) -> bytes:
    """32 bytes. Raises ValueError for a value that is not of its type, KeyError for a field that is missing."""
    structs: Structs = {DOMAIN: typed.domain_type, **typed.types}
    _check_fields(typed.domain, typed.domain_type)
    domain = hash_struct(DOMAIN, typed.domain, structs)
    return bytes(keccak(b"\x19\x01" + domain + hash_struct(typed.primary_type, typed.message, structs)))


def hash_struct(name: str, values: Mapping[str, Any], structs: Structs) -> bytes:  # Any: typed data (EIP-712)
    """32 bytes of one struct, without a domain. Raises as `hash_typed_data`."""
    _check_fields(values, structs[name])
    words = (_encode(kind, values[field], structs) for field, kind in structs[name])
    return bytes(keccak(keccak(text=_describe(name, structs)) + b"".join(words)))


def _check_fields(values: Mapping[str, object], fields: Sequence[tuple[str, str]]) -> None:
    if set(values) != {field for field, _ in fields}:
        raise ValueError("typed data has fields that its type does not, or lacks some")


def _describe(name: str, structs: Structs) -> str:
    used: dict[str, None] = {}
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each not in used:
            used[each] = None
            waiting += [base for _, kind in structs[each] if (base := kind.partition("[")[0]) in structs]
    ordered = [name, *sorted(used.keys() - {name})]
    return "".join(f"{each}({','.join(f'{kind} {field}' for field, kind in structs[each])})" for each in ordered)


def _encode(kind: str, value: Any, structs: Structs) -> bytes:  # Any: typed data (EIP-712)
    if kind.endswith("]"):
        inner, _, count = kind[:-1].rpartition("[")
        if count and len(value) != int(count):
            raise ValueError(f"{len(value)} values for {kind}")
        return bytes(keccak(b"".join(_encode(inner, each, structs) for each in value)))
    if kind in structs:
        return hash_struct(kind, value, structs)
    if kind == "string":
        return bytes(keccak(text=value))
    if kind == "bytes":
        return bytes(keccak(_raw(value)))
    if kind == "bool":
        return int(bool(value)).to_bytes(32, "big")
    if kind == "address":
        return _sized(_raw(value), 20, kind).rjust(32, b"\0")
    if kind.startswith("bytes"):
        return _sized(_raw(value), int(kind[5:]), kind).ljust(32, b"\0")
    return _encode_number(kind, value)


def _encode_number(kind: str, value: object) -> bytes:
    is_signed = kind.startswith("int")
    if not (is_signed or kind.startswith("uint")) or isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{kind} is no type of typed data, or its value no number")
    bits = int(kind.removeprefix("u").removeprefix("int"))
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    if not least <= value <= most:
        raise ValueError(f"{value} is no {kind}")
    return (value % (1 << 256)).to_bytes(32, "big")


def _raw(value: Any) -> bytes:  # Any: typed data (EIP-712)
    return bytes.fromhex(str(value).removeprefix("0x"))


def _sized(raw: bytes, size: int, kind: str) -> bytes:
    if len(raw) != size:
        raise ValueError(f"{len(raw)} bytes for {kind}")
    return raw
