"""Tells where each parameter of a plan comes from: the agent, a default, memory, the market."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from permits_app.permits.market_defaults import MarketDefaults

ASKED: Final = "asked"
DEFAULT: Final = "default"
MEMORY: Final = "memory"
RULES: Final = "rules"
"""What the owner's limits, or the wait for owners, made of it; `hooks` of the permit say why."""


def word_sources(
    *,
    params: Mapping[str, object],
    given: frozenset[str],
    market: MarketDefaults,
    memory: Mapping[str, object],
    planned: Mapping[str, object],
) -> dict[str, str]:
    """A word or a sentence for each parameter of `planned`: ASKED, DEFAULT, MEMORY, RULES, or what the market changed.

    `params` are those asked for with the tool's defaults, `given` the names of those the agent wrote itself, `memory`
    what memory made of them after `market`.
    """
    before = {**market.apply(params), **{name: value for name, value in memory.items() if name in params}}
    told = {}
    for name, value in planned.items():
        if value is None:
            continue
        if value != before.get(name):
            told[name] = RULES
        elif name in memory:
            told[name] = MEMORY
        else:
            told[name] = market.word(name, params[name]) or (ASKED if name in given else DEFAULT)
    return told
