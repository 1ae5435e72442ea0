"""Collects what every request to a golem's model begins with: its owner's strategy, the rule, its own notes.

All of it stands in the part of a request that stays the same from tick to tick. STRATEGY comes first and takes what it
needs of the room; PLAYBOOK, which agents of the golem write, has what is left. Sections that found no room are named,
so that the model can look for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from archetypes_app.models import Golem, Heartbeat
from golem_project.heartbeat.liquidity_rule import LiquidityRule, parse_liquidity_rule
from golem_project.heartbeat.strategies.catalog import parse_strategies
from memory_app.directive_text import Section, parse_sections
from memory_app.models.directive import Document
from memory_app.selectors import get_directive
from permits_app.safety.hooks.result_filter import clean_text
from tools_app.core.errors import GolemError
from tools_app.core.units import format_micro_usd

_SHOWN: Final = (Document.STRATEGY, Document.PLAYBOOK)


@dataclass(frozen=True, slots=True)
class StandingWords:
    """Texts by document, ready for a prompt, and the versions they are of. `left_out` are titles without room."""

    strategy: str = ""
    playbook: str = ""
    rule: str = ""
    versions: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_standing_words(*, golem: Golem, most_characters: int) -> StandingWords:
    """The newest documents of `golem` in at most `most_characters`, and the rule of its heartbeat."""
    texts: dict[str, str] = {}
    versions: dict[str, int] = {}
    left_out: dict[str, tuple[str, ...]] = {}
    room = most_characters
    for document in _SHOWN:
        directive = get_directive(golem_id=golem.pk, document=document)
        if directive is None:
            continue
        texts[document], missing = _fit(parse_sections(directive.text), room)
        room -= len(texts[document])
        versions[str(document.value)] = directive.version
        if missing:
            left_out[str(document.value)] = missing
    return StandingWords(
        strategy=texts.get(Document.STRATEGY, ""),
        playbook=texts.get(Document.PLAYBOOK, ""),
        rule=describe_rules(golem),
        versions=versions,
        left_out=left_out,
    )


def describe_rule(rule: LiquidityRule | None) -> str:
    """The owner's liquidity rule in one sentence; empty without one."""
    if rule is None:
        return ""
    return (
        f"Your owner's rule for liquidity: one position of {clean_text(rule.token_a)} and {clean_text(rule.token_b)} in"
        f" the pool of fee tier {rule.fee_tier}, {_percent(rule.half_width_bps)} to each side, worth"
        f" {format_micro_usd(rule.target_micro_usd)} when it is opened; fees are collected from"
        f" {format_micro_usd(rule.harvest_micro_usd)} on; nothing is opened while the pool is further than"
        f" {_percent(rule.most_deviation_bps)} from the price feeds; slippage {_percent(rule.slippage_bps)}."
    )


def describe_rules(golem: Golem) -> str:
    """Every rule of the golem's heartbeat, a line each; none that an older version of this server kept and this one
    does not read.
    """
    stored = Heartbeat.objects.filter(golem=golem).values_list("liquidity_rule", "strategies").first() or ({}, {})
    try:
        rule, strategies = parse_liquidity_rule(stored[0]), parse_strategies(stored[1])
    except GolemError:
        return ""
    by_rules = [f"Carried out by rules, not by you: {clean_text(each.describe())}" for each in strategies]
    return "\n".join(line for line in (describe_rule(rule), *by_rules) if line)


def _fit(sections: tuple[Section, ...], room: int) -> tuple[str, tuple[str, ...]]:
    """Whole sections in their order while there is room, and the titles of those for which there was none."""
    lines: list[str] = []
    missing: list[str] = []
    for section in sections:
        title, text = clean_text(section.title), clean_text(section.text)
        written = f"### {title}\n{text}"
        if len(written) + 2 > room:
            missing.append(title)
        else:
            room -= len(written) + 2
            lines.append(written)
    return "\n\n".join(lines), tuple(missing)


def _percent(bps: int) -> str:
    return f"{bps / 100:g}%"
