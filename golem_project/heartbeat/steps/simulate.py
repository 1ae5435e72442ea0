"""SIMULATE: what is wanted next, and its preview: all hooks, the exact bytes simulated, the worst case reserved.

Previews go through the domain call agents use over REST; a refusal is kept with its code and waits.
"""

from __future__ import annotations

from django.conf import settings

from golem_project.heartbeat import tick_claims
from golem_project.heartbeat.action_record_changes import change_action, open_action, refuse_action
from golem_project.heartbeat.cycle_state import ACTOR, CycleState
from golem_project.heartbeat.steps.ask_planner import next_wanted
from golem_project.heartbeat.thinking.planner import WantedAction
from permits_app.actions.preview import preview_action
from permits_app.actions.record_denial import record_preview_denial
from permits_app.models.action_record import ActionRecord, ActionState
from permits_app.previews.request_words import MOST_WHY, WHY
from tools_app.core.errors import GolemError


def simulate(state: CycleState) -> None:
    """Preview the next wanted action; without one, or without the golem, the tick's actions are over."""
    state.current = state.permit = None
    wanted = next_wanted(state)
    if wanted is None:
        state.is_stopped = True
        return
    action = open_action(state, wanted)
    if not tick_claims.renew(begun=state.begun, lease_seconds=settings.GOLEM_HEARTBEAT_LEASE_SECONDS, now=state.now()):
        change_action(action, ActionState.DEFERRED, block_reason="another tick took over, or the heartbeat is off")
        state.is_stopped = True
        return
    _preview(state, action, wanted)


def _preview(state: CycleState, action: ActionRecord, wanted: WantedAction) -> None:
    body: dict[str, object] = {"action_type": wanted.action_type, WHY: wanted.reason[:MOST_WHY], **wanted.params}
    if wanted.venue is not None:
        body["venue"] = wanted.venue
    try:
        permit = preview_action(
            golem_id=state.golem.pk,
            api_key_id=None,
            body=body,
            now=state.now(),
            actor=ACTOR,
            is_rescue=wanted.is_rescue,
        )
    except GolemError as error:
        record_preview_denial(golem_id=state.golem.pk, actor=ACTOR, body=body, error=error, now=state.now())
        refuse_action(state, action, error)
        return
    change_action(action, ActionState.PREVIEWED, permit_id=permit["permit_id"], tool_name=permit["tool"])
    state.current, state.permit = action, permit
