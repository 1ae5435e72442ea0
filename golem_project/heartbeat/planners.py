"""Chooses the planner of a golem: rules, or a language model where one is set up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from archetypes_app.models.tick import PlannerKind
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.liquidity_plan import Urgency
from golem_project.heartbeat.rule_planner import RulePlanner
from golem_project.heartbeat.thinking.errors import ModelNotConfigured
from golem_project.heartbeat.thinking.model_planner import get_model_planner
from golem_project.heartbeat.thinking.planner import Deliberation, Planner, Situation
from permits_app.models.standing_plan import KEY as STANDING
from tools_app.core.clock import Deadline


@dataclass(frozen=True, slots=True)
class NoModel:
    """Stands where a model should think and this server has none: it fails, and says why."""

    @property
    def name(self) -> str:
        """How the decision record names it."""
        return "model"

    def deliberate(self, *, situation: Situation, deadline: Deadline, now: datetime) -> Deliberation:
        """Nothing but the reason."""
        return Deliberation(planner=self.name, summary="", stopped_by=ModelNotConfigured.code)


def choose_planner(state: CycleState) -> Planner:
    """The golem's planner. A debt in danger is lowered, a stop carried out, and a plan that owners agreed to kept, by
    rules whoever plans, before anybody else is asked.
    """
    agreed = tuple(
        wish
        for wish in state.analysis.wishes
        if wish.is_rescue or wish.rank <= Urgency.STOP or wish.key.startswith(STANDING)
    )
    if any(wish.key not in state.waiting for wish in agreed):
        return RulePlanner(agreed, state.waiting)
    if state.begun.planner == PlannerKind.MODEL:
        return get_model_planner() or NoModel()
    return RulePlanner(state.analysis.wishes, state.waiting)
