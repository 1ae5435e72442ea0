"""Typed data as EIP-712 says it: what an account signs without sending anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

DOMAIN: Final = "EIP712Domain"
DOMAIN_FIELDS: Final = (
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
)


@dataclass(frozen=True, slots=True)
class TypedData:
    """One document. `types` are structs by name as (field, type) pairs, without the domain's; integers are integers,
    bytes 0x-hex. The domain names its chain and its contract, so that it says nothing to any other.
    """

    domain: Mapping[str, Any]  # Any: a value of the struct's type
    primary_type: str
    types: Mapping[str, tuple[tuple[str, str], ...]]
    message: Mapping[str, Any]  # Any: a value of the struct's type

    @property
    def contract(self) -> str:
        """Who reads the signature."""
        return str(self.domain["verifyingContract"])

    @property
    def chain_id(self) -> int:
        return int(self.domain["chainId"])

    @property
    def domain_type(self) -> tuple[tuple[str, str], ...]:
        """The fields that this domain has, in their order."""
        return tuple(field for field in DOMAIN_FIELDS if field[0] in self.domain)

    def as_document(self) -> dict[str, object]:
        """As wallets are handed it (`eth_signTypedData_v4`)."""
        structs = {DOMAIN: self.domain_type, **self.types}
        return {
            "types": {name: [{"name": n, "type": t} for n, t in fields] for name, fields in structs.items()},
            "primaryType": self.primary_type,
            "domain": dict(self.domain),
            "message": dict(self.message),
        }

    def as_json(self) -> dict[str, Any]:  # Any: a value of the struct's type
        """JSON-ready: the document with integers as decimal text, which keeps every digit."""
        return {
            **self.as_document(),
            "domain": _to_text(self.domain, self.domain_type, {}),
            "message": _to_text(self.message, self.types[self.primary_type], self.types),
        }

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> TypedData:  # Any: a value of the struct's type
        """What `as_json` kept. Raises KeyError, ValueError."""
        structs = {
            name: tuple((field["name"], field["type"]) for field in fields) for name, fields in kept["types"].items()
        }
        domain_type = structs.pop(DOMAIN)
        primary = kept["primaryType"]
        return cls(
            domain=_of_text(kept["domain"], domain_type, {}),
            primary_type=primary,
            types=structs,
            message=_of_text(kept["message"], structs[primary], structs),
        )


Fields = tuple[tuple[str, str], ...]


def _to_text(
    values: Mapping[str, Any],  # Any: a value of the struct's type
    fields: Fields,
    structs: Mapping[str, Fields],
) -> dict[str, object]:
    return {name: _convert(values[name], kind, structs, is_reading=False) for name, kind in fields}


def _of_text(
    values: Mapping[str, Any],  # Any: a value of the struct's type
    fields: Fields,
    structs: Mapping[str, Fields],
) -> dict[str, object]:
    return {name: _convert(values[name], kind, structs, is_reading=True) for name, kind in fields}


def _convert(
    value: Any,  # Any: a value of the struct's type
    kind: str,
    structs: Mapping[str, Fields],
    *,
    is_reading: bool,
) -> object:
    if kind.endswith("]"):
        return [_convert(each, kind[: kind.rindex("[")], structs, is_reading=is_reading) for each in value]
    if kind in structs:
        return (_of_text if is_reading else _to_text)(value, structs[kind], structs)
    if kind.startswith(("uint", "int")):
        return int(value) if is_reading else str(value)
    return value
