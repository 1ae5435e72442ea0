"""Reads a labelled retrieval set: episodes by topic, and a question a topic whose answers are its episodes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Topic:
    """What belongs together. `episodes` are (tool, tokens, text)."""

    name: str
    episodes: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


def read_labelled_set(text: str) -> list[Topic]:
    """The topics of a file of `= topic`, `- tool | tokens | text` and `? question` lines. Raises ValueError."""
    topics: list[Topic] = []
    for number, line in enumerate(text.splitlines(), start=1):
        mark, rest = line[:2], line[2:].strip()
        if not line.strip() or mark == "# ":
            continue
        if mark == "= ":
            topics.append(Topic(rest))
        elif mark == "- " and topics and rest.count(" | ") == 2:
            tool, tokens, said = rest.split(" | ")
            topics[-1].episodes.append((tool, tuple(tokens.split()), said))
        elif mark == "? " and topics:
            topics[-1].questions.append(rest)
        else:
            raise ValueError(f"line {number} is neither a topic, an episode nor a question")
    return topics


def measure_recall(found: Sequence[str], wanted: Sequence[str], *, at: int) -> float:
    """The part of `wanted` among the first `at` of `found`, 0 to 1."""
    return len(set(found[:at]) & set(wanted)) / min(at, len(wanted))


def read_sayings(text: str) -> list[list[str]]:
    """What says one thing in several ways, a thing a line. Raises ValueError for a line with fewer than two."""
    things = [line.split(" | ") for line in text.splitlines() if line and not line.startswith("# ")]
    if any(len(thing) < 2 or not all(map(str.strip, thing)) for thing in things):
        raise ValueError("each line says its thing in two ways at least")
    return [[each.strip() for each in thing] for thing in things]
