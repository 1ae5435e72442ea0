"""`warden`: turn the Warden off. Turning it on needs nobody's approval."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.approval_rules import COOLING_LARGE_SECONDS
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.models import Warden
from tools_app.core import audit_log
from tools_app.toolkit.enums import RiskTier


class TurnWardenOff:
    """No arguments."""

    name = "warden"

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From on to off."""
        if not Warden.objects.filter(golem=golem, is_on=True).exists():
            raise ChangeUnchanged("the Warden of this golem is off")
        line = BeforeAndAfter("Warden", "announces each action and waits", "off: actions are executed at once")
        return Proposal(
            "Turn the Warden off",
            {"is_on": False},
            (line,),
            RiskTier.CRITICAL,
            cooling_seconds=COOLING_LARGE_SECONDS,
            value_micro_usd=read_stake(golem),
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """It is still on."""
        if not Warden.objects.filter(golem=golem, is_on=True).exists():
            raise ChangeStale("the Warden is off already")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Turn it off; appends WardenSet."""
        Warden.objects.filter(golem=golem).update(is_on=False)
        audit_log.append(
            golem_id=golem.pk, event="WardenSet", actor=actor, data={"is_on": False, "reason": reason}, now=now
        )
        return {"is_on": False}
