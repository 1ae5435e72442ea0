"""One meaning, one spelling: how a parameter is written once it is checked, and what it names on a chain.

What can be told from the value alone is written so when it is checked, by the types of `params.py`: numbers without
zeros that say nothing, hex in lower case. What needs to know where (a symbol is a token of one chain) is marked with
its `Meaning` and resolved when two actions are compared.

See docs/decisions/0128-equal-actions-same-tool-and-same-meaning-of-parameters.md
and docs/decisions/0311-parameters-have-one-spelling-once-they-are-checked.md.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import PurePosixPath
from typing import Annotated, Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tools_app.core.bounded_parsing import read_exact_json

_LONGEST_JSON: Final = 64_000
NOBODY: Final = "0x" + "00" * 20


class Meaning(Enum):
    """What a parameter means where its text alone does not tell."""

    TOKEN = auto()
    """A symbol or an address of a registered token."""
    TOKEN_PAIR = auto()
    """Two of them with a stroke between."""
    ROUTE = auto()
    """A route with perhaps a hub token in it."""
    LENDER = auto()
    """A lender by its name, or the first word of it where only one has that."""
    OWN_ACCOUNT = auto()
    """An account that can be none but the golem's: named or nobody, it is as left out."""
    NOBODY = auto()
    """An address for which nobody is as left out."""
    ANY_ORDER = auto()
    """A list whose order says nothing, nor does naming one twice."""
    JSON = auto()
    """A JSON document as text."""
    PATH = auto()
    """A path; `./a` and `a` are one."""


@dataclass(frozen=True, slots=True)
class SpellingContext:
    """Where parameters are meant: the golem's account, `token` gives a registered token's address (or what it was
    given), `lenders` the names of the chain's lenders.
    """

    account: str
    token: Callable[[str], str]
    lenders: Callable[[], Sequence[str]]


def spell_decimal(text: str) -> str:
    """`-007.50` -> `-7.5`; zero has no sign."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, fraction = digits.partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    spelt = f"{whole}.{fraction}" if fraction else whole
    return spelt if spelt == "0" else sign + spelt


def spell_whole(text: str) -> str:
    """`007` -> `7`."""
    return text.lstrip("0") or "0"


def spell_route(text: str) -> str:
    """`v3:0500>USDC>v2@020` -> `v3:500>USDC>v2@20`."""
    path, at, most = text.partition("@")
    steps = []
    for step in path.split(">"):
        kind, colon, fee = step.partition(":")
        which = fee.lower() if fee.lower().startswith("0x") else spell_whole(fee)
        steps.append(f"{kind}:{which}" if colon else kind)
    return ">".join(steps) + (f"@{spell_whole(most)}" if at else "")


def has_meaning(field: FieldInfo, meaning: Meaning) -> bool:
    """Whether a parameter is marked so, also one that may be left out; a list of such is not."""
    return field.annotation is not None and _has(Annotated[field.annotation, *field.metadata, None], meaning)


def _has(annotation: object, meaning: Meaning) -> bool:
    if typing.get_origin(annotation) is list:
        return False
    inside = typing.get_args(annotation)
    return meaning in inside or any(_has(each, meaning) for each in inside)


def spell_params(model: type[BaseModel], params: Mapping[str, object], place: SpellingContext) -> dict[str, object]:
    """Checked `params` as they are meant at `place`; what is not set, or says what its absence says, is left out."""
    spelt = {}
    for name, value in params.items():
        field = model.model_fields.get(name)
        if field is not None and isinstance(value, str | list):
            value = _spell(Annotated[field.annotation, *field.metadata, None], value, place)
        if value is not None:
            spelt[name] = value
    return spelt


def _spell(annotation: Any, value: Any, place: SpellingContext) -> Any:  # Any: pydantic takes any annotation
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        inner, *marks = typing.get_args(annotation)
        value = _spell(inner, value, place)
        for mark in marks:
            if isinstance(mark, Meaning) and value is not None:
                value = _SPELL[mark](value, place)
    elif origin in (typing.Union, types.UnionType):
        for each in typing.get_args(annotation):
            value = _spell(each, value, place)
    elif origin is list and isinstance(value, list):
        (inner,) = typing.get_args(annotation)
        value = [_spell(inner, each, place) for each in value]
    return value


def _spell_pair(value: str, place: SpellingContext) -> str:
    return "/".join(place.token(side) for side in value.split("/"))


def _spell_hub(value: str, place: SpellingContext) -> str:
    steps = value.split(">")
    return ">".join(place.token(step) if index == 1 else step for index, step in enumerate(steps))


def _spell_lender(value: str, place: SpellingContext) -> str:
    names = place.lenders()
    found = [value] if value in names else [each for each in names if each.partition("_")[0] == value]
    return found[0] if len(found) == 1 else value


def _spell_json(value: str, _: SpellingContext) -> str:
    try:
        told = read_exact_json(value, most_bytes=_LONGEST_JSON)
        return json.dumps(told, sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        # The tool itself says what is wrong with it.
        return value


_SPELL: Final[Mapping[Meaning, Callable[[Any, SpellingContext], Any]]] = {  # Any: pydantic takes any annotation
    Meaning.TOKEN: lambda value, place: place.token(value),
    Meaning.TOKEN_PAIR: _spell_pair,
    Meaning.ROUTE: _spell_hub,
    Meaning.LENDER: _spell_lender,
    Meaning.OWN_ACCOUNT: lambda value, place: None if value in (place.account, NOBODY) else value,
    Meaning.NOBODY: lambda value, _: None if value == NOBODY else value,
    Meaning.ANY_ORDER: lambda value, _: sorted(set(value)),
    Meaning.JSON: _spell_json,
    Meaning.PATH: lambda value, _: str(PurePosixPath(value)),
}
