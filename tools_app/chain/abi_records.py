"""Reads events, and structs of an ABI, into frozen dataclasses of ours.

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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from operator import itemgetter
from typing import Final, Generic, TypeVar

from tools_app.chain.abi import decode_event, event_topic
from tools_app.chain.signatures import AbiParam, parse_signature
from tools_app.toolkit.context import AbiValue, AbiValues
from tools_app.toolkit.views import LogEntry

T = TypeVar("T")

_KINDS: Final = {"uint": int, "int": int, "address": str, "string": str, "bool": bool, "bytes": bytes}


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


def make_reader(params: Sequence[AbiParam], record: type[T]) -> Callable[[AbiValues], T]:
    """Makes what turns values in the order of `params` into a record. Raises TypeError for a field that fits none."""
    if not is_dataclass(record):
        raise TypeError(f"{record.__name__} is no dataclass")
    places = {_fold(param.name): index for index, param in enumerate(params) if param.name}
    hints = typing.get_type_hints(record)
    picks: list[Callable[[AbiValues], object]] = []
    for field in fields(record):
        place = places.get(_fold(field.name))
        if place is None:
            raise TypeError(f"{record.__name__}.{field.name} is none of {[param.name for param in params]}")
        picks.append(_pick(place, _convert(params[place], params[place].type, hints[field.name], record)))
    return lambda values: record(*[pick(values) for pick in picks])


def _pick(place: int, convert: Callable[[AbiValue], object] | None) -> Callable[[AbiValues], object]:
    return itemgetter(place) if convert is None else lambda values: convert(values[place])


def _convert(param: AbiParam, kind: str, hint: object, record: type) -> Callable[[AbiValue], object] | None:
    """What makes the field of the value; None where the value is the field as it is. Raises TypeError."""
    if param.is_indexed and param.is_dynamic:
        _check(bytes, kind, hint, record)
        return None
    if kind.endswith("]"):
        if typing.get_origin(hint) is not tuple or typing.get_args(hint)[1:] != (Ellipsis,):
            raise TypeError(f"{kind} {param.name} of {record.__name__} is a tuple[…, ...], no {hint}")
        each = _convert(param, kind[: kind.rindex("[")], typing.get_args(hint)[0], record)
        return tuple if each is None else lambda values: tuple(map(each, values))
    if param.members:
        if not isinstance(hint, type):
            raise TypeError(f"{param.name} of {record.__name__} is a struct, no {hint}")
        return make_reader(param.members, hint)
    _check(_KINDS[kind.rstrip("0123456789")], kind, hint, record)
    return None


def _check(wanted: type, kind: str, hint: object, record: type) -> None:
    if hint is not wanted:
        raise TypeError(f"a {kind} of {record.__name__} is {wanted.__name__}, no {hint}")


def _fold(name: str) -> str:
    return name.replace("_", "").lower()
