"""Which concepts of the trade a text speaks of, by the terms that `glossary.txt` lists. Pure but for reading that file.

A question and an episode in different words ("closed by force", "liquidated") share a concept, where the embedding
model, which knows little of this trade, sees two sentences. Each concept is one word of the index of words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

MARK: Final = "gloss"
"""What the word of a concept begins with in the index."""
_FILE: Final = Path(__file__).with_name("glossary.txt")
_WORD: Final = re.compile(r"[\w.%'&-]+")
_ENDINGS: Final = ("", "s", "ed", "ing")
_LEAST_LETTERS: Final = 3
"""Of the beginning of a word that goes on, and of a word that has endings."""

_Part = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Term:
    """Parts that must all stand somewhere in the text; the words of a part side by side."""

    concept: str
    parts: tuple[_Part, ...]


def name_concepts(text: str) -> tuple[str, ...]:
    """The concepts of `text`, in the order of the file."""
    words = [word.strip(".'-") for word in _WORD.findall(text.lower().replace("_", " "))]
    terms, by_beginning = _read()
    met = {
        part
        for place, word in enumerate(words)
        for part in by_beginning.get(word[:_LEAST_LETTERS], ())
        if _stands_at(part, words, place)
    }
    return tuple(dict.fromkeys(term.concept for term in terms if met.issuperset(term.parts))) if met else ()


def mark_concepts(text: str) -> str:
    """One word a concept of `text`, for the index of words and for a question to it; empty without any."""
    return " ".join(MARK + "".join(filter(str.isalnum, concept)) for concept in name_concepts(text))


@cache
def _read() -> tuple[tuple[_Term, ...], dict[str, list[_Part]]]:
    terms = read_glossary(_FILE.read_text(encoding="utf-8"))
    by_beginning: dict[str, list[_Part]] = defaultdict(list)
    for part in dict.fromkeys(part for term in terms for part in term.parts):
        by_beginning[part[0].rstrip("*")[:_LEAST_LETTERS]].append(part)
    return terms, dict(by_beginning)


def read_glossary(text: str) -> tuple[_Term, ...]:
    """The terms of lines `concept: term, term`. Raises ValueError for another line, or a `*` after too few letters."""
    terms = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        concept, _, listed = line.partition(": ")
        for term in listed.split(", "):
            parts = tuple(tuple(part.split()) for part in term.split("+"))
            if not all(parts) or any(part[0].endswith("*") and len(part[0]) <= _LEAST_LETTERS for part in parts):
                raise ValueError(f"line {number}: {term!r} is no term")
            terms.append(_Term(concept, parts))
    return tuple(terms)


def _stands_at(part: _Part, words: Sequence[str], place: int) -> bool:
    return place + len(part) <= len(words) and all(
        _is_form(wanted, words[place + step]) for step, wanted in enumerate(part)
    )


def _is_form(wanted: str, word: str) -> bool:
    if wanted.endswith("*"):
        return word.startswith(wanted[:-1])
    if not word.startswith(wanted):
        return False
    return word == wanted or (len(wanted) >= _LEAST_LETTERS and word[len(wanted) :] in _ENDINGS)
