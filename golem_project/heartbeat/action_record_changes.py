"""ActionRecords on their way through one tick: opened, refused, put off, rehearsed.

A record is written before each step it describes, so a tick that was killed left a trace that the next one settles.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from golem_project.heartbeat.cycle_state import ACTOR, CycleState
from golem_project.heartbeat.refused_wish_backoff import REHEARSAL, REHEARSED, WishBackoff, wait_after
from golem_project.heartbeat.thinking.planner import WantedAction
from permits_app.actions.cancel import cancel_permit
from permits_app.errors import PermitNotCancellable
from permits_app.models.action_record import ActionRecord, ActionState
from tools_app.core.errors import GolemError, Recovery


def open_action(state: CycleState, wanted: WantedAction) -> ActionRecord:
    """Write down what is about to be previewed."""
    action = ActionRecord.objects.create(
        tick_id=state.begun.id,
        golem_id=state.golem.pk,
        position=len(state.actions),
        action_type=wanted.action_type,
        venue=wanted.venue or "",
        params=dict(wanted.params),
        reason=wanted.reason,
        wish_key=_name_wish(state, wanted),
    )
    state.actions.append(action)
    return action


def change_action(action: ActionRecord, to: ActionState, **columns: object) -> None:
    """Write its new state and what is known with it."""
    action.state = to
    for name, value in columns.items():
        setattr(action, name, value)
    action.save(update_fields=["state", "updated_at", *columns])


def refuse_action(state: CycleState, action: ActionRecord, error: GolemError) -> None:
    """Blocked for a reason that is kept, and not asked again before it can have changed."""
    change_action(action, ActionState.BLOCKED, block_reason=f"{error.code}: {error.detail}", problem=error.as_problem())
    make_wait(state, action, code=error.code, recovery=error.next_step, data=error.data)


def put_off(state: CycleState, action: ActionRecord, *, code: str, reason: str) -> None:
    """Not now: its permit is cancelled, nothing was sent."""
    drop_permit(state, action, reason=reason)
    change_action(action, ActionState.DEFERRED, block_reason=f"{code}: {reason}")
    make_wait(state, action, code=code, recovery=Recovery.WAIT, data={})


def rehearse(state: CycleState, action: ActionRecord) -> None:
    """A dry run ends here: the preview was real, its permit is cancelled."""
    drop_permit(state, action, reason="dry run: the golem is not live")
    change_action(action, ActionState.REHEARSED)
    state.waits[action.wish_key] = WishBackoff(state.now() + REHEARSAL, REHEARSED, 1)


def drop_permit(state: CycleState, action: ActionRecord, *, reason: str) -> None:
    """Cancel the action's permit, if it still can be."""
    if action.permit_id is None:
        return
    try:
        cancel_permit(golem=state.golem, permit_id=action.permit_id, reason=reason, actor=ACTOR, now=state.now())
    except PermitNotCancellable:
        # It expired by itself, or an owner was first; either way nothing is held any more.
        action.refresh_from_db(fields=["permit"])


def make_wait(
    state: CycleState, action: ActionRecord, *, code: str, recovery: Recovery, data: Mapping[str, object]
) -> None:
    """Let the wish behind `action` wait."""
    key = action.wish_key
    wait = wait_after(
        before=state.waits.get(key),
        code=code,
        recovery=recovery,
        resets_at=_read_time(data.get("resets_at")),
        now=state.now(),
    )
    state.waits[key] = wait
    state.mutations.append(f"{key} waits until {wait.until.isoformat()} after {code}")


def end_wait(state: CycleState, action: ActionRecord) -> None:
    """What was carried out begins anew: a later refusal of the same wish is the first in a row."""
    if state.waits.pop(action.wish_key, None) is not None:
        state.mutations.append(f"{action.wish_key} waits no more: it was carried out")


def _name_wish(state: CycleState, wanted: WantedAction) -> str:
    """The wish an action came from, or its kind when a model wanted it."""
    for wish in state.analysis.wishes:
        if wish.action_type == wanted.action_type and wish.params == wanted.params:
            return wish.key
    return f"{wanted.action_type}:{wanted.venue or ''}"


def _read_time(text: object) -> datetime | None:
    if not isinstance(text, str) or not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
