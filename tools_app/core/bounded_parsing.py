"""Parses JSON and TOML of others within bounds of bytes, nesting, numbers and characters.

How deep a recursive parser can go is a limit of the process that libraries change, and past the stack it ends the
process. So nothing from outside meets one before its depth is known. `read_json` is for answers of other machines: its
parser counts levels itself, and what it gives can be stored. `read_exact_json` and `read_toml` are for documents whose
numbers and fields are checked to the letter.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from enum import StrEnum
from typing import Any, Final

from pydantic_core import from_json

from tools_app.core.json_types import JsonObject
from tools_app.core.storable_text import make_storable

DEEPEST: Final = 64
"""Levels of lists and objects in a document; no format of ours has ten."""

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_TOML_TEXT: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
_BRACKET: Final = re.compile(r"[\[\]{}]")
_HALF_PAIR: Final = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


class Bound(StrEnum):
    """What a text from outside broke."""

    SIZE = "size"
    DEPTH = "depth"
    SYNTAX = "syntax"


class OutsideTextRefused(ValueError):
    """A text from outside that is too long, too deep or not what it should be. Its words repeat nothing of it."""

    def __init__(self, bound: Bound, words: str) -> None:
        super().__init__(words)
        self.bound = bound


def read_json(raw: bytes | str, *, most_bytes: int) -> Any:  # Any: JSON, of any shape
    """The value an outsider wrote, ready to be stored: no U+0000, no half pair, no NaN and no infinity.

    Whole numbers are exact, up to 4,300 digits. Raises OutsideTextRefused.
    """
    text = _decode(raw, most_bytes)
    try:
        value = _parse(text)
    except OutsideTextRefused as refusal:
        if refusal.bound is Bound.DEPTH:
            raise
        # Half a character pair is how a text cut in the middle ends; the rest of it is worth having.
        value = _parse(_HALF_PAIR.sub(r"\1\\ufffd", text))
    _refuse_infinity(value)
    return make_storable(value)


def read_exact_json(
    text: bytes | str,
    *,
    most_bytes: int,
    most_depth: int = DEEPEST,
    **hooks: Any,  # Any: json.loads takes hooks of any type
) -> Any:  # Any: JSON, of any shape
    """The value of a document, by the standard library's parser with its `hooks` (parse_float, object_pairs_hook ...).

    Raises OutsideTextRefused, and what a hook raises.
    """
    decoded = _decode(text, most_bytes)
    check_depth(decoded, most_depth=most_depth)
    try:
        return json.loads(decoded, **hooks)
    except json.JSONDecodeError as error:
        words = f"{error.msg} at line {error.lineno}, column {error.colno}"
        raise OutsideTextRefused(Bound.SYNTAX, words) from None


def read_toml(text: str, *, most_bytes: int, most_depth: int = DEEPEST) -> JsonObject:
    """The table of a TOML document. Raises OutsideTextRefused."""
    _decode(text, most_bytes)
    _count(_TOML_TEXT.sub("", text), most_depth)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise OutsideTextRefused(Bound.DEPTH, "nested too deeply") from None
        raise OutsideTextRefused(Bound.SYNTAX, str(error)) from None


def _parse(text: str) -> Any:  # Any: JSON, of any shape
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        # Its words repeat nothing of the text. It counts levels itself and refuses about two hundred.
        is_deep = "recursion limit" in str(error)
        bound = Bound.DEPTH if is_deep else Bound.SYNTAX
        raise OutsideTextRefused(bound, "nested too deeply" if is_deep else "this is no JSON") from None


def check_depth(text: str, *, most_depth: int) -> None:
    """Refuse JSON whose lists and objects are nested deeper. Raises OutsideTextRefused."""
    # Most texts have fewer openings than levels are allowed, and two counts tell it.
    if text.count("[") + text.count("{") > most_depth:
        _count(_STRING.sub("", text), most_depth)


def _count(bare: str, most_depth: int) -> None:
    depth = 0
    for bracket in _BRACKET.findall(bare):
        depth += 1 if bracket in "[{" else -1
        if depth > most_depth:
            raise OutsideTextRefused(Bound.DEPTH, f"at most {most_depth} levels of lists and objects")


def _decode(raw: bytes | str, most_bytes: int) -> str:
    # A character has one byte at least, so a text that is too long is not encoded to be told so.
    if len(raw) > most_bytes or (isinstance(raw, str) and len(raw.encode(errors="replace")) > most_bytes):
        raise OutsideTextRefused(Bound.SIZE, f"at most {most_bytes} bytes")
    if isinstance(raw, str):
        return raw
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise OutsideTextRefused(Bound.SYNTAX, "this is no UTF-8") from None


def _refuse_infinity(value: object) -> None:
    # 1e999 is spelled as JSON and no number that JSON could carry on.
    if isinstance(value, float) and not math.isfinite(value):
        raise OutsideTextRefused(Bound.SYNTAX, "a number is too large")
    if isinstance(value, dict):
        for member in value.values():
            _refuse_infinity(member)
    elif isinstance(value, list):
        for member in value:
            _refuse_infinity(member)
