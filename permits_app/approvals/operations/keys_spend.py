"""`keys_spend`: let a golem's agents spend with their API keys. Switching it off needs nobody."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.models import SpendingLimits
from tools_app.core import audit_log
from tools_app.toolkit.enums import RiskTier
from tools_app.wording.formats import format_usd


class LetKeysSpend:
    """No arguments. What agents may spend in a day is part of what owners are shown."""

    name = "keys_spend"

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From previewing alone to spending. Raises ChangeUnchanged."""
        if golem.may_keys_spend:
            raise ChangeUnchanged("its agents' keys may spend already")
        limits = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits(golem=golem)
        held, day = read_stake(golem), limits.per_day_micro_usd
        lines = (
            BeforeAndAfter("Agent keys", "preview only: nothing of it is signed", "may spend", "loosens"),
            BeforeAndAfter("Its agents spend in 24 h, at most", "nothing", format_usd(day)),
            BeforeAndAfter(
                "Its agents spend in one transaction, at most", "nothing", format_usd(limits.per_transaction_micro_usd)
            ),
            BeforeAndAfter("It holds", "", format_usd(held) if held else "not measured yet"),
        )
        return Proposal(
            "Let agent keys spend",
            {"may_keys_spend": True},
            lines,
            RiskTier.HIGH,
            value_micro_usd=min(day, held) if held else day,
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """They still may not. Raises ChangeStale."""
        if golem.may_keys_spend:
            raise ChangeStale("its agents' keys may spend already")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Switch it on; appends KeysSpendSet."""
        set_keys_spend(golem=golem, may_spend=True, actor=actor, reason=reason, now=now)
        return {"may_keys_spend": True}


def set_keys_spend(*, golem: Golem, may_spend: bool, actor: str, reason: str, now: datetime) -> None:
    """Write it down; joins the caller's transaction. Appends KeysSpendSet."""
    Golem.objects.filter(pk=golem.pk).update(may_keys_spend=may_spend)
    facts = {"may_keys_spend": may_spend, "reason": reason}
    audit_log.append(golem_id=golem.pk, event="KeysSpendSet", actor=actor, data=facts, now=now)
