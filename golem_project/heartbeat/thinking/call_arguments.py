"""The arguments of a call as a model wrote them: bounded, read to the letter, whole numbers only."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tools_app.core.bounded_parsing import read_exact_json
from tools_app.core.errors import InvalidParams


def read_arguments(text: str, *, most_bytes: int) -> dict[str, object]:
    """The JSON object in `text`; nothing written is an empty one. Raises InvalidParams."""
    if len(text.encode(errors="replace")) > most_bytes:
        raise InvalidParams(f"the arguments are longer than {most_bytes} bytes")
    try:
        found = read_exact_json(
            text or "{}", most_bytes=most_bytes, parse_float=_refuse_fraction, parse_constant=_refuse_fraction
        )
    except ValueError:
        raise InvalidParams("the arguments are not a JSON object with whole numbers") from None
    if not isinstance(found, dict):
        raise InvalidParams("the arguments must be one JSON object")
    if not _is_storable(found):
        raise InvalidParams("the arguments hold a NUL or half a character pair")
    return found


def spell_alike(text: str, *, most_bytes: int) -> str:
    """One spelling for all spellings of one object: two of them are one call."""
    try:
        return json.dumps(read_exact_json(text, most_bytes=most_bytes), sort_keys=True)
    except ValueError:
        return text


def _is_storable(found: Mapping[str, object]) -> bool:
    """Whether every text in it can be written to a database and sent on."""
    try:
        return b"\\u0000" not in json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False


def _refuse_fraction(text: str) -> object:
    # Amounts are whole base units; a fraction is a misunderstanding that must not be rounded.
    raise ValueError(text)
