"""VERIFY: what became of the action, by the permit's outcome. An outcome that is not seen yet is for a later tick."""

from __future__ import annotations

from golem_project.heartbeat.action_record_changes import make_wait
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.unfinished_actions import follow_permit
from permits_app.models.action_record import ActionState
from tools_app.core.errors import Recovery


def verify(state: CycleState) -> None:
    """Follow the permit; only an executed action lets the tick go on to another one."""
    action = state.current
    if action is None:
        return
    state.current = None
    result = follow_permit(state, action)
    if result is ActionState.EXECUTED:
        return
    state.is_stopped = True
    if result not in (ActionState.COMMITTING, ActionState.WAITING):
        code = str(action.problem.get("code") or action.state)
        recovery = Recovery(action.problem.get("recovery", Recovery.WAIT))
        make_wait(state, action, code=code, recovery=recovery, data=action.problem)
