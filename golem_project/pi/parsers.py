"""Parses JSON strictly: one object, every field once, no number that is not exact, small, shallow.

A number with a fraction stays text: it reaches the tool's own schema and is refused there with the field's name, and
nothing on the way has rounded it. 5.0 and 5e0 have none: they are 5 (`core/exact_numbers.py`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import IO

from django.utils.http import parse_header_parameters
from rest_framework.parsers import BaseParser

from golem_project.pi.errors import (
    BodyNotJson,
    BodyNotObject,
    BodyTooDeep,
    BodyTooLarge,
    DuplicateField,
    UnsupportedContentType,
)
from tools_app.core.exact_numbers import NumberText, read_whole
from tools_app.core.taint import redact_text

MAX_BODY_BYTES = 65_536  # a tool call is a few hundred bytes
MAX_DEPTH = 8
_LONGEST_INTEGER = 80  # digits and a sign; 256 bits have 78
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_CHARSETS = {"", "utf-8", "utf8"}


class StrictJsonParser(BaseParser):
    """Parses `application/json` in UTF-8. Raises the errors of `pi.errors` that begin with Body, and DuplicateField."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, object] | None = None
    ) -> dict[str, object]:
        _check_charset(media_type or "")
        return without_secrets(parse_object(_read(stream, parser_context)))


def read_number(text: str) -> int | NumberText:
    """A number with a fraction or an exponent: the integer that it is, else the text that it was."""
    whole = read_whole(text)
    return NumberText(text) if whole is None else whole


def parse_object(
    raw: bytes, *, most_levels: int = MAX_DEPTH, read_fraction: Callable[[str], object] = read_number
) -> dict[str, object]:
    """One JSON object from `raw`. Fractions and integers beyond 80 characters stay text."""
    try:
        text = raw.decode("utf-8")
        _check_depth(text, most_levels)
        body = json.loads(
            text,
            object_pairs_hook=_refuse_duplicates,
            parse_float=read_fraction,
            parse_int=_parse_integer,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError:
        raise BodyNotJson("the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise BodyNotJson(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    if not isinstance(body, dict):
        raise BodyNotObject("send one object, such as {}")
    _check_value(body)
    return body


def without_secrets(body: Mapping[str, object]) -> dict[str, object]:
    """`body` with what looks like a secret blacked out in its texts."""
    # What an agent says is stored, reasons above all; a secret it got hold of stops here.
    return {name: _redact(member) for name, member in body.items()}


def _redact(value: object) -> object:
    if isinstance(value, NumberText):
        return value
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, dict):
        return {name: _redact(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_redact(member) for member in value]
    return value


def _read(stream: IO[bytes], parser_context: Mapping[str, object] | None) -> bytes:
    request = (parser_context or {}).get("request")
    declared = str(getattr(request, "META", {}).get("CONTENT_LENGTH", ""))
    if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        raise _too_large()
    raw = stream.read(MAX_BODY_BYTES + 1)
    if len(raw) > MAX_BODY_BYTES:
        raise _too_large()
    return raw


def _check_charset(media_type: str) -> None:
    _, parameters = parse_header_parameters(media_type)
    charset = str(parameters.get("charset", ""))
    if charset.strip('"').lower() not in _CHARSETS:
        raise UnsupportedContentType(f"JSON is UTF-8 here, not {charset!r}")


def _check_depth(text: str, most_levels: int) -> None:
    # Before parsing: how deep the parser itself can go depends on a limit that libraries change.
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > most_levels:
            raise BodyTooDeep(f"at most {most_levels} levels of lists and objects", limit_levels=most_levels)


def _check_value(value: object) -> None:
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for name, member in value.items():
            _check_text(name)
            _check_value(member)
    elif isinstance(value, list):
        for member in value:
            _check_value(member)


def _check_text(text: str) -> None:
    # PostgreSQL holds neither, so they would fail far from here.
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise BodyNotJson("text may hold neither U+0000 nor half a surrogate pair")


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        repeated = sorted(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise DuplicateField(f"given more than once: {', '.join(map(repr, repeated))}", fields=repeated)
    return members


def _refuse_constant(name: str) -> object:
    raise BodyNotJson(f"{name} is not JSON")


def _parse_integer(text: str) -> int | str:
    return int(text) if len(text) <= _LONGEST_INTEGER else text


def _too_large() -> BodyTooLarge:
    return BodyTooLarge(f"a body is at most {MAX_BODY_BYTES} bytes", limit_bytes=MAX_BODY_BYTES)
