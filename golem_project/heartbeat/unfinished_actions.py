"""Actions that outlive their tick: those that wait for owners or for an announced time, and those a dead tick left.

Every later tick looks at their permits again. One that ended completes its record, is remembered in the tick that saw
it, and is told to the planner; one that still waits is not asked for again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from archetypes_app.models import HeartbeatTick
from golem_project.heartbeat.action_record_changes import change_action, drop_permit, end_wait, make_wait, open_action
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.observation import value_of
from golem_project.heartbeat.thinking.planner import PermitStep, TouchedPermit, WantedAction
from permits_app.models import ActionPermit, Announcement, ChangeRequest, OutcomeRecord
from permits_app.models.action_record import OPEN_STATES, ActionRecord, ActionState
from permits_app.models.approval import ChangeState
from permits_app.models.permit import UNFINISHED, PermitStatus
from tools_app.core.errors import Recovery
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.views import NATIVE

_RESULT: Final[Mapping[str, ActionState]] = {
    PermitStatus.COMMITTED: ActionState.EXECUTED,
    PermitStatus.REVERTED: ActionState.REVERTED,
    PermitStatus.EXPIRED: ActionState.BLOCKED,
    PermitStatus.CANCELLED: ActionState.BLOCKED,
    PermitStatus.BLOCKED: ActionState.BLOCKED,
}
_WAITS_FOR: Final[Mapping[str, str]] = {
    PermitStatus.AWAITING_APPROVAL: "AWAITING_APPROVAL",
    PermitStatus.ANNOUNCED: "ACTION_ANNOUNCED",
}
_LEFT_BY_A_DEAD_TICK: Final = "the tick that wanted it stopped before it was committed"
_NO_FOR_A_DAY: Final = timedelta(days=1)
# So many outcomes are kept for a planner that was not asked since.
MOST_UNHEARD: Final = 8


def record_touched(state: CycleState, touched: TouchedPermit) -> None:
    """Write down what a planner itself did with a permit while it thought."""
    permit = ActionPermit.objects.filter(golem_id=state.golem.pk, pk=touched.permit_id).first()
    if permit is None or any(each.permit_id == permit.pk for each in state.waiting_actions):
        return
    wanted = WantedAction(touched.action_type, touched.venue, permit.params, "done while thinking")
    action = open_action(state, wanted)
    columns: dict[str, object] = {"permit_id": permit.pk, "tool_name": permit.tool_name}
    if permit.status in _WAITS_FOR:
        change_action(action, ActionState.PREVIEWED, **columns)
        leave_waiting(state, action, permit)
    elif touched.step is PermitStep.COMMITTED:
        change_action(action, ActionState.COMMITTING, **columns)
        follow_permit(state, action)
    else:
        change_action(action, ActionState.DEFERRED, **columns)


def leave_waiting(state: CycleState, action: ActionRecord, permit: ActionPermit) -> None:
    """Its permit stays and somebody else decides: owners, or the Warden's clock. The same is not wanted meanwhile."""
    why = _WAITS_FOR[permit.status]
    if action.state != ActionState.WAITING or not action.block_reason.startswith(why):
        change_action(action, ActionState.WAITING, block_reason=f"{why}: {_word_wait(permit)}")
    action.permit = permit
    state.waiting_actions.append(action)


def follow_permit(state: CycleState, action: ActionRecord) -> ActionState:
    """Bring the record to what its permit shows now. Returns the state."""
    permit = None if action.permit_id is None else ActionPermit.objects.filter(pk=action.permit_id).first()
    return ActionState(action.state) if permit is None else _follow(state, action, permit)


def settle_earlier(state: CycleState) -> None:
    """Look at every action of earlier ticks that has not ended, and finish the records of those that have."""
    rows = (
        ActionRecord.objects.filter(golem_id=state.golem.pk, state__in=[str(each) for each in OPEN_STATES])
        .exclude(tick_id=state.begun.id)
        .select_related("tick", "permit")
        .order_by("pk")
    )
    for action in rows:
        was = ActionState(action.state)
        if action.permit is not None:
            _follow(state, action, action.permit)
        elif was is ActionState.PLANNED:
            _drop_unnoted(state, action)
        if action.state in (ActionState.PLANNED, ActionState.PREVIEWED):
            drop_permit(state, action, reason=_LEFT_BY_A_DEAD_TICK)
            change_action(action, ActionState.DEFERRED, block_reason=_LEFT_BY_A_DEAD_TICK)
            state.mutations.append(f"{action.action_type} of tick {action.tick.number} was left and is dropped")
        elif action.state not in OPEN_STATES and was in (ActionState.WAITING, ActionState.COMMITTING):
            _hear(state, action)


