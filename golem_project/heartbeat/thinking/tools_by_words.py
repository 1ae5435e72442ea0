"""Finds the tools that a text speaks of, by words they share; rarer words weigh more. Pure.

Everyday words stand for the ones that tools use (to sell is to swap); endings are cut, so that `fees` finds `fee`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Final

from tools_app.toolkit.enums import Requirement
from tools_app.toolkit.tooldef import ToolDef

MOST_NAMED: Final = 6
"""So many of the best count as spoken of, each at least half as well as the best."""
_NAME_WEIGHT: Final = 3
_LEAST_LETTERS: Final = 3
_ENDINGS: Final = (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""), ("y", ""))
_STOP: Final = frozenset(
    "about all and any are before best can everything for from get give golem has have how its more now one our out"
    " please show some tell than that the then there they this use was what when which who with you your".split()
)
_MEANS: Final[Mapping[str, tuple[str, ...]]] = {
    "buy": ("swap",),
    "sell": ("swap",),
    "trade": ("swap",),
    "exchange": ("swap",),
    "convert": ("swap",),
    "send": ("transfer",),
    "lend": ("supply",),
    "put": ("deposit", "enter"),
    "loan": ("repay", "debt"),
    "pay": ("repay", "transfer"),
    "back": ("withdraw", "repay"),
    "redeem": ("withdraw", "unstake"),
    "failed": ("failure",),
    "remember": ("memory",),
    "worth": ("price",),
    "value": ("price",),
    "cost": ("price",),
    "account": ("wallet", "summary"),
    "rate": ("rate", "feedback"),
    "forget": ("manage", "insight"),
    "profits": ("harvest",),
    # Whoever is asked by the name of a trade is somebody to delegate to.
    "assessor": ("delegate",),
    "executor": ("delegate",),
    "manager": ("delegate",),
    "strategist": ("delegate",),
}


def find_named(tools: Iterable[ToolDef], texts: Iterable[str]) -> tuple[str, ...]:
    """Names of the tools that `texts` speak of, best first; none where no word is a tool's."""
    asked = _read_words(" ".join(texts))
    if not asked:
        return ()
    spoken = _list_speakers(tuple(tools))
    scores: dict[str, float] = {}
    for word in sorted(asked & spoken.by_word.keys()):
        weighed = spoken.by_word[word]
        rarity = log(1 + spoken.count / len(weighed))
        for name, weight in weighed.items():
            scores[name] = scores.get(name, 0.0) + weight * rarity
    best = max(scores.values(), default=0.0)
    found = [name for name, score in scores.items() if score > 0 and 2 * score >= best]
    # Of equals those come last that somebody else's service has to answer.
    return tuple(sorted(found, key=lambda name: (-scores[name], name in spoken.of_services, name))[:MOST_NAMED])


@dataclass(frozen=True, slots=True)
class _Speakers:
    """How many tools there are, by word those that it speaks of with the weight it has there, and which of them need
    a service.
    """

    count: int
    by_word: Mapping[str, Mapping[str, int]]
    of_services: frozenset[str]


# A golem's tools are the same from tick to tick, and its owner's words meet few of them.
@lru_cache(maxsize=64)
def _list_speakers(tools: tuple[ToolDef, ...]) -> _Speakers:
    by_word: dict[str, dict[str, int]] = {}
    for tool in tools:
        for word, weight in _describe(tool).items():
            by_word.setdefault(word, {})[tool.name] = weight
    asking = {tool.name for tool in tools if any(not isinstance(need, Requirement) for need in tool.requires)}
    return _Speakers(len(tools), by_word, frozenset(asking))


def _describe(tool: ToolDef) -> dict[str, int]:
    """The words of a tool; those it is called by weigh more than those that explain it."""
    names = " ".join((tool.name, tool.key, *tool.aliases)).replace("_", " ")
    explained = dict.fromkeys(_split(tool.summary), 1)
    return explained | dict.fromkeys((*_split(names), *_split(tool.venue.replace("_", " "))), _NAME_WEIGHT)


def _read_words(text: str) -> set[str]:
    plain = re.findall(r"[a-z]+", text.lower())
    return {*_split(text), *(_cut(other) for word in plain for other in _MEANS.get(word, ()))}


def _split(text: str) -> list[str]:
    found = re.findall(r"[a-z]+", text.lower())
    return [_cut(word) for word in found if len(word) >= _LEAST_LETTERS and word not in _STOP]


def _cut(word: str) -> str:
    """The stem: without the ending of a plural or of a form of a verb."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_LETTERS and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word
