"""`standing_plan`: a schedule of equal trades that an agent proposes and owners agree to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.models.standing_plan import STANDING_PLAN, StandingPlan, list_open_plans
from tools_app.core import audit_log, clock
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import IntText, read_stored, write_stored
from tools_app.toolkit.enums import RiskTier

MOST_PLANS: Final = 8
_NOTE: Final = (
    "each time is a permit like any other: limits, phase and simulation decide anew; a halt ends it, and so can you"
)


@dataclass(frozen=True, slots=True)
class _PlanText:
    """The columns of a plan, all as text, as it is asked for and as its request keeps it."""

    kind: str
    venue: str
    token_in: str
    token_out: str
    words: str
    amount_raw: IntText
    ends_at: str
    every_hours: IntText
    times: IntText
    slippage_bps: IntText
    share_percent: str

    @property
    def ends(self) -> datetime:
        """When its time is over."""
        return datetime.fromisoformat(self.ends_at)

    @property
    def share(self) -> int | None:
        """The share of the golem's worth it keeps, per cent; None where it keeps none."""
        return int(self.share_percent) if self.share_percent else None


class AgreeToPlan:
    """`arguments`: the columns of the plan, all as text; `share_percent` is empty where it keeps no share."""

    name = STANDING_PLAN

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """The plan that would be carried out from its approval on. Raises InvalidParams, ChangeUnchanged."""
        asked = read_stored(_PlanText, {name: str(value) for name, value in arguments.items()})
        plans = list(list_open_plans(golem.pk))
        if len(plans) >= MOST_PLANS:
            raise InvalidParams(
                f"a golem has at most {MOST_PLANS} standing plans; end one first", fields={"action_type": "too many"}
            )
        if any(_is_equal(plan, asked) for plan in plans):
            raise ChangeUnchanged("this plan stands already")
        line = BeforeAndAfter("Standing plan", "none such", asked.words, _NOTE)
        return Proposal(f"Agree to: {asked.words}"[:200], write_stored(asked), (line,), RiskTier.HIGH)

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """Its time is not over, and there is room."""
        if read_stored(_PlanText, change).ends <= clock.now():
            raise ChangeStale("the plan's time is over")
        if list_open_plans(golem.pk).count() >= MOST_PLANS:
            raise ChangeStale(f"there are {MOST_PLANS} standing plans already; end one first")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Write the row. Appends StandingPlanAgreed."""
        kept = read_stored(_PlanText, change)
        row = StandingPlan.objects.create(
            golem=golem,
            kind=kept.kind,
            venue=kept.venue,
            token_in=kept.token_in,
            token_out=kept.token_out,
            words=kept.words,
            amount_raw=kept.amount_raw,
            every_hours=kept.every_hours,
            times=kept.times,
            slippage_bps=kept.slippage_bps,
            share_percent=kept.share,
            ends_at=kept.ends,
        )
        data = {"plan_id": str(row.pk), "words": row.words}
        audit_log.append(golem_id=golem.pk, event="StandingPlanAgreed", actor=actor, data=data, now=now)
        return {"plan_id": str(row.pk)}


def _is_equal(plan: StandingPlan, asked: _PlanText) -> bool:
    places = (plan.kind, plan.venue, plan.token_in, plan.token_out)
    figures = (plan.every_hours, plan.times, plan.slippage_bps, int(plan.amount_raw), plan.share_percent or None)
    return (*places, *figures) == (
        asked.kind,
        asked.venue,
        asked.token_in,
        asked.token_out,
        asked.every_hours,
        asked.times,
        asked.slippage_bps,
        asked.amount_raw,
        asked.share,
    )
