"""The only place a change request's state changes: one conditional UPDATE, its audit entry and its event with it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from permits_app.approvals.address_lines import sum_up_warnings
from permits_app.models import ChangeRequest, OwnerTransaction
from permits_app.models.approval import ChangeState
from permits_app.models.owner_transaction import OwnerTransactionState
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.storable_text import make_plain
from tools_app.core.transaction_retry import retry_aborted

S = ChangeState

TRANSITIONS: Mapping[ChangeState, frozenset[ChangeState]] = {
    S.OPEN: frozenset({S.APPROVED, S.REJECTED, S.STALE, S.EXPIRED, S.CANCELLED}),
    S.APPROVED: frozenset({S.EXECUTED, S.STALE, S.FAILED, S.EXPIRED, S.CANCELLED}),
    # An action that was begun when it was approved, and ended without what was approved.
    S.EXECUTED: frozenset({S.FAILED}),
    S.REJECTED: frozenset(),
    # Only by a chain that executed after all what its owners had signed.
    S.STALE: frozenset({S.EXECUTED}),
    S.FAILED: frozenset({S.EXECUTED}),
    S.EXPIRED: frozenset(),
    S.CANCELLED: frozenset(),
}

_TOLD: Mapping[ChangeState, tuple[str, EventType]] = {
    S.APPROVED: ("ChangeApproved", EventType.APPROVAL_GRANTED),
    S.EXECUTED: ("ChangeExecuted", EventType.APPROVAL_EXECUTED),
    S.REJECTED: ("ChangeRejected", EventType.APPROVAL_REJECTED),
    S.STALE: ("ChangeStale", EventType.APPROVAL_CANCELLED),
    S.EXPIRED: ("ChangeTimedOut", EventType.APPROVAL_EXPIRED),
    S.CANCELLED: ("ChangeCancelled", EventType.APPROVAL_CANCELLED),
    S.FAILED: ("ChangeFailed", EventType.APPROVAL_CANCELLED),
}


@retry_aborted
def move_request(
    *,
    request: ChangeRequest,
    to: ChangeState,
    actor: str,
    now: datetime,
    reason: str = "",
    facts: Mapping[str, object] | None = None,
    **columns: object,
) -> bool:
    """Move `request` from the state it was read in to `to`; True when this caller did it. Refreshes the row."""
    leaving = ChangeState(request.state)
    if to not in TRANSITIONS[leaving]:
        raise ValueError(f"a change request does not go from {leaving} to {to}")
    reason = make_plain(reason)
    closing = {"closed_at": now} if to != S.APPROVED else {}
    with transaction.atomic():
        changed = ChangeRequest.objects.filter(pk=request.pk, state=leaving).update(
            state=to, state_reason=reason, updated_at=now, **closing, **columns
        )
        if not changed:
            return False
        if to not in (S.APPROVED, S.EXECUTED):
            # What was not sent is not sent any more.
            unsent = [OwnerTransactionState.SIGNING, OwnerTransactionState.RELEASED]
            OwnerTransaction.objects.filter(request_id=request.pk, state__in=unsent).update(
                state=OwnerTransactionState.DEAD, updated_at=now
            )
        request.refresh_from_db()
        name, event = _TOLD[to]
        tell(request=request, audit=name, event=event, actor=actor, now=now, reason=reason, facts=facts)
    return True


def tell(
    *,
    request: ChangeRequest,
    audit: str,
    event: EventType | None,
    actor: str,
    now: datetime,
    reason: str = "",
    facts: Mapping[str, object] | None = None,
) -> None:
    """Append one audit entry about `request` and emit the event there is; joins the caller's transaction."""
    about = {
        "request_id": str(request.pk),
        "operation": request.kind,
        "risk_tier": request.risk_tier,
        "status": request.state,
        "digest": request.digest,
    }
    if request.permit_id:
        about["permit_id"] = str(request.permit_id)
    if reason:
        about["reason"] = reason
    audit_log.append(
        golem_id=request.golem_id,
        event=audit,
        actor=actor,
        now=now,
        data={**about, "title": request.title, "plan_hash": request.plan_hash, **(facts or {})},
    )
    if event is not None:
        payload = {**about, "summary": _sum_up(request, event), "approvals_needed": request.required_approvals}
        event_bus.emit(golem_id=request.golem_id, event=Event(event, payload), now=now)


def _sum_up(request: ChangeRequest, event: EventType) -> str:
    """Its title; where it asks for a decision, with what is suspect about its addresses."""
    told = sum_up_warnings(request.shown) if event is EventType.APPROVAL_REQUESTED else ""
    return f"{request.title}; {told}" if told else request.title
