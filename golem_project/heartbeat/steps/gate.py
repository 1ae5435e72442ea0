"""GATE: whether to think, and how hard. The formulas are in `gate_formulas.py`; here are the reasons that force it."""

from __future__ import annotations

from archetypes_app.models.archetype import InferenceTier
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.gate_formulas import GateVerdict, choose_tier


def gate(state: CycleState) -> None:
    """Set the tier. A halted golem never thinks; an owner's words, a change of phase and a debt in danger always
    make it think.
    """
    analysis = state.analysis
    verdict = choose_tier(
        surprise=analysis.surprise,
        temper=analysis.temper,
        forced=_list_forces(state),
        due=(*analysis.due, *analysis.news),
    )
    if state.golem.is_halted:
        verdict = GateVerdict(InferenceTier.T0, verdict.prediction_error, verdict.threshold, "the golem is halted")
    elif state.observation.block is None:
        verdict = GateVerdict(
            InferenceTier.T0, verdict.prediction_error, verdict.threshold, "the chain could not be read"
        )
    state.verdict = verdict


def _list_forces(state: CycleState) -> tuple[str, ...]:
    found = []
    if state.steers:
        found.append("the owner's words")
    last = state.begun.memory.phase
    if last is not None and last != state.golem.phase:
        found.append(f"the phase {state.golem.phase}")
    news = [each.label for each in state.debts if each.is_news]
    if news:
        found.append(f"the health of {', '.join(news)}")
    elif any(wish.is_rescue and wish.key not in state.waiting for wish in state.analysis.wishes):
        found.append("a debt to be lowered")
    return tuple(found)
