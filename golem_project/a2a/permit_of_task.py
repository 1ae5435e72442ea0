"""Moves a task with its permit: owners decide, workers commit, time runs out, and the task says so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from golem_project.a2a.models import OPEN_STATES, Task, TaskState
from golem_project.a2a.task_states import move_task
from permits_app.models.permit import PermitStatus as P
from permits_app.permits.selectors import get_permit
from permits_app.safety.hooks.result_filter import filter_result
from tools_app.toolkit.enums import PiTool

STATE_OF: Mapping[str, TaskState] = {
    P.CREATED: TaskState.COMPLETED,
    P.AWAITING_APPROVAL: TaskState.INPUT_REQUIRED,
    P.ANNOUNCED: TaskState.WORKING,
    P.COMMITTING: TaskState.WORKING,
    P.UNKNOWN: TaskState.WORKING,
    P.COMMITTED: TaskState.COMPLETED,
    P.REVERTED: TaskState.FAILED,
    P.EXPIRED: TaskState.FAILED,
    P.CANCELLED: TaskState.CANCELED,
    P.BLOCKED: TaskState.REJECTED,
}
"""Where a task is by its permit's status."""
_WORDS: Mapping[str, str] = {
    P.CREATED: "the permit can be used",
    P.AWAITING_APPROVAL: "the golem's owners have to approve it; nothing is to be sent here",
    P.ANNOUNCED: "announced; it is carried out when its delay is over",
    P.COMMITTING: "signed, or about to be",
    P.UNKNOWN: "sent and not seen on the chain yet",
    P.COMMITTED: "on the chain",
    P.REVERTED: "on the chain, where it failed",
}
_UNPAID = "nobody paid for it in its time; ask again"
_INTERRUPTED = "the server stopped while it worked on this; look at the golem's permits before you ask again"


def describe_permit(permit: Mapping[str, object]) -> str:
    """Why a task is where its permit is, in words."""
    status = str(permit["status"])
    return str(permit["status_reason"]) or _WORDS.get(status, status.lower())


def follow_task(*, task_id: UUID, now: datetime) -> Task:
    """The task, brought to where its permit is. One that no process works on any more has failed."""
    task = _load(task_id)
    if task.state not in OPEN_STATES or (task.lease_until is not None and now < task.lease_until):
        return task
    if task.payment.get("required"):
        move_task(task_id=task.pk, leaving=[TaskState.INPUT_REQUIRED], to=TaskState.CANCELED, now=now, note=_UNPAID)
        return _load(task_id)
    permit_id, status = task.permit_id, task.permit.status if task.permit is not None else ""
    if permit_id is None or (status == P.CREATED and task.skill == PiTool.COMMIT_ACTION):
        move_task(task_id=task.pk, leaving=OPEN_STATES, to=TaskState.FAILED, now=now, note=_INTERRUPTED)
    elif STATE_OF[status] != task.state:
        permit = filter_result(get_permit(golem=task.golem, permit_id=permit_id))
        # Only from the state it was read in: whoever moved it meanwhile read something newer.
        move_task(
            task_id=task.pk,
            leaving=[TaskState(task.state)],
            to=STATE_OF[permit["status"]],
            now=now,
            note=describe_permit(permit),
            answer=permit,
            lease_until=None,
        )
    return _load(task_id)


def list_behind(*, most: int, now: datetime) -> list[UUID]:
    """The open tasks that are not where their permit is, longest unchanged first.

    One whose permit waits for owners is where it should be for days, and is left out: it would stand before the others.
    """
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
    behind = Q(permit__isnull=True) | Q(permit__status=P.CREATED)
    for status, state in STATE_OF.items():
        behind |= Q(permit__status=status) & ~Q(state=state)
    rows = Task.objects.filter(free, behind, state__in=[str(state) for state in OPEN_STATES]).order_by("updated_at")
    return list(rows.values_list("pk", flat=True)[:most])


def _load(task_id: UUID) -> Task:
    return Task.objects.select_related("permit", "golem").get(pk=task_id)
