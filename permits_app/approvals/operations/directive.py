"""`strategy`: a section of the golem's STRATEGY, which its owners write and its agent only reads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from archetypes_app.models import Golem
from memory_app.actions.update_directive import update_directive
from memory_app.directive_text import parse_sections
from memory_app.models.directive import Document
from memory_app.selectors import get_directive
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.enums import RiskTier


class WriteStrategy:
    """`arguments`: `section`, a heading, and `text`, what it shall say."""

    name = "strategy"

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From the section as it is to the text asked for."""
        section, text = str(arguments["section"]).strip(), str(arguments["text"]).strip()
        if not section or not text:
            raise InvalidParams("a section has a heading and a text", fields={"section": "heading", "text": "text"})
        latest = get_directive(golem_id=golem.pk, document=Document.STRATEGY)
        known = {each.title.casefold(): each.text for each in parse_sections(latest.text if latest else "")}
        before = known.get(section.casefold(), "")
        if before == text:
            raise ChangeUnchanged("the section says so already")
        line = BeforeAndAfter(f"Strategy, {section}", before or "not there", text)
        change = {"section": section, "text": text, "version": str(latest.version if latest else 0)}
        return Proposal(f"Write the strategy's section {section}"[:200], change, (line,), RiskTier.HIGH)

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """Nobody wrote a newer version since."""
        latest = get_directive(golem_id=golem.pk, document=Document.STRATEGY)
        if str(latest.version if latest else 0) != change["version"]:
            raise ChangeStale("the strategy has a newer version")

    def apply(
        self, *, golem: Golem, change: Mapping[str, Any], actor: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Write the section as a new version."""
        written = update_directive(
            golem_id=golem.pk,
            section=change["section"],
            change=change["text"],
            reason=reason,
            actor=actor,
            now=now,
            document=Document.STRATEGY,
        )
        return {"version": str(written["version"])}
