"""Parameters that were written down as data (an owner's definition) become a model like a handler's own.

A closed list of kinds, each with the checks that the same word has everywhere else; `Field` comes first, as in
`toolkit/params.py`. No patterns of others are run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, create_model

from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.params import (
    EXACT,
    PLAIN,
    check_address,
    check_positive,
    check_token,
    check_whole,
    parse_raw_amount,
)
from tools_app.toolkit.schema import ToolParams

MOST_PARAMETERS: Final = 16
LONGEST_TEXT: Final = 2_000
_NAME: Final = re.compile(r"^[a-z][a-z0-9_]{0,39}$")
_CHOICE: Final = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,39}$")
_LARGEST: Final = 2**53 - 1
# Words of a call itself: a parameter of that name would take their place.
TAKEN_NAMES: Final = frozenset(
    {"query", "venue", "cursor", "params", "action_type", "kind", "type", "why", "wish_id", "read"}
)
_MORE: Final = {"integer": {"minimum", "maximum"}, "text": {"longest"}, "choice": {"values"}}
KINDS: Final = ("token", "address", "amount", "chain_id", "text", "integer", "flag", "choice")


class DeclarationRefused(ValueError):
    """A declared parameter that is none of the kinds, or lacks what its kind needs."""


def build_declared_model(
    title: str,
    declared: Mapping[str, Any],  # Any: pydantic takes any annotation
    *,
    is_exact: bool = False,
) -> type[ToolParams]:
    """The parameter model of `declared`: {name: {kind, description, required?, and what the kind takes}}.

    With `is_exact` a text with characters that nobody sees, line ends included, is refused instead of mended. Raises
    DeclarationRefused.
    """
    if len(declared) > MOST_PARAMETERS:
        raise DeclarationRefused(f"at most {MOST_PARAMETERS} parameters")
    members: dict[str, Any] = {}  # Any: pydantic takes any annotation
    for name, told in declared.items():
        if not _NAME.match(name) or name in TAKEN_NAMES:
            raise DeclarationRefused(f"{name[:40]!r} cannot be the name of a parameter")
        if not isinstance(told, Mapping):
            raise DeclarationRefused(f"{name}: a table of kind and description")
        kind, description = told.get("kind"), told.get("description")
        if kind not in KINDS:
            raise DeclarationRefused(f"{name}: its kind is one of {', '.join(KINDS)}")
        if not isinstance(description, str) or not description.strip():
            raise DeclarationRefused(f"{name}: it needs a description")
        strange = set(told) - {"kind", "description", "required"} - _MORE.get(str(kind), set())
        if strange:
            raise DeclarationRefused(f"{name}: a parameter of this kind takes no {', '.join(sorted(strange))}")
        if not isinstance(told.get("required", True), bool):
            raise DeclarationRefused(f"{name}: required is true or false")
        if name == "chain_id" and kind != "chain_id":
            raise DeclarationRefused("chain_id is of the kind chain_id")
        annotation = _annotate(name, str(kind), description, told, EXACT if is_exact else PLAIN)
        members[name] = (annotation, ...) if told.get("required", True) else (annotation | None, None)
    return create_model(title, __base__=ToolParams, **members)


def _annotate(
    name: str,
    kind: str,
    text: str,
    told: Mapping[str, object],
    check: object,
) -> Any:  # Any: pydantic takes any annotation
    if kind == "token":
        field = Field(pattern=r"^(0x[0-9a-fA-F]{40}|[A-Za-z0-9.+\-]{1,20})$", description=text)
        return Annotated[str, field, AfterValidator(check_token), Meaning.TOKEN]
    if kind == "address":
        return Annotated[str, Field(pattern=r"^0x[0-9a-fA-F]{40}$", description=text), AfterValidator(check_address)]
    if kind == "amount":
        schema = WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,78}$", "description": text})
        return Annotated[
            int, Field(description=text), BeforeValidator(parse_raw_amount), AfterValidator(check_positive), schema
        ]
    if kind == "chain_id":
        return Annotated[int, Field(ge=1, le=_LARGEST, description=text), BeforeValidator(check_whole)]
    if kind == "flag":
        return Annotated[bool, Field(description=text, strict=True)]
    if kind == "text":
        longest = _whole(name, told.get("longest", 200), 1, LONGEST_TEXT)
        return Annotated[str, Field(min_length=1, max_length=longest, description=text), check]
    if kind == "integer":
        low = _whole(name, told.get("minimum", -_LARGEST), -_LARGEST, _LARGEST)
        high = _whole(name, told.get("maximum", _LARGEST), low, _LARGEST)
        return Annotated[int, Field(ge=low, le=high, description=text), BeforeValidator(check_whole)]
    values = told.get("values")
    if not isinstance(values, list) or not 1 <= len(values) <= 20 or len(set(map(str, values))) != len(values):
        raise DeclarationRefused(f"{name}: values is a list of 1 to 20 different words")
    if not all(isinstance(value, str) and _CHOICE.match(value) for value in values):
        raise DeclarationRefused(f"{name}: a value is a word of letters, digits, dots, hyphens and underscores")
    return Annotated[Literal[tuple(values)], Field(description=text)]


def _whole(name: str, value: Any, low: int, high: int) -> int:  # Any: pydantic takes any annotation
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise DeclarationRefused(f"{name}: a whole number from {low} to {high} is expected")
    return value
