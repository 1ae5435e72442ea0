"""follow_approved_permits: a request about an action is what became of the action.

An approved permit is begun at once, and its request with it; when it is blocked or reverts instead of being carried out
the request says so, with the reason and what comes next. Appends ChangeFailed, ChangeExecuted. Decision 0378.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from permits_app.approvals import request_states
from permits_app.models import ActionPermit, ChangeRequest
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.permits.request_stages import NOT_CARRIED_OUT
from permits_app.permits.row_locks import lock_request
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted

_ACTOR: Final = "system:approvals"
_LOOKED_AT: Final = timedelta(days=2)
"""An older one is told by its permit's status on every page; its row stays as it is."""
_BATCH: Final = 100
_NEXT: Final = {
    PermitStatus.BLOCKED: "it was stopped before anything was sent",
    PermitStatus.REVERTED: "it was sent, and the chain took it back; its gas is spent",
    PermitStatus.EXPIRED: "its time was over before it was sent",
    PermitStatus.CANCELLED: "it was cancelled before it was sent",
}


def follow_approved_permits(*, now: datetime) -> int:
    """Bring requests of the last days to where their permits are; how many moved."""
    young = ChangeRequest.objects.filter(permit__isnull=False, closed_at__gte=now - _LOOKED_AT)
    failed = young.filter(state=ChangeState.EXECUTED, permit__status__in=NOT_CARRIED_OUT)
    late = young.filter(state=ChangeState.FAILED, execution__isnull=False, permit__status=PermitStatus.COMMITTED)
    ids = [*failed.values_list("pk", flat=True)[:_BATCH], *late.values_list("pk", flat=True)[:_BATCH]]
    return sum(one_by_one(ids, lambda pk: follow_approved_permit(request_id=pk, now=now), what="the approved action"))


@retry_aborted
def follow_approved_permit(*, request_id: UUID, now: datetime) -> bool:
    """The same of one; whether it moved."""
    with transaction.atomic():
        request = ChangeRequest.objects.get(pk=request_id)
        lock_request(request)
        request = ChangeRequest.objects.select_related("golem", "permit").get(pk=request_id)
        permit: ActionPermit | None = request.permit
        if permit is None:
            return False
        status = PermitStatus(permit.status)
        if request.state == ChangeState.EXECUTED and status in NOT_CARRIED_OUT:
            why = say_outcome(permit)
            problem = {
                "title": "The approved action was not carried out",
                "code": str(permit.problem.get("code") or f"PERMIT_{status}") if permit.problem else f"PERMIT_{status}",
                "detail": why,
            }
            return request_states.move_request(
                request=request, to=ChangeState.FAILED, actor=_ACTOR, now=now, reason=why, problem=problem
            )
        if request.state == ChangeState.FAILED and status == PermitStatus.COMMITTED:
            return request_states.move_request(
                request=request,
                to=ChangeState.EXECUTED,
                actor=_ACTOR,
                now=now,
                reason="the chain carried it out after all",
                problem={},
            )
    return False


def say_outcome(permit: ActionPermit) -> str:
    """What became of an approved action that was not carried out, why, and what comes next."""
    status = PermitStatus(permit.status)
    # Who cancelled it may be an agent; its words are on the permit's page, marked as such.
    reason = f": {permit.status_reason}" if permit.status_reason and status != PermitStatus.CANCELLED else ""
    return (
        f"{_NEXT[status]}{reason}. Nothing else happens with this approval; mend what is named, and let the agent"
        " preview the action again"
    )
