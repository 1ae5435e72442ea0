"""The permit state machine: the only place a permit's status changes.

Every change is one conditional UPDATE on the state it leaves, so of two writers one wins and the other is
told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from permits_app.errors import SameActionPending
from permits_app.models import ActionPermit
from permits_app.models.permit import UNFINISHED, PermitStatus
from tools_app.core import audit_log, event_bus, wake_waiting_process
from tools_app.core.events import Event, EventType
from tools_app.core.prepared_statements import fetch_together
from tools_app.core.single_row_sql import fill_change
from tools_app.core.storable_text import make_plain
from tools_app.core.transaction_retry import retry_aborted

S = PermitStatus

TRANSITIONS: Mapping[PermitStatus, frozenset[PermitStatus]] = {
    S.CREATED: frozenset({S.COMMITTING, S.AWAITING_APPROVAL, S.ANNOUNCED, S.EXPIRED, S.CANCELLED, S.BLOCKED}),
    # Back through CREATED, where the plan is judged anew, whatever comes next.
    S.AWAITING_APPROVAL: frozenset({S.CREATED, S.EXPIRED, S.CANCELLED, S.BLOCKED}),
    S.ANNOUNCED: frozenset({S.CREATED, S.EXPIRED, S.CANCELLED, S.BLOCKED}),
    S.COMMITTING: frozenset({S.COMMITTED, S.REVERTED, S.UNKNOWN, S.BLOCKED}),
    S.UNKNOWN: frozenset({S.COMMITTED, S.REVERTED}),
    # Only a reorganisation leads out of these two: what was seen in a block is not seen any more.
    S.COMMITTED: frozenset({S.UNKNOWN}),
    S.REVERTED: frozenset({S.UNKNOWN}),
    S.EXPIRED: frozenset(),
    S.CANCELLED: frozenset(),
    S.BLOCKED: frozenset(),
}

FINAL = frozenset({S.COMMITTED, S.REVERTED, S.EXPIRED, S.CANCELLED, S.BLOCKED})

_EVENTS: Mapping[PermitStatus, EventType] = {
    S.COMMITTED: EventType.PERMIT_COMMITTED,
    S.REVERTED: EventType.PERMIT_COMMITTED,
    S.EXPIRED: EventType.PERMIT_EXPIRED,
    S.CANCELLED: EventType.PERMIT_CANCELLED,
    S.BLOCKED: EventType.PERMIT_BLOCKED,
    S.UNKNOWN: EventType.PERMIT_UNKNOWN,
}

_TOLD = ("golem_id", "tool_name", "plan_hash", "is_local", "action_hash", "action_type", "committing_at")

_AUDIT: Mapping[PermitStatus, str] = {
    S.COMMITTING: "PermitCommitStarted",
    S.COMMITTED: "PermitConsumed",
    S.REVERTED: "PermitReverted",
    S.UNKNOWN: "PermitUnknown",
    S.EXPIRED: "PermitExpired",
    S.CANCELLED: "PermitCancelled",
    S.BLOCKED: "PermitBlocked",
    S.CREATED: "PermitReleased",
    S.AWAITING_APPROVAL: "PermitAwaitsApproval",
    S.ANNOUNCED: "PermitAnnounced",
}


@retry_aborted
def transition(
    *,
    permit_id: UUID,
    leaving: PermitStatus,
    to: PermitStatus,
    actor: str,
    now: datetime,
    reason: str = "",
    condition: Mapping[str, object] | None = None,
    data: Mapping[str, object] | None = None,
    known: ActionPermit | None = None,
    **columns: object,
) -> bool:
    """Move one permit from `leaving` to `to`; True when this caller did it, False when another was first.

    `condition` adds column filters that must hold in the same UPDATE (a lease, an expiry); `columns` are written with
    it; `known` is the permit's row where the caller has read it. Joins the caller's transaction; emits the event and
    appends to the audit log in it.
    Raises SameActionPending when an equal action of the golem is COMMITTING or UNKNOWN already.
    """
    if to not in TRANSITIONS[leaving]:
        raise ValueError(f"a permit does not go from {leaving} to {to}")
    # Agents, models and owners give reasons; they stand in events, pages and the audit log.
    reason = make_plain(reason)
    try:
        # Without a savepoint: whoever is refused here undoes the whole change this was part of.
        with transaction.atomic(savepoint=False):
            change = fill_change(
                ActionPermit,
                where={"pk": permit_id, "status": (str(leaving),), **(condition or {})},
                status=to,
                status_reason=reason,
                updated_at=now,
                **columns,
            )
            # Who knows the permit locks nothing of its golem's behind this one, so the audit chain's head may be locked
            # in the same round trip, also where another was first.
            heads = [audit_log.fill_lock(known.golem_id)] if known is not None else []
            changed, *head = fetch_together(change, *heads)
            if not changed:
                return False
            permit = known or ActionPermit.objects.only(*_TOLD).get(pk=permit_id)
            _record(permit, to=to, actor=actor, reason=reason, data=data or {}, now=now, head=next(iter(head), ()))
            if leaving in UNFINISHED:
                wake_waiting_process.tap_on_commit(name_end(permit_id))
    except IntegrityError as error:
        if "permit_equal_action_once" in str(error):
            raise SameActionPending("an equal action of this golem is being committed; look its permit up") from None
        raise
    return True


def _tell_call(permit: ActionPermit, *, to: PermitStatus, reason: str, code: str, now: datetime) -> list[Event]:
    """The tool's life around the commit of what it planned; a local write's handler tells its own."""
    call = {"tool_name": permit.tool_name, "call_id": str(permit.pk), "permit_id": str(permit.pk)}
    if to == S.COMMITTING:
        return [
            Event(EventType.TOOL_START, {**call, "params_hash": permit.action_hash, "action_type": permit.action_type})
        ]
    if permit.committing_at is None or to not in (S.COMMITTED, S.REVERTED, S.BLOCKED):
        return []
    took = {"duration_ms": max(0, int((now - permit.committing_at).total_seconds() * 1000))}
    if to == S.BLOCKED:
        return [Event(EventType.TOOL_ERROR, {**call, **took, "error_code": code or "BLOCKED", "error_message": reason})]
    return [Event(EventType.TOOL_END, {**call, **took, "success": to == S.COMMITTED})]


def name_end(permit_id: UUID) -> str:
    """What whoever waits for the end of a commit waits for by name; see `tools_app.core.wake_waiting_process`."""
    return f"permit:{permit_id}"


def _record(
    permit: ActionPermit,
    *,
    to: PermitStatus,
    actor: str,
    reason: str,
    data: Mapping[str, object],
    now: datetime,
    head: Sequence[tuple[object, ...]],
) -> None:
    payload = {"permit_id": str(permit.pk), "tool_name": permit.tool_name, "status": str(to), **data}
    if reason:
        payload["reason"] = reason
    emitted = [Event(_EVENTS[to], payload)] if to in _EVENTS else []
    if not permit.is_local:
        emitted += _tell_call(permit, to=to, reason=reason, code=str(data.get("code", "")), now=now)
    audit_log.append(
        golem_id=permit.golem_id,
        event=_AUDIT[to],
        actor=actor,
        now=now,
        head=head,
        data={**payload, "plan_hash": permit.plan_hash},
        along=[event_bus.fill_events(golem_id=permit.golem_id, events=emitted, now=now)] if emitted else [],
    )
