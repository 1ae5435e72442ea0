"""`resume`: let a halted golem act again; a second factor always, a second owner where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from archetypes_app.models import Golem
from permits_app.actions.halt import resume_golem
from permits_app.approvals.errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import Difference, Proposal
from tools_app.toolkit.enums import RiskTier


class ResumeGolem:
    """No arguments. Bound to the halt it ends: a later halt is not ended by an older request."""

    name = "resume"

    def propose(self, golem: Golem, arguments: Mapping[str, Any]) -> Proposal:
        """From halted to acting."""
        if not golem.is_halted:
            raise ChangeUnchanged("the golem is not halted")
        line = Difference("State", f"halted: {golem.halt_reason or 'no reason given'}", "acts again",
                          "its keys get back what the halt took")  # fmt: skip
        return Proposal("Resume after a halt", {"halt_epoch": str(golem.halt_epoch)}, (line,), RiskTier.CRITICAL)

    def check_current(self, golem: Golem, change: Mapping[str, Any]) -> None:
        """It is the same halt."""
        if not golem.is_halted or str(golem.halt_epoch) != change["halt_epoch"]:
            raise ChangeStale("this halt is over")

    def apply(
        self, *, golem: Golem, change: Mapping[str, Any], actor: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Resume it."""
        resume_golem(golem=golem, reason=reason, actor=actor, now=now)
        return {"halt_epoch": change["halt_epoch"]}
