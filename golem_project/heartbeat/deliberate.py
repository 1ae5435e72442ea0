"""Asking the planner: once for a model, once per look for rules, and never for what is already on the list."""

from __future__ import annotations

from dataclasses import replace

from golem_project.heartbeat.caution import hold_back, leave_out
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.following import record_touched
from golem_project.heartbeat.rule_planner import NAME as RULES
from golem_project.heartbeat.steps.analyze import list_wishes
from golem_project.heartbeat.steps.observe import look, read_permit_facts
from golem_project.heartbeat.thinking.planner import WantedAction


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
    planner = state.choose_planner(state)
    deliberation = planner.deliberate(situation=state.as_situation(), deadline=state.deadline, now=state.now())
    state.deliberations.append(deliberation)
    for touched in deliberation.touched:
        record_touched(state, touched)
    state.queue.extend(deliberation.wanted)
    return state.queue.pop(0) if state.queue else None


def _look_again(state: CycleState) -> None:
    """The chain and the permits after an action, and what the rule asks for then."""
    look(state)
    state.permits = read_permit_facts(golem_id=state.golem.pk, heartbeat_tick=state.begun.number)
    wishes = list_wishes(state, range_bps=state.analysis.range_bps)
    held = hold_back(wishes, state.recalled, regime=state.analysis.regime, chain_id=state.golem.home_chain_id)
    known = {each.wish_key: each for each in (*state.analysis.held_back, *held)}
    state.analysis = replace(state.analysis, wishes=leave_out(wishes, held), held_back=tuple(known.values()))
