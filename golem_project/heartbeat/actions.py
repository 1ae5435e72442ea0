"""ActionRecords on their way: opened, refused, put off, followed to the outcome of their permit.

A record is written before each step it describes, so a tick that was killed left a trace that the next one settles.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from golem_project.heartbeat.backoff import REHEARSAL, REHEARSED, Wait, wait_after
from golem_project.heartbeat.cycle_state import ACTOR, CycleState
from golem_project.heartbeat.observation import value_of
from golem_project.heartbeat.thinking.planner import PermitStep, TouchedPermit, WantedAction
from permits_app.actions.cancel import cancel_permit
from permits_app.errors import PermitNotCancellable
from permits_app.models import ActionPermit, OutcomeRecord
from permits_app.models.action_record import OPEN_STATES, ActionRecord, ActionState
from permits_app.models.permit import PermitStatus
from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.views import NATIVE

_RESULT: Final[Mapping[str, ActionState]] = {
    PermitStatus.COMMITTED: ActionState.EXECUTED,
    PermitStatus.REVERTED: ActionState.REVERTED,
    PermitStatus.EXPIRED: ActionState.BLOCKED,
    PermitStatus.CANCELLED: ActionState.BLOCKED,
    PermitStatus.BLOCKED: ActionState.BLOCKED,
}
_LEFT_BY_A_DEAD_TICK: Final = "the tick that wanted it stopped before it was committed"


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
    )
    state.actions.append(action)
    return action


def record_touched(state: CycleState, touched: TouchedPermit) -> None:
    """Write down what a planner itself did with a permit while it thought."""
    permit = ActionPermit.objects.filter(golem_id=state.golem.pk, pk=touched.permit_id).first()
    if permit is None:
        return
    wanted = WantedAction(touched.action_type, touched.venue, permit.params, "done while thinking")
    action = open_action(state, wanted)
    to = ActionState.COMMITTING if touched.step is PermitStep.COMMITTED else ActionState.DEFERRED
    change_action(action, to, permit_id=permit.pk, tool_name=permit.tool_name)
    if to is ActionState.COMMITTING:
        follow_permit(state, action)


def change_action(action: ActionRecord, to: ActionState, **columns: Any) -> None:
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


def leave_announced(state: CycleState, action: ActionRecord, *, executes_at: datetime, ends_at: datetime) -> None:
    """The Warden's delay runs: its permit stays, and the same is not wanted again before it ended."""
    until = f"it is carried out at {executes_at:%Y-%m-%d %H:%M:%S} UTC unless an owner or the watchdog cancels it"
    change_action(action, ActionState.DEFERRED, block_reason=f"ACTION_ANNOUNCED: {until}")
    state.waits[key_of(state, action)] = Wait(ends_at, "ACTION_ANNOUNCED", 1)


def rehearse(state: CycleState, action: ActionRecord) -> None:
    """A dry run ends here: the preview was real, its permit is cancelled."""
    drop_permit(state, action, reason="dry run: the golem is not live")
    change_action(action, ActionState.REHEARSED)
    state.waits[key_of(state, action)] = Wait(state.now() + REHEARSAL, REHEARSED, 1)


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
    state: CycleState, action: ActionRecord, *, code: str, recovery: Recovery, data: Mapping[str, Any]
) -> None:
    """Let the wish behind `action` wait."""
    key = key_of(state, action)
    wait = wait_after(
        before=state.waits.get(key), code=code, recovery=recovery, resets_at=_read_time(data.get("resets_at")),
        now=state.now(),
    )  # fmt: skip
    state.waits[key] = wait
    state.mutations.append(f"{key} waits until {wait.until.isoformat()} after {code}")


def key_of(state: CycleState, action: ActionRecord) -> str:
    """The wish an action came from, or its kind when a model wanted it."""
    for wish in state.analysis.wishes:
        if wish.action_type == action.action_type and wish.params == action.params:
            return wish.key
    return f"{action.action_type}:{action.venue}"


def follow_permit(state: CycleState, action: ActionRecord) -> ActionState:
    """Bring the record to what its permit shows now. Returns the state."""
    permit = None if action.permit_id is None else ActionPermit.objects.filter(pk=action.permit_id).first()
    if permit is None or permit.status not in _RESULT:
        return ActionState(action.state)
    outcome = OutcomeRecord.objects.filter(permit=permit).first()
    to = _RESULT[permit.status]
    change_action(
        action,
        to,
        tx_hashes=list(permit.transactions.order_by("call_index").values_list("tx_hash", flat=True)),
        block_reason="" if to is ActionState.EXECUTED else permit.status_reason,
        problem=permit.problem,
        gas_micro_usd=_price_gas(state, outcome),
    )
    return to


def settle_earlier(state: CycleState) -> None:
    """Finish the records of ticks that ended or died before their actions did."""
    rows = ActionRecord.objects.filter(
        golem_id=state.golem.pk, state__in=[str(each) for each in OPEN_STATES]
    ).exclude(tick_id=state.begun.id)  # fmt: skip
    for action in rows.order_by("pk"):
        if action.permit_id is not None:
            follow_permit(state, action)
        if action.state in (ActionState.PLANNED, ActionState.PREVIEWED):
            drop_permit(state, action, reason=_LEFT_BY_A_DEAD_TICK)
            change_action(action, ActionState.DEFERRED, block_reason=_LEFT_BY_A_DEAD_TICK)
            state.mutations.append(f"{action.action_type} of tick {action.tick.number} was left and is dropped")


def _price_gas(state: CycleState, outcome: OutcomeRecord | None) -> int | None:
    coin = state.observation.holding(NATIVE)
    if outcome is None or coin is None or coin.price is None:
        return None
    return value_of(int(outcome.fee_wei), coin.token, coin.price)


def _read_time(text: Any) -> datetime | None:
    if not isinstance(text, str) or not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
