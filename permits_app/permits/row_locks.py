"""Locks the rows on which a halt, a commit and an owner's change wait for each other, in the order of `lock_order`.

The golem first; then the permit, the request about it, and what the owners of a Safe signed for that. Whoever moves
more than one of them takes them here, all at once, before it moves the first: what is told of a move (audit, events) is
locked behind them. No lock here keeps anybody from storing what belongs to the row (`FOR NO KEY UPDATE`).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from archetypes_app.models import ApiKey, CodingWorkspace, Golem, VitalityRecord
from archetypes_app.ownership import match_owned
from permits_app.models import (
    ActionPermit,
    AllowlistEntry,
    CageCheckpoint,
    CageMirror,
    ChangeRequest,
    Death,
    FormerAccount,
    HaltRecord,
    OwnerTransaction,
    PaymentHost,
    PolicyCage,
    ReceivedRight,
    SigningKey,
    SpendingLimits,
    Wallet,
    Warden,
    WithdrawalAddress,
)
from permits_app.models.permit import UNFINISHED, list_states
from tools_app.core.compiled_query import CompiledQuery, CompiledStatement
from tools_app.core.prepared_statements import Filled, Prepared, fetch_together

_NOBODY, _NOTHING = UUID(int=0), UUID(int=1)
_GOLEM: CompiledQuery[Golem] = CompiledQuery(
    lambda golem_id: Golem.objects.select_for_update(no_key=True).filter(pk=golem_id), _NOBODY
)
_GOLEM_ALONE = CompiledStatement(
    lambda golem_id: Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk"), _NOBODY
)
_PERMIT: CompiledQuery[ActionPermit] = CompiledQuery(
    lambda permit_id, golem_id: ActionPermit.objects.select_for_update(no_key=True).filter(
        pk=permit_id, golem=golem_id
    ),
    _NOTHING,
    _NOBODY,
)
_HALT = CompiledStatement(
    lambda golem_id: (
        Golem.objects.select_for_update(no_key=True)
        .filter(pk=golem_id)
        .values_list("halted_at", "halt_epoch", "halt_reason")
    ),
    _NOBODY,
)
_LEASE = CompiledStatement(
    lambda permit_id, golem_id: (
        ActionPermit.objects.select_for_update(no_key=True)
        .filter(pk=permit_id, golem=golem_id)
        .values_list("lease_owner")
    ),
    _NOTHING,
    _NOBODY,
)
_REQUEST_OF_PERMIT = CompiledStatement(
    lambda permit_id: (
        ChangeRequest.objects.select_for_update(no_key=True, of=("self",))
        .filter(permit_id=permit_id)
        .order_by("pk")
        .values_list("pk")
    ),
    _NOTHING,
)
_SIGNED_FOR_PERMIT = CompiledStatement(
    lambda permit_id: (
        OwnerTransaction.objects.select_for_update(no_key=True, of=("self",))
        .filter(request__permit_id=permit_id)
        .order_by("pk")
        .values_list("pk")
    ),
    _NOTHING,
)
_LATEST_START = Prepared(
    "latest_start",
    f"""SELECT MAX(committing_at) FROM {ActionPermit._meta.db_table}
     WHERE golem_id = %(golem)s AND status IN ({list_states(UNFINISHED)})""",  # noqa: S608  (our own constants)
)
_OWNED = CompiledStatement(lambda golem_id: Golem.objects.filter(match_owned(), pk=golem_id).values_list("pk"), _NOBODY)
_OWN = "golem_id"
_SETTINGS = tuple(
    CompiledStatement(
        lambda golem_id, rows=rows, owned=owned: (
            rows.objects.select_for_update(no_key=True, of=("self",))
            .filter(**{owned: golem_id})
            .order_by("pk")
            .values_list("pk")
        ),
        _NOBODY,
    )
    for rows, owned in (
        (VitalityRecord, _OWN),
        (HaltRecord, _OWN),
        (Death, _OWN),
        (ApiKey, _OWN),
        (Wallet, _OWN),
        (FormerAccount, _OWN),
        (SigningKey, _OWN),
        (ReceivedRight, _OWN),
        (SpendingLimits, _OWN),
        (CageMirror, f"cage__{_OWN}"),
        (CageCheckpoint, f"mirror__cage__{_OWN}"),
        (PolicyCage, _OWN),
        (Warden, _OWN),
        (AllowlistEntry, _OWN),
        (WithdrawalAddress, _OWN),
        (PaymentHost, _OWN),
        (CodingWorkspace, _OWN),
    )
)


def fill_golem_lock(golem_id: UUID) -> Filled:
    """The statement that locks the golem's row, for whoever sends it along with others of the transaction."""
    return _GOLEM_ALONE.fill(golem_id)


