"""Requests that finish later: the states they go through, and the only writer of those.

REQUESTED -> READY -> CLAIMING -> DONE, or STUCK (over its time; looked at still, since it may move after all), or LOST
(gone, and no claim of ours took it). A receipt only opens one. What a look saw decides alone, so it may be repeated,
late, or done by two at once: a change is made where the row is as the look found it, together with its event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from permits_app.models import ActionPermit, PendingRequest
from permits_app.models.pending_request import RequestState
from permits_app.models.permit import UNFINISHED, PermitStatus
from tools_app.core import event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.whole import whole
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import REQUEST_KIND, Act, ExitStep, Position, PositionRef, Stuck, Wait
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import ReceiptView

S = RequestState
LONGEST: Final = timedelta(days=120)
"""What takes longer is stuck, whatever its protocol says; a claim that is there can be made all the same."""
MISSED_FOR: Final = timedelta(seconds=45)
"""It must be gone for so long before it is given up: one node's answer is not enough."""
_SOON: Final = timedelta(seconds=30)
_LATER: Final = timedelta(minutes=5)
_SELDOM: Final = timedelta(hours=1)
_EVENTS: Final = {
    S.READY: EventType.REQUEST_READY,
    S.DONE: EventType.REQUEST_DONE,
    S.STUCK: EventType.REQUEST_STUCK,
    S.LOST: EventType.REQUEST_LOST,
}


@dataclass(frozen=True, slots=True)
class Look:
    """What one look saw: the position (None: not there), its next step out, and the newest claim of ours."""

    at: datetime
    position: Position | None
    step: ExitStep | None = None
    claim: ActionPermit | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What follows from a look."""

    state: RequestState
    expected_at: datetime | None = None
    missed_at: datetime | None = None
    reason: str = ""


def judge_look(row: PendingRequest, look: Look) -> Verdict:
    """The state a request is in, from what was seen alone. Pure."""
    is_claiming = look.claim is not None and look.claim.status in UNFINISHED
    if look.position is None:
        return _judge_missing(row, look, is_claiming=is_claiming)
    if is_claiming:
        return Verdict(S.CLAIMING, row.expected_at)
    reason = ""
    if look.claim is not None and look.claim.status == PermitStatus.REVERTED:
        reason = "the last claim reverted"
    if isinstance(look.step, Act):
        return Verdict(S.READY, row.expected_at, reason=reason)
    if isinstance(look.step, Stuck):
        return Verdict(S.STUCK, row.expected_at, reason=look.step.reason)
    if look.at > row.created_at + LONGEST:
        return Verdict(S.STUCK, row.expected_at, reason=f"not ready after {LONGEST.days} days")
    until = look.step.until if isinstance(look.step, Wait) else _free_at(look.position)
    if look.step is None and until is None:
        # No exits say otherwise, and nothing in it has a time: it can be had.
        return Verdict(S.READY, row.expected_at, reason=reason)
    return Verdict(S.REQUESTED, None if until is None else datetime.fromtimestamp(until, tz=UTC), reason=reason)


def plan_next_look(row: PendingRequest, verdict: Verdict, now: datetime) -> datetime:
    """When to look again: soon while something is to be done or missing, seldom while it is far away or stuck."""
    if verdict.missed_at is not None or verdict.state in (S.READY, S.CLAIMING):
        return now + _SOON
    if verdict.state == S.STUCK:
        return now + _SELDOM
    if verdict.expected_at is None:
        return now + _LATER
    return min(max(verdict.expected_at, now + _SOON), now + (_LATER if verdict.expected_at <= now else _SELDOM))


def list_born(*, plan: TxPlan, account: str, receipts: Sequence[ReceiptView]) -> tuple[PositionRef, ...]:
    """The requests that receipts say a plan's account now has."""
    logs = [log for receipt in receipts if receipt.succeeded for log in receipt.logs]
    return tuple(
        ref
        for protocol in SHELF.on(plan.chain_id)
        if protocol.positions is not None and any(protocol.owns(plan.chain_id, log.address) for log in logs)
        for ref in protocol.positions.born(logs, account, plan.chain_id)
        if ref.kind == REQUEST_KIND
    )


