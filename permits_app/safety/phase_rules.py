"""What a golem may do at all in its state: a halt, the phase table, and tools of the highest risk late in life.

A decrease or close that comes back to the golem is stopped by nothing but a halt, so a golem can always get out.
"""

from __future__ import annotations

from archetypes_app.errors import GolemHalted
from archetypes_app.phases import SAYS, is_allowed
from permits_app.errors import PhaseBlocked
from permits_app.hook_rejection import Reject
from tools_app.toolkit.enums import LEAVING, ActionClass, Phase, RiskLayer

_LATE_PHASES = frozenset({Phase.DEFENSIVE, Phase.SURVIVAL, Phase.TERMINAL})


def judge_halt(*, is_halted: bool, reason: str) -> Reject | None:
    """A halted golem does nothing."""
    if not is_halted:
        return None
    return Reject(
        rule="policy_cage.halted",
        reason="this golem is halted; only its owner can resume it",
        observed=reason or "halted",
        limit="a golem that runs",
        would_pass="the same action once its owner resumed it",
        error=GolemHalted,
    )


def judge_phase(
    *, phase: Phase, action_class: ActionClass, returns_to_golem: bool = False, is_rescue: bool = False
) -> Reject | None:
    """The phase table; what decreases a position and comes back to the golem passes in every phase, because what is
    closed in parts, or by way of a queue, could not be closed otherwise. A rescue is a tool that only lowers a debt: no
    phase keeps a golem from it.
    """
    if is_allowed(phase, action_class) or (action_class in LEAVING and (returns_to_golem or is_rescue)):
        return None
    allowed = SAYS[phase]
    return Reject(
        rule="policy_cage.phase",
        reason=f"{action_class.value} is not allowed in phase {phase.value}; allowed is {allowed}",
        observed=f"{action_class.value} in phase {phase.value}",
        limit=allowed,
        would_pass=allowed,
        error=PhaseBlocked,
    )


def judge_layer(*, phase: Phase, layer: RiskLayer, action_class: ActionClass) -> Reject | None:
    """Tools of layer 3 are for golems with life to spare; leaving a position is never stopped by its layer."""
    if layer is not RiskLayer.UNBOUNDED or phase not in _LATE_PHASES or action_class in LEAVING:
        return None
    return Reject(
        rule="policy_cage.risk_layer",
        reason=f"tools of risk layer 3 are blocked in phase {phase.value}",
        observed=f"layer {int(layer)} in phase {phase.value}",
        limit=f"layer {int(RiskLayer.BOUNDED)}",
        would_pass="a tool of layer 1 or 2, or an action that decreases or closes a position",
        error=PhaseBlocked,
    )
