"""Signed promises: what is kept of one, and the only writer of its states.

OPEN -> FILLED, CANCELLED or EXPIRED. Signing one keeps its reservation; an end frees it (cancelled, expired) or settles
it whole (filled). An end is believed once two looks, some time apart, saw the same: a block may still leave the chain.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from permits_app.limits import ledger
from permits_app.models import ActionPermit, SignedPromise
from permits_app.models.signed_promise import PromiseState
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted
from tools_app.standards.signed_order_tracking import find_reader
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.typed_data import TypedData

S = PromiseState
SEEN_FOR: Final = timedelta(seconds=45)
"""An end must be seen for so long before what was reserved is free: one node's answer is not enough."""
BLOCKS_BACK: Final = 64
"""Its end is looked for so many blocks before the last one it was open in: blocks may leave the chain."""
_SOON: Final = timedelta(seconds=30)
_EVENTS: Final = {
    S.FILLED: EventType.PROMISE_FILLED,
    S.CANCELLED: EventType.PROMISE_CANCELLED,
    S.EXPIRED: EventType.PROMISE_EXPIRED,
}
_AUDITED: Final = {S.FILLED: "PromiseFilled", S.CANCELLED: "PromiseCancelled", S.EXPIRED: "PromiseExpired"}


def list_open(golem_id: UUID) -> QuerySet[SignedPromise]:
    """Those that somebody may carry out any moment, the oldest first."""
    return SignedPromise.objects.filter(golem_id=golem_id, state=S.OPEN).order_by("created_at", "pk")


def make_promise(*, permit: ActionPermit, plan: TxPlan, signature: bytes, block: int, now: datetime) -> SignedPromise:
    """The row of what `plan` has signed, not stored yet. Raises ValueError for a plan that promises nothing."""
    typed = plan.promise
    owner = find_reader(typed) if typed is not None else None
    if typed is None or owner is None or plan.deadline is None:
        raise ValueError("the plan promises nothing that is known")
    leaving = [{"token": each.token, "raw": str(-each.expected)} for each in plan.changes if each.expected < 0]
    # What comes as a position is told by what it counts as.
    coming = [
        {"token": each.token, "raw": str(each.bound), "is_position": True} for each in plan.changes if each.expected > 0
    ]
    return SignedPromise(
        golem_id=permit.golem_id,
        permit=permit,
        chain_id=plan.chain_id,
        account=permit.account,
        protocol=owner.name,
        contract=typed.contract,
        digest="0x" + hash_typed_data(typed).hex(),
        reference=str(plan.details.get("order_hash", "")).lower(),
        typed_data=typed.as_json(),
        signature="0x" + signature.hex(),
        gives=[*({"token": each.token.address, "raw": str(each.bound)} for each in plan.spends), *leaving],
        gets=[*({"token": each.token.address, "raw": str(each.bound)} for each in plan.receives), *coming],
        ends_at=datetime.fromtimestamp(plan.deadline, tz=UTC),
        next_check_at=now,
        seen_block=block,
    )


def read_typed(row: SignedPromise) -> TypedData:
    """What was signed, as it was."""
    return TypedData.of_json(row.typed_data)


def find_since(row: SignedPromise) -> int | None:
    """The block from which on logs may tell its end, a little before it was last open: blocks may leave the chain."""
    return max(0, int(row.seen_block) - BLOCKS_BACK) if row.seen_block is not None else None


def judge_fate(row: SignedPromise, fate: Fate, *, block_time: int) -> PromiseState:
    """The state that follows from what its contract says and the block's time in seconds. Pure."""
    is_over = block_time > int(row.ends_at.timestamp())
    if fate is Fate.PARTLY:
        return S.FILLED if is_over else S.OPEN
    return S.EXPIRED if fate is Fate.OPEN and is_over else S(fate.value)


@retry_aborted
def record_look(row: SignedPromise, state: PromiseState, *, now: datetime, block: int | None = None) -> bool:
    """Write what a look saw; True when it ended the promise. Nothing is written over what changed since it was read."""
    as_read = SignedPromise.objects.filter(pk=row.pk, state=S.OPEN, seen_state=row.seen_state)
    if state == S.OPEN:
        # Right after its time the end is looked for, and never more seldom than that.
        soonest = now + _SOON
        later = min(max(row.ends_at + timedelta(seconds=1), soonest), now + timedelta(minutes=5))
        as_read.update(
            seen_state="",
            seen_at=None,
            seen_block=block if block is not None else row.seen_block,
            checked_at=now,
            next_check_at=later,
            last_error="",
            updated_at=now,
        )
        return False
    if row.seen_state != state or row.seen_at is None or now < row.seen_at + SEEN_FOR:
        since = row.seen_at if row.seen_state == state and row.seen_at is not None else now
        as_read.update(
            seen_state=state,
            seen_at=since,
            checked_at=now,
            next_check_at=since + SEEN_FOR,
            last_error="",
            updated_at=now,
        )
        return False
    with transaction.atomic():
        if not as_read.update(state=state, ended_at=now, checked_at=now, updated_at=now):
            return False
        event_bus.emit(golem_id=row.golem_id, event=Event(_EVENTS[state], tell(row, state)), now=now)
        audit_log.append(
            golem_id=row.golem_id, event=_AUDITED[state], actor="system:follower", data=tell(row, state), now=now
        )
        if state == S.FILLED:
            claim = row.permit.spend_entry
            spent = int(claim.reserved_micro_usd) if claim is not None else 0
            ledger.settle(permit_id=row.permit_id, spent_micro_usd=spent, counted_at=now)
        else:
            ledger.release(permit_id=row.permit_id)
    return True


def put_off(row: SignedPromise, *, reason: str, now: datetime) -> None:
    """Nothing could be seen: it stays open, and is looked at again soon."""
    SignedPromise.objects.filter(pk=row.pk, state=S.OPEN).update(
        last_error=reason[:255], next_check_at=now + _SOON, updated_at=now
    )


def note_handed_in(row: SignedPromise, *, error: str, now: datetime) -> None:
    """What came of handing it in: taken, or why not; then it is tried again with the next look."""
    SignedPromise.objects.filter(pk=row.pk, handed_in_at__isnull=True).update(
        handed_in_at=None if error else now, hand_in_error=error[:255], updated_at=now
    )


def tell(row: SignedPromise, state: PromiseState) -> JsonObject:
    """What events and the audit log say of one; never its signature."""
    return {
        "promise_id": str(row.pk),
        "permit_id": str(row.permit_id),
        "protocol": row.protocol,
        "chain_id": row.chain_id,
        "contract": row.contract,
        "digest": row.digest,
        "state": str(state),
        "gives": list(row.gives),
        "gets": list(row.gets),
        "ends_at": row.ends_at.isoformat(),
    }
