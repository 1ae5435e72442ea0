"""Reads events, structs of an ABI and typed data into frozen dataclasses of ours.

    @dataclass(frozen=True, slots=True)
    class Deposited:
        deposit_id: int
        from_: str

    DEPOSITED: Final = AbiEvent("event Deposited(uint256 depositId, address from)", Deposited)
    DEPOSITED.read(log)  # a Deposited, or None where the log is none

A field is the argument of its name, where capitals and underscores do not count; arguments that no field asks for are
left out. Names and types are compared once, when the reader is made, so that a wrong field fails at import.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import itemgetter
from typing import Final, Generic, TypeVar

from tools_app.chain.abi import decode_event, event_topic
from tools_app.chain.signatures import AbiParam, parse_signature
from tools_app.toolkit.context import AbiValue
from tools_app.toolkit.views import LogEntry

T = TypeVar("T")

Fields = tuple[tuple[str, str], ...]
_KINDS: Final[Mapping[str, type]] = {
    "uint": int,
    "int": int,
    "address": str,
    "string": str,
    "bool": bool,
    "bytes": bytes,
}
_MESSAGE_KINDS: Final[Mapping[str, type]] = {**_KINDS, "bytes": str}


class AbiEvent(Generic[T]):
    """One event of a contract, and the record that its logs are read into."""

    def __init__(self, signature: str, record: type[T]) -> None:
        self.signature: Final = signature
        self.topic: Final = event_topic(signature)
        self._make: Final = make_reader(parse_signature(signature).inputs, record)

    def read(self, log: LogEntry) -> T | None:
        """What the log says, or None when it is not this event."""
        values = decode_event(self.signature, log)
        return None if values is None else self._make(values)

    def list(self, logs: Iterable[LogEntry]) -> list[T]:
        """What those of the logs say that are this event, in their order."""
        return [found for log in logs if (found := self.read(log)) is not None]


class TypedStruct(Generic[T]):
    """One struct of typed data (EIP-712), and the record that a message of it is read into; bytes stay 0x-hex."""

    def __init__(self, structs: Mapping[str, Fields], name: str, record: type[T]) -> None:
        params = _list_params(structs, name)
        self._make: Final = make_reader(params, record, kinds=_MESSAGE_KINDS, keys=[each.name for each in params])

    def read(self, message: Mapping[str, object]) -> T:
        """The record of a message. Raises KeyError for a field that it does not have."""
        return self._make(message)


def make_reader(
    params: Sequence[AbiParam],
    record: type[T],
    *,
    kinds: Mapping[str, type] = _KINDS,
    keys: Sequence[object] | None = None,
) -> Callable[[AbiValue], T]:
    """Makes what turns values in the order of `params`, or under `keys`, into a record. Raises TypeError for a field
    that fits none.
    """
    if not is_dataclass(record):
        raise TypeError(f"{record.__name__} is no dataclass")
    places = {_fold(param.name): index for index, param in enumerate(params) if param.name}
    hints = typing.get_type_hints(record)
    picks: list[Callable[[AbiValue], object]] = []
    for field in fields(record):
        place = places.get(_fold(field.name))
        if place is None:
            raise TypeError(f"{record.__name__}.{field.name} is none of {[param.name for param in params]}")
        convert = _Field(record.__name__, kinds, by_name=keys is not None).convert(
            params[place], params[place].type, hints[field.name]
        )
        picks.append(_pick(place if keys is None else keys[place], convert))
    return lambda values: record(*[pick(values) for pick in picks])


def _list_params(structs: Mapping[str, Fields], name: str) -> list[AbiParam]:
    return [
        AbiParam(kind, field, tuple(_list_params(structs, base)) if (base := kind.split("[")[0]) in structs else ())
        for field, kind in structs[name]
    ]


def _pick(key: object, convert: Callable[[AbiValue], object] | None) -> Callable[[AbiValue], object]:
    return itemgetter(key) if convert is None else lambda values: convert(values[key])


@dataclass(frozen=True, slots=True)
class _Field:
    """What a field of `record` is made of."""

    record: str
    kinds: Mapping[str, type]
    by_name: bool

    def convert(self, param: AbiParam, kind: str, hint: object) -> Callable[[AbiValue], object] | None:
        """What makes the field of the value; None where the value is the field as it is. Raises TypeError."""
        if param.is_indexed and param.is_dynamic:
            return self._check(bytes, kind, hint)
        if kind.endswith("]"):
            if typing.get_origin(hint) is not tuple or typing.get_args(hint)[1:] != (Ellipsis,):
                raise TypeError(f"{kind} {param.name} of {self.record} is a tuple[…, ...], no {hint}")
            each = self.convert(param, kind[: kind.rindex("[")], typing.get_args(hint)[0])
            return tuple if each is None else lambda values: tuple(map(each, values))
        if param.members:
            if not isinstance(hint, type):
                raise TypeError(f"{param.name} of {self.record} is a struct, no {hint}")
            keys = [each.name for each in param.members] if self.by_name else None
            return make_reader(param.members, hint, kinds=self.kinds, keys=keys)
        return self._check(self.kinds[kind.rstrip("0123456789")], kind, hint)

    def _check(self, wanted: type, kind: str, hint: object) -> Callable[[AbiValue], object] | None:
        if hint is not wanted:
            raise TypeError(f"a {kind} of {self.record} is {wanted.__name__}, no {hint}")
        return None


def _fold(name: str) -> str:
    return name.replace("_", "").lower()
