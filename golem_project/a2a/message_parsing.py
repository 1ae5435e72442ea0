"""Reads what an A2A message asks for. Only its data part can ask; its text is never followed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from a2a.types import a2a_pb2 as wire
from google.protobuf.json_format import MessageToDict

from golem_project.a2a.errors import NumberNotExact, PartNotTaken
from golem_project.pi.parsers import parse_object, without_secrets
from tools_app.core.errors import InvalidParams
from tools_app.core.hashing import hash_canonical

MOST_LEVELS = 14
"""A tool call is 8 levels at most, and the protocol's envelope goes around it."""
LARGEST_EXACT = 2**53 - 1
"""The protocol's numbers are doubles: beyond it they are not what was written."""
_WHOLE = re.compile(r"-?[0-9]{1,15}\.0")
FORM = {"skill": "query_state", "params": {"query": "golem"}}


@dataclass(frozen=True, slots=True)
class Ask:
    """One tool and its parameters, as the agent API takes them."""

    skill: str
    params: dict[str, Any]

    @property
    def digest(self) -> str:
        """Moves with anything that is asked."""
        return hash_canonical({"skill": self.skill, "params": self.params})


def read_body(raw: bytes) -> dict[str, Any]:
    """The body as an object whose numbers mean what was written. Raises the errors of a body, NumberNotExact."""
    body = parse_object(raw, most_levels=MOST_LEVELS, read_fraction=_read_fraction)
    _check_numbers(body)
    return body


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


def read_handed_in(message: wire.Message) -> Any:
    """The payment that a message hands in by the x402 extension; None where it hands none in."""
    told = MessageToDict(message.metadata)
    return _as_written(told["x402.payment.payload"]) if told.get("x402.payment.payload") else None


def _read_data(data: Any) -> Ask:
    if not isinstance(data, dict):
        raise InvalidParams("the data part must be an object", example=FORM)
    unknown = sorted(set(data) - {"skill", "params"})
    skill, params = data.get("skill"), data.get("params", {})
    if unknown or not isinstance(skill, str) or not isinstance(params, dict) or not 0 < len(skill) <= 32:
        raise InvalidParams(
            "the data part names a skill and its params, and nothing else",
            fields=dict.fromkeys(unknown, "unknown") or {"skill": "text", "params": "object"},
            example=FORM,
        )
    return Ask(skill=skill, params=without_secrets(params))


def _read_fraction(text: str) -> Any:
    # Clients write the protocol's doubles so: 300.0 is a whole number all the same.
    return int(float(text)) if _WHOLE.fullmatch(text) else _refuse_number(text)


def _refuse_number(text: str) -> Any:
    raise NumberNotExact(f"{text[:40]} would be rounded on the way; write it as text")


def _as_written(value: Any) -> Any:
    """The protocol's doubles as the integers that `read_body` let through."""
    if isinstance(value, dict):
        return {name: _as_written(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_as_written(member) for member in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else _refuse_number(str(value))
    return value


def _check_numbers(value: Any) -> None:
    if isinstance(value, dict):
        for member in value.values():
            _check_numbers(member)
    elif isinstance(value, list):
        for member in value:
            _check_numbers(member)
    elif isinstance(value, int) and abs(value) > LARGEST_EXACT:
        _refuse_number(str(value))
