"""Reads a value or a word that was written otherwise than asked for, where it leaves no doubt what it means. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Final

from golem_project.pi.json_schema import ReadOnlySchema, SchemaReader
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.exact_numbers import LARGEST_EXACT

_TYPES: Final = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)
_SHORT_PART: Final = 3
_SHORTEST_WORD: Final = 3
NEAR: Final = 0.6


def read_chain(value: object) -> object:
    """The number of a chain that is given by its name or its number; else `value`."""
    if isinstance(value, str) and not value.strip().isdigit():
        said = squash(value)
        found = [number for number, each in KNOWN_NETWORKS.items() if said in (squash(each.name), squash(each.slug))]
        return found[0] if len(found) == 1 else value
    return write_as(value, {"integer"})


def is_of(value: object, kinds: set[str]) -> bool:
    """Whether `value` is of one of the types `kinds` of JSON; of none that are known it always is."""
    if not kinds:
        return True
    name = next((each for kind, each in _TYPES if isinstance(value, kind)), "null")
    return name in kinds or (name == "integer" and "number" in kinds)


def write_as(value: object, kinds: set[str]) -> object:
    """`value` as one of `kinds`, where that loses nothing; else itself."""
    if isinstance(value, list) and len(value) == 1 and "array" not in kinds:
        value = value[0]
    if "string" in kinds and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if "integer" in kinds and isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value)
    if "boolean" in kinds and isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if "array" in kinds and isinstance(value, str):
        return [value]
    if "string" in kinds and isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_EXACT:
        return str(int(value))
    return value


def find_near(given: object, words: Sequence[object]) -> object:
    """The one of `words` that `given` spells or nearly spells; None where none is near."""
    same = find_same(given, words)
    if same is not None or not isinstance(given, str):
        return same
    known = {squash(str(word)): word for word in words}
    near = difflib.get_close_matches(squash(given), list(known), n=1, cutoff=NEAR)
    return known[near[0]] if near else None


def find_mistyped(given: object, words: Sequence[object]) -> object:
    """The one of `words` that `given` spells, or spells but for one letter behind the first; None where none does.

    A part of a name as short as `pt` or `yt` is another thing with another letter, and no slip.
    """
    same = find_same(given, words)
    if same is not None or not isinstance(given, str):
        return same
    meant = [
        word
        for word in words
        if is_one_slip(squash(given), squash(str(word))) and not _differs_in_a_short_part(given, str(word))
    ]
    return meant[0] if len(meant) == 1 else None


def _differs_in_a_short_part(given: str, word: str) -> bool:
    parts, others = (re.split(r"[^a-z0-9]+", each.strip().lower()) for each in (given, word))
    if len(parts) != len(others):
        return False
    return any(
        one != other and min(len(one), len(other)) <= _SHORT_PART for one, other in zip(parts, others, strict=True)
    )


def find_same(given: object, words: Sequence[object]) -> object:
    """The one of `words` that `given` is, however it is written; None where none is."""
    if not isinstance(given, str):
        return given if given in words else None
    return {squash(str(word)): word for word in words}.get(squash(given))


def is_one_slip(one: str, other: str) -> bool:
    """Whether they begin alike and differ by one letter too many, too few, another, or two in the wrong order."""
    if one[:1] != other[:1] or min(len(one), len(other)) < _SHORTEST_WORD:
        return False
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return max(len(one), len(other)) == 1 or (len(one) == 2 and one == other[::-1])


def squash(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def list_kinds(schema: ReadOnlySchema) -> set[str]:
    """The types that a schema takes."""
    return {kind for part in SchemaReader(schema).variants for kind in SchemaReader(part).kinds}


def list_values(schema: ReadOnlySchema) -> list[object]:
    """The values that a schema is limited to."""
    return [value for part in SchemaReader(schema).variants for value in SchemaReader(part).not_null_values]
