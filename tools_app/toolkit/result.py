"""ToolResult, and the encoder that puts an amount in units beside every amount in base units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

from tools_app.core.units import MICRO_USD_PER_USD, format_units
from tools_app.toolkit.views import TokenMeta

_LARGEST_JSON_INTEGER = 2**53 - 1


@dataclass(frozen=True, slots=True)
class TokenAmount:
    """Base units of a token. Encodes as a decimal string plus a sibling `<field>_units`."""

    raw: int
    token: TokenMeta


@dataclass(frozen=True, slots=True)
class UsdAmount:
    """Micro-USD. Encodes as decimal text of dollars."""

    micro: int


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer of any tool. `data` is JSON-ready; expected and actual are filled by writes.

    `ground_truth_source` is receipt, balance_check or none.
    """

    data: Any  # Any: an answer of any tool
    is_error: bool = False
    schema_version: int = 1
    expected_outcome: object = None
    actual_outcome: object = None
    ground_truth_source: str | None = None

    def as_dict(self) -> dict[str, Any]:  # Any: an answer of any tool
        return {f.name: getattr(self, f.name) for f in fields(self)}


class FailedAnswer(dict[str, Any]):  # Any: an answer of any tool
    """A handler's answer that tells of an error beside what was done; the result then says `is_error`."""


def wrap_answer(answer: object, *, schema_version: int) -> ToolResult:
    """The result of what a handler answered."""
    is_error = isinstance(answer, FailedAnswer)
    return ToolResult(data=encode_result(answer), is_error=is_error, schema_version=schema_version)


def encode_result(value: object) -> Any:  # Any: an answer of any tool
    """JSON-ready form of a handler's answer: dataclasses become objects, amounts strings with units beside them."""
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, Enum) else value
    if isinstance(value, int):
        return int(value) if abs(value) <= _LARGEST_JSON_INTEGER else str(int(value))
    if isinstance(value, TokenMeta):
        shown = {"address": value.address, "symbol": value.symbol, "decimals": value.decimals}
        # A name that its own contract gave is a stranger's words.
        return shown if value.is_registered else {**shown, "untrusted": True}
    if isinstance(value, UsdAmount):
        return f"{Decimal(value.micro) / MICRO_USD_PER_USD:.6f}"
    if isinstance(value, TokenAmount):
        return {"raw": str(value.raw), "units": _units(value)}
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if is_dataclass(value) and not isinstance(value, type):
        return _encode_members({f.name: getattr(value, f.name) for f in fields(value)})
    if isinstance(value, Mapping):
        return _encode_members(value)
    if isinstance(value, list | tuple):
        return [encode_result(item) for item in value]
    raise TypeError(f"{type(value).__name__} cannot be part of a tool's answer")


def _encode_members(members: Mapping[object, object]) -> dict[str, object]:
    encoded: dict[str, object] = {}
    for key, member in members.items():
        if isinstance(member, TokenAmount):
            encoded[str(key)] = str(member.raw)
            encoded[f"{key}_units"] = _units(member)
        else:
            encoded[str(key)] = encode_result(member)
    return encoded


def _units(amount: TokenAmount) -> str:
    return format_units(amount.raw, amount.token.decimals, amount.token.symbol)
