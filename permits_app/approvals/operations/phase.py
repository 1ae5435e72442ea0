"""`phase`: an owner's reset to a better phase."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from archetypes_app.actions.change_phase import reset_phase
from archetypes_app.models import Golem
from permits_app.approvals.errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import Difference, Proposal
from tools_app.toolkit.enums import Phase, RiskTier


class ResetPhase:
    """`arguments`: `to`, a phase."""

    name = "phase"

    def propose(self, golem: Golem, arguments: Mapping[str, Any]) -> Proposal:
        """From the phase it is in to the one asked for."""
        to = Phase(arguments["to"])
        if to.value == golem.phase:
            raise ChangeUnchanged(f"the golem is {golem.phase.lower()} already")
        line = Difference("Phase", golem.phase.lower(), to.value.lower(), "an owner's reset")
        return Proposal(
            f"Reset the phase to {to.value.lower()}", {"from": golem.phase, "to": to.value}, (line,), RiskTier.HIGH
        )

    def check_current(self, golem: Golem, change: Mapping[str, Any]) -> None:
        """It is still in the phase it was in."""
        if golem.phase != change["from"]:
            raise ChangeStale(f"the golem is {golem.phase.lower()} now")

    def apply(
        self, *, golem: Golem, change: Mapping[str, Any], actor: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Reset it, with the reason it was asked for."""
        reset_phase(golem=golem, to=Phase(change["to"]), reason=reason, actor=actor, now=now)
        return {"phase": change["to"]}