def _follow(state: CycleState, action: ActionRecord, permit: ActionPermit) -> ActionState:
    if permit.status in _WAITS_FOR:
        leave_waiting(state, action, permit)
    elif permit.status in UNFINISHED:
        if action.state != ActionState.COMMITTING:
            change_action(action, ActionState.COMMITTING, block_reason="")
    elif permit.status in _RESULT:
        _complete(state, action, permit)
    return ActionState(action.state)


def _complete(state: CycleState, action: ActionRecord, permit: ActionPermit) -> None:
    outcome = OutcomeRecord.live.filter(permit=permit).first()
    to = _RESULT[permit.status]
    change_action(
        action,
        to,
        tx_hashes=list(permit.transactions.order_by("call_index").values_list("tx_hash", flat=True)),
        block_reason="" if to is ActionState.EXECUTED else permit.status_reason,
        problem=permit.problem,
        gas_micro_usd=_price_gas(state, outcome),
    )
    if to is ActionState.EXECUTED:
        end_wait(state, action)


def _hear(state: CycleState, action: ActionRecord) -> None:
    """An earlier action ended: keep it for this tick's record and for the planner; what was refused waits."""
    state.followed.append(action)
    news: dict[str, object] = {
        "action_type": action.action_type,
        "venue": action.venue or None,
        "heartbeat_tick": action.tick.number,
        "permit_id": str(action.permit_id),
        "state": str(action.state),
        "reason": action.block_reason[:300],
    }
    outcome = OutcomeRecord.live.filter(permit_id=action.permit_id).first()
    if outcome is not None:
        pnl = outcome.pnl_micro_usd
        news |= {"is_verified": outcome.is_verified, "pnl": None if pnl is None else format_micro_usd(pnl)}
    if action.state != ActionState.EXECUTED:
        code, recovery, resets_at = _read_refusal(state, action)
        news["code"] = code
        make_wait(
            state,
            action,
            code=code,
            recovery=recovery,
            data={"resets_at": resets_at.isoformat()} if resets_at is not None else {},
        )
    state.unheard = [*state.unheard, news][-MOST_UNHEARD:]
    state.mutations.append(f"{action.action_type} of tick {action.tick.number} ended: {str(action.state).lower()}")


def _read_refusal(state: CycleState, action: ActionRecord) -> tuple[str, Recovery, datetime | None]:
    """How an action was refused after it waited, and how long the same is not asked again: an owner's no for a day."""
    if ChangeRequest.objects.filter(permit_id=action.permit_id, state=ChangeState.REJECTED).exists():
        return "OWNERS_REFUSED", Recovery.GIVE_UP, state.now() + _NO_FOR_A_DAY
    status = str(action.permit.status) if action.permit is not None else ""
    if status == PermitStatus.EXPIRED:
        return "NOBODY_DECIDED", Recovery.ASK_OWNER, None
    if status == PermitStatus.CANCELLED:
        return "CANCELLED", Recovery.GIVE_UP, None
    code = str(action.problem.get("code") or status)
    return code, Recovery(action.problem.get("recovery", Recovery.CHECK_STATE)), None


def _drop_unnoted(state: CycleState, action: ActionRecord) -> None:
    """Cancel the permit a tick made and died before it could note it, so that nobody is asked about it any more."""
    next_tick = HeartbeatTick.objects.filter(golem_id=state.golem.pk, number=action.tick.number + 1).first()
    if next_tick is None:
        return
    made = ActionPermit.objects.filter(
        golem_id=state.golem.pk,
        api_key__isnull=True,
        action_type=action.action_type,
        action_records__isnull=True,
        created_at__range=(action.created_at, next_tick.started_at),
        status__in=[PermitStatus.CREATED, *_WAITS_FOR],
    ).first()
    if made is not None:
        change_action(action, ActionState.PREVIEWED, permit_id=made.pk, tool_name=made.tool_name)


def _word_wait(permit: ActionPermit) -> str:
    if permit.status == PermitStatus.AWAITING_APPROVAL:
        return f"its owners decide until {_show(permit.expires_at)}"
    row = Announcement.objects.filter(permit=permit).first()
    at = row.executes_at if row is not None else permit.expires_at
    return f"it is carried out at {_show(at)} unless an owner or the watchdog cancels it"


def _show(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def _price_gas(state: CycleState, outcome: OutcomeRecord | None) -> int | None:
    coin = state.observation.holding(NATIVE)
    if outcome is None or coin is None or coin.price is None:
        return None
    return value_of(int(outcome.fee_wei), coin.token, coin.price)
