"""Reads what an A2A message asks for. Only its data part can ask; its text is never followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from a2a.types import a2a_pb2 as wire
from google.protobuf.json_format import MessageToDict

from golem_project.a2a.errors import NumberNotExact, PartNotTaken
from golem_project.pi.parsers import parse_object, without_secrets
from tools_app.core.errors import InvalidParams
from tools_app.core.exact_numbers import LARGEST_EXACT, read_whole
from tools_app.core.hashing import hash_canonical
from tools_app.core.stored_json import read_stored

MOST_LEVELS = 14
"""A tool call is 8 levels at most, and the protocol's envelope goes around it."""
FORM = {"skill": "query_state", "params": {"query": "golem"}}


@dataclass(frozen=True, slots=True)
class Ask:
    """One tool and its parameters, as the agent API takes them."""

    skill: str
    params: dict[str, Any]  # Any: a tool's parameters, read by its schema

    @property
    def digest(self) -> str:
        """Moves with anything that is asked."""
        return hash_canonical({"skill": self.skill, "params": self.params})


@dataclass(frozen=True, slots=True)
class _ToldAsk:
    """What is asked before anything of it is checked."""

    skill: object = None
    params: object = field(default_factory=dict)


def read_body(raw: bytes) -> dict[str, object]:
    """The body as an object whose integers arrive as written. Raises the errors of a body, NumberNotExact."""
    # The protocol's numbers are doubles: beyond `LARGEST_EXACT` they are not what was written.
    body = parse_object(raw, most_levels=MOST_LEVELS, read_fraction=_read_fraction)
    _check_numbers(body)
    return body


def check_parts(body: Mapping[str, object]) -> None:
    """Raises PartNotTaken where a part of the message in `body` is a file: a type that is not taken."""
    match body:
        case {"message": {"parts": list(parts)}}:
            pass
        case _:
            return
    for part in parts:
        strange = sorted({"raw", "url", "file"} & set(part)) if isinstance(part, Mapping) else []
        if strange:
            raise PartNotTaken(f"a part is {', '.join(strange)}; send text or data", taken=["text", "data"])


def read_ask(message: wire.Message) -> Ask | None:
    """What the message's one data part asks for; None where it holds text alone. Raises PartNotTaken, InvalidParams."""
    kinds = [part.WhichOneof("content") for part in message.parts]
    if not kinds:
        raise InvalidParams("a message needs a part", fields={"parts": "empty"})
    strange = sorted({kind or "empty" for kind in kinds if kind not in ("text", "data")})
    if strange:
        raise PartNotTaken(f"a part is {', '.join(strange)}; send text or data", taken=["text", "data"])
    asked = [part for part, kind in zip(message.parts, kinds, strict=True) if kind == "data"]
    if not asked:
        return None
    if len(asked) > 1:
        raise InvalidParams("a message asks for one thing: send one data part", fields={"parts": "several data parts"})
    return _read_data(_as_written(MessageToDict(asked[0].data)))


def read_handed_in(message: wire.Message) -> object:
    """The payment that a message hands in by the x402 extension; None where it hands none in."""
    told = MessageToDict(message.metadata)
    match told:
        case {"x402.payment.payload": payload} if payload:
            return _as_written(payload)
    return None


def _read_data(data: object) -> Ask:
    if not isinstance(data, dict):
        raise InvalidParams("the data part must be an object", example=FORM)
    unknown = sorted(set(data) - {"skill", "params"})
    told = read_stored(_ToldAsk, data)
    skill, params = told.skill, told.params
    if unknown or not isinstance(skill, str) or not isinstance(params, dict) or not 0 < len(skill) <= 32:
        raise InvalidParams(
            "the data part names a skill and its params, and nothing else",
            fields=dict.fromkeys(unknown, "unknown") or {"skill": "text", "params": "object"},
            example=FORM,
        )
    return Ask(skill=skill, params=without_secrets(params))


def _read_fraction(text: str) -> int | float:
    whole = read_whole(text)
    number = float(text) if whole is None else whole
    return number if abs(number) <= LARGEST_EXACT else _refuse_number(text)


def _refuse_number(text: str) -> NoReturn:
    raise NumberNotExact(f"{text[:40]} would be rounded on the way; write all its digits as text")


def _as_written(value: object) -> object:
    """The protocol's doubles as the integers that `read_body` let through; a fraction is the text it was."""
    if isinstance(value, dict):
        return {name: _as_written(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_as_written(member) for member in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= LARGEST_EXACT else repr(value)
    return value


def _check_numbers(value: object) -> None:
    if isinstance(value, dict):
        for member in value.values():
            _check_numbers(member)
    elif isinstance(value, list):
        for member in value:
            _check_numbers(member)
    elif isinstance(value, int) and abs(value) > LARGEST_EXACT:
        _refuse_number(str(value))
