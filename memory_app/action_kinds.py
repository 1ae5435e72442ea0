"""Which kinds of actions a question asks about, and which an episode tells of by its tool. Reads `action_kinds.txt`.

"What did we owe after the fall" shares no word with an episode of a loan that was repaid, and still can only be about
lending. A kind that few of the rows found have in common with the question says more than one that most have.

See docs/decisions/0626-vectors-of-episodes-are-bent-to-the-trade.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

WEIGHT: Final = 0.08
VENUE_WEIGHT: Final = 0.05
"""What a shared kind and a named venue count beside a similarity of 0 to 1, times the logarithm of their rareness."""
_FILE: Final = Path(__file__).with_name("action_kinds.txt")


@dataclass(frozen=True, slots=True)
class _Deed:
    """Words of tools' names, whole; and words of questions, as a pattern."""

    tools: frozenset[str]
    asked: re.Pattern[str]


def _read_table() -> tuple[tuple[str, ...], dict[str, _Deed]]:
    text = "\n".join(line for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    venues, *blocks = text.strip().split("\n\n")
    rows = [block.split("\n") for block in blocks]
    deeds = {name: _Deed(frozenset(tools.split()), re.compile(rf"\b(?:{asked})\b")) for name, tools, asked in rows}
    return tuple(venues.split()), deeds


_VENUES, _DEEDS = _read_table()


def read_deeds(question: str) -> frozenset[str]:
    """The kinds of deeds that `question` asks about, by its everyday words; often none."""
    lowered = question.lower()
    return frozenset(name for name, deed in _DEEDS.items() if deed.asked.search(lowered))


@cache
def name_deeds(tool_name: str) -> frozenset[str]:
    """The kinds of deeds that a tool does, by the words of its name."""
    words = set(tool_name.lower().split("_"))
    return frozenset(name for name, deed in _DEEDS.items() if deed.tools & words)


def weigh_deeds(question: str, tool_names: Sequence[str]) -> list[float]:
    """What each row of `tool_names` gains for a deed it shares with `question` and for a venue that names.

    Nothing where all or none of the rows have it.
    """
    asked, joined = read_deeds(question), question.lower().replace(" ", "")
    venues = {venue for venue in _VENUES if venue in joined}
    by_deed = _weigh([bool(asked & name_deeds(name)) for name in tool_names], WEIGHT)
    by_venue = _weigh([name.partition("_")[0] in venues for name in tool_names], VENUE_WEIGHT)
    return [sum(both) for both in zip(by_deed, by_venue, strict=True)]


def _weigh(shared: Sequence[bool], weight: float) -> list[float]:
    holders = sum(shared)
    worth = weight * max(0.0, math.log(len(shared) / (1 + holders))) if holders else 0.0
    return [worth if is_shared else 0.0 for is_shared in shared]
