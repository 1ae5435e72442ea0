"""Rights received: what is kept of them, how much of each is used, and the only writer of both.

A use is claimed in the transaction that opens its permit, under the locks of the golem and of the right, so that two
permits never share what is left. It counts while the permit is open, and in the period in which it was committed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet, Sum

from archetypes_app.models import Golem
from permits_app.errors import RightLimitExceeded, RightNotReceived
from permits_app.models import ActionPermit, ReceivedRight, RightUse
from permits_app.models.permit import OPEN, PermitStatus
from permits_app.models.received_right import RightState
from permits_app.permits.row_locks import fill_golem_lock
from tools_app.core import audit_log, clock, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.json_types import JsonObject
from tools_app.core.prepared_statements import fetch_together
from tools_app.core.single_row_sql import insert_rows
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.others_money import PrincipalFlow, RightKind, RightLimit, RightStanding, RightUsed, RightView

S = RightState
_ACTOR: Final = "system:rights"
LOOK_EVERY: Final = timedelta(seconds=30)
MAY_COME_BACK: Final = timedelta(hours=1)
"""What was seen to be withdrawn is looked at for so long: the block that took it back may leave the chain."""
_AUDITED: Final = {S.WITHDRAWN: "RightWithdrawn", S.DROPPED: "RightDropped", S.ENDED: "RightEnded"}
_TOLD: Final = {S.WITHDRAWN: EventType.RIGHT_WITHDRAWN, S.ENDED: EventType.RIGHT_ENDED}


@dataclass(frozen=True, slots=True)
class Used:
    """Base units: what open permits may still move, and what committed ones moved in the present period."""

    held: int = 0
    moved: int = 0

    @property
    def total(self) -> int:
        """Both."""
        return self.held + self.moved


def view_right(row: ReceivedRight) -> RightView:
    """A row as those see it who ask its contract."""
    return RightView(
        id=row.pk,
        chain_id=row.chain_id,
        protocol=row.protocol,
        reference=row.reference,
        kind=RightKind(row.kind),
        principal=row.principal,
        holder=row.holder,
        token=row.token,
        limit=read_limit(row),
        terms=row.terms,
    )


def read_limit(row: ReceivedRight) -> RightLimit:
    """The limits of a row as they are in a plan."""
    return RightLimit(
        int(row.most), int(row.period_seconds), int(row.starts_at.timestamp()), int(row.ends_at.timestamp())
    )


def list_standing(golem_id: UUID) -> QuerySet[ReceivedRight]:
    """Those that stand as far as was seen, the one that ends first before the others."""
    return ReceivedRight.objects.filter(golem_id=golem_id, state=S.STANDING).order_by("ends_at", "pk")


def find_right(*, golem_id: UUID, chain_id: int, flow: PrincipalFlow) -> ReceivedRight | None:
    """The row that a flow names."""
    return _match(golem_id, chain_id, flow).first()


def _match(golem_id: UUID, chain_id: int, flow: PrincipalFlow) -> QuerySet[ReceivedRight]:
    return ReceivedRight.objects.filter(
        golem_id=golem_id,
        chain_id=chain_id,
        protocol=flow.protocol,
        reference=flow.reference,
        token=flow.token.address,
    )


def sum_uses(row: ReceivedRight, *, now: datetime, exclude_permit_id: UUID | None = None) -> Used:
    """What is used of a right in the period that `now` lies in."""
    begun = datetime.fromtimestamp(read_limit(row).find_period(int(now.timestamp())), UTC)
    uses = RightUse.objects.filter(right=row).exclude(permit_id=exclude_permit_id)
    open_ones = uses.filter(permit__status__in=[str(each) for each in OPEN])
    done = uses.filter(
        permit__status=PermitStatus.COMMITTED,
        permit__finished_at__gte=begun,
    )
    return Used(_sum(open_ones), _sum(done))


def sum_all(rows: Sequence[ReceivedRight], *, now: datetime) -> Mapping[UUID, int]:
    """What is used of each of several rights in its present period, open permits included, in one question."""
    at = int(now.timestamp())
    begun = {row.pk: datetime.fromtimestamp(read_limit(row).find_period(at), UTC) for row in rows}
    used: dict[UUID, int] = dict.fromkeys(begun, 0)
    if not begun:
        return used
    is_open = Q(permit__status__in=[str(each) for each in OPEN])
    since = min(begun.values())
    is_done = Q(permit__status=PermitStatus.COMMITTED, permit__finished_at__gte=since)
    found = RightUse.objects.filter(is_open | is_done, right__in=list(begun))
    for right_id, raw, finished_at in found.values_list("right_id", "raw", "permit__finished_at"):
        if finished_at is None or finished_at >= begun[right_id]:
            used[right_id] += int(raw)
    return used


def claim(*, permit: ActionPermit, flows: Sequence[PrincipalFlow], now: datetime, at: datetime) -> list[RightUse]:
    """The uses that `permit` makes of rights, not stored yet; call first inside the transaction that stores the permit.
    `at` is the moment by which periods are counted.

    Holds the golem's row and those of the rights from here on. Raises RightNotReceived, RightLimitExceeded.
    """
    fetch_together(fill_golem_lock(permit.golem_id))
    uses: dict[UUID, RightUse] = {}
    for flow in sorted(flows, key=lambda each: (each.protocol, each.reference, each.token.address)):
        row = _match(permit.golem_id, permit.chain_id, flow).select_for_update(no_key=True).first()
        if row is None or row.state != S.STANDING:
            raise RightNotReceived(f"no right {flow.reference} stands in this golem's book", reference=flow.reference)
        use = uses.setdefault(row.pk, RightUse(right=row, permit=permit, raw=0, claimed_at=now))
        use.raw += flow.most
        left = max(0, int(row.most) - sum_uses(row, now=at).total)
        if use.raw > left:
            raise RightLimitExceeded(
                f"{use.raw} base units of {flow.token.symbol} would be moved, and the right has {left} left",
                reference=flow.reference,
                observed=str(use.raw),
                limit=str(row.most),
                remaining=str(left),
            )
    return list(uses.values())


def note_uses(uses: Iterable[RightUse]) -> None:
    """Store what was claimed; call once the permit is stored, in the same transaction."""
    rows = list(uses)
    if rows:
        insert_rows(*rows)


@retry_aborted
def receive(*, golem: Golem, rights: Sequence[ReceivedRight], actor: str, now: datetime) -> list[ReceivedRight]:
    """Write rights into the golem's book. One that is there stays as it is, and stands again where it was withdrawn or
    dropped; one whose time is over stays so. Appends RightReceived.
    """
    stored = []
    with transaction.atomic():
        fetch_together(fill_golem_lock(golem.pk))
        for right in rights:
            found, is_new = ReceivedRight.objects.get_or_create(
                golem=golem,
                chain_id=right.chain_id,
                protocol=right.protocol,
                reference=right.reference,
                token=right.token,
                defaults={
                    name: getattr(right, name)
                    for name in (
                        "kind",
                        "principal",
                        "holder",
                        "most",
                        "period_seconds",
                        "starts_at",
                        "ends_at",
                        "terms",
                    )
                }
                | {"given_by": actor[:150], "next_look_at": now},
            )
            is_back = not is_new and found.state in (S.WITHDRAWN, S.DROPPED) and _stand_again(found, now)
            stored.append(found)
            if is_new or is_back:
                audit_log.append(golem_id=golem.pk, event="RightReceived", actor=actor, data=tell(found), now=now)
    return stored


def list_due(now: datetime) -> QuerySet[ReceivedRight]:
    """Those whose contracts are to be asked again."""
    return ReceivedRight.objects.filter(next_look_at__lte=now)


def take_look(row: ReceivedRight, *, until: datetime) -> bool:
    """The look for this caller alone until its lease is over; False where another one has it."""
    mine = ReceivedRight.objects.filter(pk=row.pk, state=row.state, next_look_at=row.next_look_at)
    return bool(mine.update(next_look_at=until))


def put_off(row: ReceivedRight, *, reason: str, now: datetime) -> None:
    """Nothing could be seen: it stays as it is, and is looked at again soon."""
    ReceivedRight.objects.filter(pk=row.pk, state=row.state).update(
        last_error=reason[:255], next_look_at=now + LOOK_EVERY, updated_at=now
    )


@retry_aborted
def record_look(row: ReceivedRight, standing: RightStanding, *, is_over: bool, now: datetime) -> RightState:
    """Keep what its contract said, and end it or have it stand again; its state from now on. Why one that stands gives
    nothing is kept as what its last look ran into.

    Emits right:withdrawn, right:ended, right:restored.
    """
    why = standing.reason if standing.stands else ""
    seen = {"available": standing.available, "looked_at": now, "last_error": why[:255], "updated_at": now}
    with transaction.atomic():
        mine = ReceivedRight.objects.select_for_update(no_key=True).filter(pk=row.pk, state=row.state)
        found = mine.first()
        if found is None:
            return RightState(row.state)
        ReceivedRight.objects.filter(pk=row.pk).update(**seen, next_look_at=_find_next(found, is_over, now))
        if found.state == S.STANDING and is_over:
            _end(found, to=S.ENDED, reason="its time is over", actor=_ACTOR, now=now)
        elif found.state == S.STANDING and not standing.stands:
            _end(found, to=S.WITHDRAWN, reason=standing.reason, actor=_ACTOR, now=now)
        elif found.state == S.WITHDRAWN and standing.stands and not is_over:
            _stand_again(found, now)
            audit_log.append(golem_id=row.golem_id, event="RightRestored", actor=_ACTOR, data=tell(found), now=now)
            _emit(found, EventType.RIGHT_RESTORED, now)
        return RightState(found.state)


def _find_next(row: ReceivedRight, is_over: bool, now: datetime) -> datetime | None:
    """When to look again: at what stands, and for a while at what was withdrawn."""
    since = row.state_at or now
    is_left = is_over or (row.state != S.STANDING and now >= since + MAY_COME_BACK)
    return None if is_left else now + LOOK_EVERY


def _stand_again(row: ReceivedRight, now: datetime) -> bool:
    row.state, row.state_reason, row.state_at, row.next_look_at = S.STANDING, "", None, now
    row.save(update_fields=["state", "state_reason", "state_at", "next_look_at", "updated_at"])
    return True


def _end(row: ReceivedRight, *, to: RightState, reason: str, actor: str, now: datetime) -> None:
    row.state, row.state_reason, row.state_at = to, reason[:255], now
    row.save(update_fields=["state", "state_reason", "state_at", "updated_at"])
    told = {**tell(row), "state": str(to), "reason": reason}
    audit_log.append(golem_id=row.golem_id, event=_AUDITED[to], actor=actor, data=told, now=now)
    if to in _TOLD:
        _emit(row, _TOLD[to], now)


def _emit(row: ReceivedRight, event: EventType, now: datetime) -> None:
    payload = {
        "right_id": str(row.pk),
        "chain_id": row.chain_id,
        "protocol": row.protocol,
        "principal": row.principal,
        "token": row.token,
        "state": str(row.state),
        "reason": row.state_reason,
    }
    event_bus.emit(golem_id=row.golem_id, event=Event(event, payload), now=now)


@retry_aborted
def end_right(row: ReceivedRight, *, to: RightState, reason: str, actor: str, now: datetime) -> bool:
    """Write that a right stands no more and is looked at no more; True when this call did it.

    Appends RightWithdrawn, RightDropped or RightEnded.
    """
    with transaction.atomic():
        # What the golem gives up may be seen to be gone before its outcome is.
        leaving = (S.STANDING, S.WITHDRAWN) if to == S.DROPPED else (S.STANDING,)
        found = ReceivedRight.objects.select_for_update(no_key=True).filter(pk=row.pk, state__in=leaving).first()
        if found is None:
            return False
        ReceivedRight.objects.filter(pk=row.pk).update(next_look_at=None)
        _end(found, to=to, reason=reason, actor=actor, now=now)
    return True


def tell(row: ReceivedRight) -> JsonObject:
    """What the audit log says of one; never what it takes to use it."""
    return {
        "right_id": str(row.pk),
        "chain_id": row.chain_id,
        "protocol": row.protocol,
        "reference": row.reference,
        "kind": row.kind,
        "principal": row.principal,
        "holder": row.holder,
        "token": row.token,
        "most": str(row.most),
        "period_seconds": str(row.period_seconds),
        "starts_at": row.starts_at.isoformat(),
        "ends_at": row.ends_at.isoformat(),
    }


class StoredRights:
    """`RightsBook` over the rows."""

    def list(self, *, golem_id: UUID, chain_id: int, protocol: str) -> tuple[RightView, ...]:
        """Those that stand as far as was seen, the one that ends first before the others."""
        found = list_standing(golem_id).filter(chain_id=chain_id, protocol=protocol)
        return tuple(view_right(row) for row in found)

    def drop(
        self, *, golem_id: UUID, chain_id: int, protocol: str, reason: str, now: datetime
    ) -> tuple[RightView, ...]:
        """Use all of them no more, in the caller's transaction; those that were dropped."""
        rows = list_standing(golem_id).filter(chain_id=chain_id, protocol=protocol)
        return tuple(
            view_right(row)
            for row in rows.select_for_update(no_key=True)
            if end_right(row, to=S.DROPPED, reason=reason, actor=f"golem:{golem_id}", now=now)
        )

    def used(self, right: RightView) -> RightUsed:
        """What was moved under one of them."""
        row = ReceivedRight.objects.get(pk=right.id)
        last = RightUse.objects.filter(right=row, permit__status=PermitStatus.COMMITTED).order_by("-claimed_at").first()
        return RightUsed(sum_uses(row, now=clock.now()).total, last.permit.finished_at if last is not None else None)


def _sum(uses: QuerySet[RightUse]) -> int:
    return int(uses.aggregate(total=Sum("raw"))["total"] or 0)
