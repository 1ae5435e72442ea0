"""`strategy`: a section of the golem's STRATEGY, which its owners write and its agent only reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from archetypes_app.models import Golem
from memory_app.actions.update_directive import update_directive
from memory_app.directive_text import parse_sections
from memory_app.models.directive import Document
from memory_app.selectors import get_directive
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading, and what it shall say."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class _StrategyChange(_Section):
    """What was asked for, as its request keeps it: `version` is the strategy's, as text."""

    version: str


class WriteStrategy:
    """`arguments`: `section`, a heading, and `text`, what it shall say."""

    name = "strategy"

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From the section as it is to the text asked for."""
        asked = read_stored(_Section, arguments)
        section, text = asked.section.strip(), asked.text.strip()
        if not section or not text:
            raise InvalidParams("a section has a heading and a text", fields={"section": "heading", "text": "text"})
        latest = get_directive(golem_id=golem.pk, document=Document.STRATEGY)
        known = {each.title.casefold(): each.text for each in parse_sections(latest.text if latest else "")}
        before = known.get(section.casefold(), "")
        if before == text:
            raise ChangeUnchanged("the section says so already")
        line = BeforeAndAfter(f"Strategy, {section}", before or "not there", text)
        change: dict[str, object] = {"section": section, "text": text, "version": str(latest.version if latest else 0)}
        return Proposal(f"Write the strategy's section {section}"[:200], change, (line,), RiskTier.HIGH)

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """Nobody wrote a newer version since."""
        latest = get_directive(golem_id=golem.pk, document=Document.STRATEGY)
        if str(latest.version if latest else 0) != read_stored(_StrategyChange, change).version:
            raise ChangeStale("the strategy has a newer version")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Write the section as a new version."""
        kept = read_stored(_StrategyChange, change)
        written = update_directive(
            golem_id=golem.pk,
            section=kept.section,
            change=kept.text,
            reason=reason,
            actor=actor,
            now=now,
            document=Document.STRATEGY,
        )
        return {"version": str(written["version"])}
