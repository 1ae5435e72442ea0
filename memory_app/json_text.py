"""Open-ended values as text: an object an agent writes as JSON, and the same as TOML for people. Pure.

Parameters of tools are closed and flat, so a map travels as the text of a JSON object. Decimal numbers stay text, so
that nothing turns into floating point; null is refused, because TOML has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NoReturn

from memory_app.text_cleaning import clean_value
from tools_app.core.bounded_parsing import Bound, OutsideTextRefused, read_exact_json
from tools_app.core.errors import InvalidParams

LONGEST = 8_000
DEEPEST = 6
_LARGEST_INTEGER = 2**63
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def parse_object(text: str | None, *, field: str, longest: int = LONGEST) -> dict[str, object]:
    """The JSON object in `text`, cleaned; empty text is an empty object. Raises InvalidParams naming `field`."""
    if not text or not text.strip():
        return {}
    if len(text) > longest:
        raise _refuse(field, f"at most {longest} characters of JSON")
    try:
        value = read_exact_json(
            text, most_bytes=4 * longest, most_depth=DEEPEST, parse_float=str, parse_constant=_refuse_constant
        )
    except OutsideTextRefused as refusal:
        if refusal.bound is Bound.DEPTH:
            raise _refuse(field, f"nested at most {DEEPEST} deep") from None
        raise _refuse(field, 'the text of a JSON object, such as {"fee": 500}') from None
    except ValueError:
        raise _refuse(field, 'the text of a JSON object, such as {"fee": 500}') from None
    if not isinstance(value, dict):
        raise _refuse(field, "the text of a JSON object, not of another value")
    problem = _find_problem(value, 1)
    if problem:
        raise _refuse(field, problem)
    cleaned: dict[str, object] = clean_value(value)
    return cleaned


def dump_toml(values: Mapping[str, object]) -> str:
    """`values` as TOML, one line a key; nested objects are inline tables with sorted keys. `tomllib` reads it back."""
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in values.items())


def _find_problem(value: object, depth: int) -> str:
    if depth > DEEPEST:
        return f"nested at most {DEEPEST} deep"
    if value is None:
        return "without null; leave the member out"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _LARGEST_INTEGER:
        return "whole numbers below 2^63; write larger ones as text"
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for member in members if (found := _find_problem(member, depth + 1))), "")


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(member)}" for name, member in sorted(value.items())) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(member) for member in value) + "]"
    return _string(str(value))


def _string(text: str) -> str:
    # A JSON string is a TOML basic string, but for this one character, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _refuse(field: str, text: str) -> InvalidParams:
    return InvalidParams(f"{field}: {text}", fields={field: text})


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