def open_requests(
    *, permit: ActionPermit, plan: TxPlan, refs: Sequence[PositionRef], block: int, now: datetime
) -> None:
    """Follow these from now on. Joins the caller's transaction, which holds the golem's event counter.

    One that is followed already stays as it is; one that was given up (its block left the chain) begins anew.
    """
    if not refs:
        return
    names = [str(ref) for ref in refs]
    known = PendingRequest.objects.filter(golem_id=permit.golem_id, account=permit.account, ref__in=names)
    known.filter(state=S.LOST).update(state=S.REQUESTED, missed_at=None, next_check_at=now, block_number=block)
    kept = set(known.values_list("ref", flat=True))
    amounts = _promised(plan, refs)
    rows = [
        PendingRequest(
            golem_id=permit.golem_id,
            permit=permit,
            chain_id=permit.chain_id,
            account=permit.account,
            protocol=ref.protocol,
            ref=str(ref),
            amounts=amounts[index],
            block_number=block,
            next_check_at=now,
        )
        for index, ref in enumerate(refs)
        if str(ref) not in kept
    ]
    PendingRequest.objects.bulk_create(rows)
    if rows:
        events = [Event(EventType.REQUEST_OPENED, _tell(row, S.REQUESTED, "", None)) for row in rows]
        event_bus.emit_all(golem_id=permit.golem_id, events=events, now=now)


@whole
def record_look(row: PendingRequest, look: Look, verdict: Verdict) -> bool:
    """Write what a look saw; True when it changed the state. Nothing is written over what changed since it was read."""
    seen: dict[str, Any] = {
        "checked_at": look.at,
        "next_check_at": plan_next_look(row, verdict, look.at),
        "expected_at": verdict.expected_at,
        "missed_at": verdict.missed_at,
        "last_error": verdict.reason[:255],
    }
    if look.position is not None:
        seen["amounts"] = [{"token": leg.token, "raw": str(leg.raw)} for leg in look.position.legs]
    if look.claim is not None:
        seen["claim"] = look.claim
    as_read = PendingRequest.objects.filter(pk=row.pk, state=row.state)
    if verdict.state == row.state:
        as_read.update(**seen, updated_at=look.at)
        return False
    with transaction.atomic():
        event_bus.lock_golem(row.golem_id)
        if not as_read.update(**seen, state=verdict.state, updated_at=look.at):
            return False
        kind = _EVENTS.get(verdict.state)
        if kind is not None:
            claim_id = look.claim.pk if look.claim is not None else None
            told = Event(kind, _tell(row, verdict.state, verdict.reason, claim_id, verdict.expected_at))
            event_bus.emit(golem_id=row.golem_id, event=told, now=look.at)
    return True


def put_off(rows: Sequence[PendingRequest], *, reason: str, now: datetime) -> None:
    """Nothing could be seen: keep every state and look again later."""
    PendingRequest.objects.filter(pk__in=[row.pk for row in rows]).update(
        last_error=reason[:255], next_check_at=now + _SOON, updated_at=now
    )


def _judge_missing(row: PendingRequest, look: Look, *, is_claiming: bool) -> Verdict:
    if is_claiming:
        return Verdict(S.CLAIMING, row.expected_at)
    if look.claim is not None and look.claim.status == PermitStatus.COMMITTED:
        return Verdict(S.DONE, row.expected_at)
    missed_at = row.missed_at or look.at
    if look.at < missed_at + MISSED_FOR:
        return Verdict(S(row.state), row.expected_at, missed_at, "a look did not find it")
    return Verdict(S.LOST, row.expected_at, missed_at, "it is gone, and no claim of the golem took it")


def _free_at(position: Position) -> int | None:
    return max((leg.free_at for leg in position.legs if leg.free_at is not None), default=None)


def _promised(plan: TxPlan, refs: Sequence[PositionRef]) -> list[list[dict[str, str]]]:
    """What the plan said each would hold; nothing where it named another number of them. The first look tells."""
    said = [each for each in plan.changes if each.kind == REQUEST_KIND and each.ref is None]
    if len(said) != len(refs):
        return [[] for _ in refs]
    return [[{"token": each.token, "raw": str(each.expected)}] for each in said]


def _tell(
    row: PendingRequest, state: RequestState, reason: str, claim_id: UUID | None, expected_at: datetime | None = None
) -> dict[str, Any]:
    return {
        "request_id": str(row.pk),
        "position": row.ref,
        "protocol": row.protocol,
        "chain_id": row.chain_id,
        "state": str(state),
        "amounts": list(row.amounts),
        "permit_id": str(row.permit_id),
        "claim_permit_id": str(claim_id) if claim_id else None,
        "expected_at": expected_at.isoformat() if expected_at else None,
        "reason": reason or None,
    }
