"""Computes when this server acts next on what holds an action up: a sweep, a lease's end, a replacement, a block.

Read from rows alone. Whoever is refused meanwhile is told that time; it may clear before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings

from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import UNSETTLED, PayloadPurpose, TransactionState
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.node_errors import FeeTooLow
from tools_app.core.json_types import JsonObject

START_GRACE: Final = timedelta(seconds=3)
"""A commit that no worker has taken for so long is the sweep's."""
UNKNOWN_PAUSE: Final = timedelta(seconds=10)
"""So long after it was touched the sweep looks at a permit in UNKNOWN again."""
FOLLOWER_LOOKS_EVERY: Final = timedelta(seconds=1)
"""A follower whose node failed asks it again so often."""
_SLOWEST_BLOCK_SECONDS: Final = max(network.block_seconds for network in KNOWN_NETWORKS.values())


@dataclass(frozen=True, slots=True)
class Out:
    """A payload that a node was sent and that is not settled."""

    state: str
    purpose: str
    entry_point: str
    refusal: str
    created_at: datetime
    broadcast_at: datetime | None
    broadcast_count: int
    passed_at: datetime | None


PAYLOAD_COLUMNS: Final = tuple(each.name for each in fields(Out))


@dataclass(frozen=True, slots=True)
class NextAct:
    """When, and what clears it in words."""

    at: datetime
    cleared_by: str

    def tell(self, now: datetime) -> JsonObject:
        """As a refusal has it: the time, the seconds until then, and what clears it."""
        seconds = -(-(self.at - now) // timedelta(seconds=1))
        return {
            "resets_at": self.at.isoformat(),
            "retry_after_seconds": max(1, seconds),
            "cleared_by": self.cleared_by,
        }


def block_time(chain_id: int) -> timedelta:
    """The usual time between two blocks of a chain; of one that is not known, the slowest chain's."""
    network = KNOWN_NETWORKS.get(chain_id)
    return timedelta(seconds=network.block_seconds if network is not None else _SLOWEST_BLOCK_SECONDS)


def foresee_chain(chain_id: int, *, now: datetime) -> NextAct:
    """Of a chain whose node answers nothing: the look at which its follower may hear it again, and the block after it
    that shows what happened meanwhile.
    """
    return NextAct(now + FOLLOWER_LOOKS_EVERY + block_time(chain_id), "the node answers again")


def foresee_payload(out: Out, *, chain_id: int, now: datetime) -> NextAct:
    """Of a payload that was sent: the next block while it is young; then the round of the reconciler that replaces it
    or sends it again.
    """
    is_awaited = out.state != TransactionState.REORGED and out.broadcast_at is not None
    if is_awaited and now < out.created_at + timedelta(seconds=settings.GOLEM_BLOCKED_AFTER_SECONDS):
        return NextAct(now + block_time(chain_id), "the next block, where it is in it")
    due, cleared_by = _find_due(out, now)
    return NextAct(max(due, now) + _reconciler(), cleared_by)


def or_before(act: NextAct, *, ends: datetime, now: datetime) -> NextAct:
    """The same, or the end of the permit that waits for it where that comes first: it is of no use afterwards."""
    if now >= ends or act.at < ends:
        return act
    return NextAct(ends, f"{act.cleared_by}; this permit ends first: preview again then")


def foresee_permit(permit_id: UUID, *, now: datetime, silent: Collection[int]) -> NextAct | None:
    """Of a permit that is being committed or whose outcome is unknown; None when it has ended meanwhile. Nothing
    is tried on the `silent` chains.
    """
    states = (PermitStatus.COMMITTING, PermitStatus.UNKNOWN)
    permit = ActionPermit.objects.filter(pk=permit_id, status__in=[str(each) for each in states]).first()
    if permit is None:
        return None
    live = OutboundTransaction.objects.filter(permit_id=permit_id, is_live=True).order_by("call_index")
    payloads = [Out(*row) for row in live.values_list(*PAYLOAD_COLUMNS)]
    unsettled = [out for out in payloads if out.state in [str(state) for state in UNSETTLED]]
    sent = [out for out in unsettled if out.broadcast_count]
    if sent:
        return _foresee_sent(permit, sent[0], now)
    free = _free_at(permit, now)
    if not payloads:
        return _foresee_unsigned(permit, free, now, is_silent=not permit.is_local and permit.chain_id in silent)
    if permit.doubted_at is not None and not unsettled:
        patience = timedelta(seconds=settings.GOLEM_DOUBT_SECONDS)
        at = max(permit.doubted_at + patience, free) + _sweep()
        return NextAct(at, "its receipts and balances agree, or have contradicted each other for too long")
    return NextAct(free + _sweep(), "a worker looks at it again")


def _foresee_sent(permit: ActionPermit, out: Out, now: datetime) -> NextAct:
    if out.passed_at is not None:
        patience = timedelta(seconds=settings.GOLEM_DOUBT_SECONDS)
        at = max(out.passed_at + patience, now) + _reconciler()
        return NextAct(at, "a block shows what used its nonce, or none has for too long")
    return foresee_payload(out, chain_id=permit.chain_id, now=now)


def _foresee_unsigned(permit: ActionPermit, free: datetime, now: datetime, *, is_silent: bool) -> NextAct:
    """Nothing is signed of it: a worker takes it up, and after its own end nobody does."""
    if is_silent:
        over = max(permit.expires_at, permit.lease_expires_at or now, now) + _sweep()
        return NextAct(over, "the chain's node answers again, or its permit ends unsigned")
    return NextAct(free + _sweep(), "the worker that has it ends it, or the next one once that one's lease is over")


def _free_at(permit: ActionPermit, now: datetime) -> datetime:
    """From when on another worker may take it up."""
    begun = permit.committing_at or permit.updated_at
    listed = permit.updated_at + UNKNOWN_PAUSE if permit.status == PermitStatus.UNKNOWN else begun + START_GRACE
    times: Sequence[datetime | None] = (listed, permit.lease_expires_at, now)
    return max(each for each in times if each is not None)


def _find_due(out: Out, now: datetime) -> tuple[datetime, str]:
    """When the reconciler may act on it; the same conditions as its step that replaces what is stuck."""
    stuck_after = timedelta(seconds=settings.GOLEM_STUCK_AFTER_SECONDS)
    if out.state == TransactionState.REORGED:
        return now, "its bytes are sent again and mined: a reorganisation took it out of its block"
    if out.purpose == PayloadPurpose.FILL:
        return now, "the empty transaction that uses its nonce up is mined"
    if out.entry_point:
        return out.created_at + stuck_after, "its operation is mined, or signed again, or its nonce is used up"
    if out.broadcast_at is None and out.refusal == FeeTooLow.code:
        return now, "it is signed again at a fee that nodes take, or its nonce is used up"
    return (out.broadcast_at or out.created_at) + stuck_after, "it is mined, or replaced at a higher fee, or cancelled"


def _sweep() -> timedelta:
    return timedelta(seconds=settings.GOLEM_SWEEP_EVERY_SECONDS)


def _reconciler() -> timedelta:
    return timedelta(seconds=settings.GOLEM_RECONCILE_EVERY_SECONDS)
