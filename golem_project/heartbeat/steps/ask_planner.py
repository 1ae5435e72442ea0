"""Asking the planner: once for a model, once per look for rules, and never for what is already on the list.

Where a model failed, rules act in its place for the rest of the tick, unless the owner wants nobody to.
"""

from __future__ import annotations

from dataclasses import replace

from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.model_failures import has_failed, leave_time_for_rules
from golem_project.heartbeat.permit_facts import read_permit_facts
from golem_project.heartbeat.rule_planner import NAME as RULES
from golem_project.heartbeat.rule_planner import RulePlanner
from golem_project.heartbeat.steps.observe import look
from golem_project.heartbeat.steps.study_market import study_market
from golem_project.heartbeat.steps.wanted_actions import weigh_wishes
from golem_project.heartbeat.thinking.planner import Planner, WantedAction
from golem_project.heartbeat.unfinished_actions import record_touched


def next_wanted(state: CycleState) -> WantedAction | None:
    """What to do next: the rest of the list, or what the planner says to the chain as it is now."""
    if state.queue:
        return state.queue.pop(0)
    last = state.deliberations[-1] if state.deliberations else None
    # Rules plan again on what the last action left; a model had its say.
    if last is not None and (last.planner != RULES or not last.wanted):
        return None
    if last is not None:
        _look_again(state)
    if not any(map(has_failed, state.deliberations)):
        _ask(state, state.choose_planner(state))
    if state.begun.rules_stand_in and any(map(has_failed, state.deliberations)):
        _ask(state, RulePlanner(state.analysis.wishes, state.waiting))
    return state.queue.pop(0) if state.queue else None


def _ask(state: CycleState, planner: Planner) -> None:
    """Ask the planner about the present situation, and note which rows it touched and which action it wants."""
    can_stand_in = planner.name != RULES and state.begun.rules_stand_in
    deadline = leave_time_for_rules(state.deadline) if can_stand_in else state.deadline
    deliberation = planner.deliberate(situation=state.as_situation(), deadline=deadline, now=state.now())
    state.deliberations.append(deliberation)
    for touched in deliberation.touched:
        record_touched(state, touched)
    state.queue.extend(deliberation.wanted)


def _look_again(state: CycleState) -> None:
    """The chain and the permits after an action, and what the rule asks for then."""
    look(state)
    state.last_done = None
    state.permits = read_permit_facts(golem_id=state.golem.pk, heartbeat_tick=state.begun.number)
    study_market(state)
    before = state.analysis
    weighed = weigh_wishes(state, regime=before.regime, range_bps=before.range_bps)
    held = {each.wish_key: each for each in (*before.held_back, *weighed.held_back)}
    doubted = {each.wish_key: each for each in (*before.entries_held, *weighed.entries_held)}
    state.analysis = replace(
        before, wishes=weighed.wishes, held_back=tuple(held.values()), entries_held=tuple(doubted.values())
    )
