"""Which planner thinks for a golem: rules, or a language model where one is set up."""

from __future__ import annotations

from archetypes_app.models.tick import PlannerKind
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.rule_planner import RulePlanner
from golem_project.heartbeat.thinking.model_planner import get_model_planner
from golem_project.heartbeat.thinking.planner import Planner


def choose_planner(state: CycleState) -> Planner:
    """The golem's planner; rules where it is meant to ask a model and this server has none. A debt in danger is lowered
    by rules whoever plans, before anybody else is asked.
    """
    rescues = tuple(wish for wish in state.analysis.wishes if wish.is_rescue)
    if any(wish.key not in state.waiting for wish in rescues):
        return RulePlanner(rescues, state.waiting)
    model = get_model_planner() if state.begun.planner == PlannerKind.MODEL else None
    return model if model is not None else RulePlanner(state.analysis.wishes, state.waiting)