def lock_golem(golem_id: UUID) -> None:
    """The golem's row, locked until the transaction ends."""
    _GOLEM_ALONE.fetch(golem_id)


def lock_golem_and_permit(*, golem_id: UUID, permit_id: UUID) -> tuple[Golem, ActionPermit | None]:
    """Both rows, locked until the transaction ends, in one round trip; None for a permit of another golem or of none.

    The permit is read after the golem's lock was given. Raises Golem.DoesNotExist.
    """
    golems, permits = fetch_together(_GOLEM.fill(golem_id), _PERMIT.fill(permit_id, golem_id))
    return _read(golems, permits, golem_id)


def lock_halt_and_lease(*, golem_id: UUID, permit_id: UUID) -> tuple[Golem, str]:
    """The same locks for who only asks whether the golem is halted and whose the permit's lease is; empty for nobody's
    and for a permit of another golem. Of the golem there is what a halt sets. Raises Golem.DoesNotExist.
    """
    halts, leases = fetch_together(_HALT.fill(golem_id), _LEASE.fill(permit_id, golem_id))
    if not halts:
        raise Golem.DoesNotExist(f"there is no golem {golem_id}")
    [(halted_at, epoch, reason)] = halts
    golem = Golem(pk=golem_id, halted_at=halted_at, halt_epoch=epoch, halt_reason=reason)
    return golem, str(leases[0][0]) if leases else ""


def lock_action(*, golem_id: UUID, permit_id: UUID) -> tuple[Golem, ActionPermit | None]:
    """As `lock_golem_and_permit`, and behind them the request about the permit and what owners signed for it."""
    golems, permits, _, _ = fetch_together(
        _GOLEM.fill(golem_id),
        _PERMIT.fill(permit_id, golem_id),
        _REQUEST_OF_PERMIT.fill(permit_id),
        _SIGNED_FOR_PERMIT.fill(permit_id),
    )
    return _read(golems, permits, golem_id)


def lock_settings(golem_id: UUID) -> None:
    """The golem, and every row of it that an operation of its owners may write, before the request for it is locked."""
    fetch_together(_GOLEM_ALONE.fill(golem_id), *(each.fill(golem_id) for each in _SETTINGS))


def lock_request(request: ChangeRequest) -> None:
    """The golem of `request`, its permit when it has one, the request itself and what owners signed for it."""
    if request.permit_id is not None:
        lock_action(golem_id=request.golem_id, permit_id=request.permit_id)
        return
    _GOLEM_ALONE.fetch(request.golem_id)
    rows = ChangeRequest.objects.select_for_update(no_key=True, of=("self",)).filter(pk=request.pk)
    signed = OwnerTransaction.objects.select_for_update(no_key=True, of=("self",)).filter(request_id=request.pk)
    for locked in (rows, signed):
        list(locked.values_list("pk"))


def lock_start(*, golem_id: UUID, permit_id: UUID, now: datetime) -> tuple[Golem, ActionPermit | None, datetime, bool]:
    """As `lock_action`, and when a start of the permit begins: `now`, or just after the latest start among the golem's
    permits under way, whatever clock that was read from. The last says whether somebody with an active account owns it.

    Who starts later then judges what started earlier, and never the other way round.
    """
    golems, permits, _, _, ((latest,),), owned = fetch_together(
        _GOLEM.fill(golem_id),
        _PERMIT.fill(permit_id, golem_id),
        _REQUEST_OF_PERMIT.fill(permit_id),
        _SIGNED_FOR_PERMIT.fill(permit_id),
        _LATEST_START.fill(golem=golem_id),
        _OWNED.fill(golem_id),
    )
    golem, permit = _read(golems, permits, golem_id)
    begins_at = now if latest is None or latest < now else latest + timedelta(microseconds=1)
    return golem, permit, begins_at, bool(owned)


def _read(
    golems: list[tuple[object, ...]], permits: list[tuple[object, ...]], golem_id: UUID
) -> tuple[Golem, ActionPermit | None]:
    if not golems:
        raise Golem.DoesNotExist(f"there is no golem {golem_id}")
    (golem,) = _GOLEM.read(golems)
    for permit in _PERMIT.read(permits):
        permit.golem = golem
        return golem, permit
    return golem, None
