"""EXECUTE: commit the permit, once, by the tick that still holds the golem. A dry run ends before it.

With the Warden on it is announced instead: the sweep carries it out when its delay is over, and later ticks follow it.
"""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db import transaction

from golem_project.heartbeat import tick_claims
from golem_project.heartbeat.action_record_changes import change_action, put_off, refuse_action, rehearse
from golem_project.heartbeat.cycle_state import ACTOR, CycleState
from golem_project.heartbeat.unfinished_actions import follow_permit
from permits_app.actions.announce_warden_actions import announce_permit
from permits_app.actions.record_denial import record_commit_denial
from permits_app.actions.start_commit import start_commit
from permits_app.models import ActionRecord, Announcement
from permits_app.models.action_record import ActionState
from permits_app.permits import row_locks
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted


def execute(state: CycleState) -> None:
    """Start the commit in the transaction that proves the fence, then have it worked on."""
    action = state.current
    if action is None:
        return
    if not state.golem.is_live:
        rehearse(state, action)
        state.current, state.is_stopped = None, True
        return
    permit_id = UUID(str(action.permit_id))
    try:
        is_ours, announced = _start(state, action, permit_id)
    except GolemError as error:
        record_commit_denial(golem_id=state.golem.pk, actor=ACTOR, permit_id=permit_id, error=error, now=state.now())
        refuse_action(state, action, error)
        state.current = None
        return
    if not is_ours:
        put_off(state, action, code="TICK_LOST", reason="another tick took over, or the heartbeat is off")
        state.current, state.is_stopped = None, True
        return
    if announced is not None:
        follow_permit(state, action)
        state.current, state.is_stopped = None, True
        return
    seconds = min(settings.GOLEM_HEARTBEAT_VERIFY_SECONDS, state.deadline.remaining_ms() / 1_000)
    state.work(permit_id, seconds)


@retry_aborted
def _start(state: CycleState, action: ActionRecord, permit_id: UUID) -> tuple[bool, Announcement | None]:
    """Whether this tick still holds the golem, then the commit has begun; and the announcement made instead of it."""
    with transaction.atomic():
        # The golem before its clock, as everywhere. Holding the clock's row, no other tick can begin between this check
        # and the commit's start.
        row_locks.lock_golem(state.golem.pk)
        lease = settings.GOLEM_HEARTBEAT_LEASE_SECONDS
        if not tick_claims.renew(begun=state.begun, lease_seconds=lease, now=state.now()):
            return False, None
        list(ActionRecord.objects.select_for_update(no_key=True, of=("self",)).filter(pk=action.pk))
        announced = announce_permit(permit_id=permit_id, golem=state.golem, actor=ACTOR, now=state.now())
        if announced is None:
            start_commit(golem=state.golem, permit_id=permit_id, actor=ACTOR, now=state.now())
            change_action(action, ActionState.COMMITTING)
        return True, announced
