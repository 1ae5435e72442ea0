"""`standing_plan`: a schedule of equal trades that an agent proposes and owners agree to."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.models.standing_plan import STANDING_PLAN, StandingPlan, list_open_plans
from tools_app.core import audit_log, clock
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.enums import RiskTier

MOST_PLANS: Final = 8
_NOTE: Final = (
    "each time is a permit like any other: limits, phase and simulation decide anew; a halt ends it, and so can you"
)
_NUMBERS: Final = ("every_hours", "times", "slippage_bps")
_TEXTS: Final = ("kind", "venue", "token_in", "token_out", "words", "amount_raw", "ends_at")


class AgreeToPlan:
    """`arguments`: the columns of the plan, all as text; `share_percent` is empty where it keeps no share."""

    name = STANDING_PLAN

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """The plan that would be carried out from its approval on. Raises InvalidParams, ChangeUnchanged."""
        change = {name: str(arguments[name]) for name in (*_TEXTS, *_NUMBERS, "share_percent")}
        plans = list(list_open_plans(golem.pk))
        if len(plans) >= MOST_PLANS:
            raise InvalidParams(
                f"a golem has at most {MOST_PLANS} standing plans; end one first", fields={"action_type": "too many"}
            )
        if any(_is_equal(plan, change) for plan in plans):
            raise ChangeUnchanged("this plan stands already")
        line = BeforeAndAfter("Standing plan", "none such", change["words"], _NOTE)
        return Proposal(f"Agree to: {change['words']}"[:200], change, (line,), RiskTier.HIGH)

    def check_current(self, golem: Golem, change: Mapping[str, Any]) -> None:
        """Its time is not over, and there is room."""
        if datetime.fromisoformat(change["ends_at"]) <= clock.now():
            raise ChangeStale("the plan's time is over")
        if list_open_plans(golem.pk).count() >= MOST_PLANS:
            raise ChangeStale(f"there are {MOST_PLANS} standing plans already; end one first")

    def apply(
        self, *, golem: Golem, change: Mapping[str, Any], actor: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Write the row. Appends StandingPlanAgreed."""
        row = StandingPlan.objects.create(
            golem=golem,
            **{name: change[name] for name in _TEXTS if name not in ("ends_at", "amount_raw")},
            **{name: int(change[name]) for name in (*_NUMBERS, "amount_raw")},
            share_percent=int(change["share_percent"]) if change["share_percent"] else None,
            ends_at=datetime.fromisoformat(change["ends_at"]),
        )
        data = {"plan_id": str(row.pk), "words": row.words}
        audit_log.append(golem_id=golem.pk, event="StandingPlanAgreed", actor=actor, data=data, now=now)
        return {"plan_id": str(row.pk)}


def _is_equal(plan: StandingPlan, change: Mapping[str, str]) -> bool:
    told = {name: str(getattr(plan, name)) for name in ("kind", "venue", "token_in", "token_out", *_NUMBERS)}
    same = all(change[name] == value for name, value in told.items())
    return same and (int(plan.amount_raw), plan.share_percent or "") == (
        int(change["amount_raw"]),
        int(change["share_percent"]) if change["share_percent"] else "",
    )
