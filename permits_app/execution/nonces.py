"""Nonces: given out under one row lock per account, one per call, the same ones again after a crash.

A reservation without stored bytes was never sent, so it is signed again by whoever resumes the permit, or
abandoned and given out first next time. Seed: decisions, "Permits" (nonce); architecture part 1.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Q

from permits_app.models import NonceCursor, NonceReservation
from permits_app.models.nonce import NonceState
from tools_app.core import clock


def reserve_nonces(*, permit_id: UUID, chain_id: int, address: str, count: int, pending_nonce: int) -> list[int]:
    """`count` consecutive nonces for the calls of one permit, ascending; the same list when called again.

    `pending_nonce` is what the node would accept next, asked before this transaction. Locks the account's cursor.
    """
    with transaction.atomic():
        cursor = _lock_cursor(chain_id=chain_id, address=address)
        is_held = Q(permit_id=permit_id)
        is_free = Q(chain_id=chain_id, address=address, state=NonceState.ABANDONED, nonce__gte=pending_nonce)
        found = list(NonceReservation.objects.filter(is_held | is_free).order_by("call_index", "nonce"))
        held = [row.nonce for row in found if row.permit_id == permit_id]
        if held:
            return held
        abandoned = {row.nonce for row in found}
        first = _first_free(
            next_nonce=cursor.next_nonce, count=count, pending_nonce=pending_nonce, abandoned=abandoned
        )  # fmt: skip
        nonces = list(range(first, first + count))
        if not abandoned.isdisjoint(nonces):
            NonceReservation.objects.filter(
                chain_id=chain_id, address=address, nonce__in=nonces, state=NonceState.ABANDONED
            ).delete()
        NonceReservation.objects.bulk_create(
            NonceReservation(chain_id=chain_id, address=address, nonce=nonce, permit_id=permit_id, call_index=index)
            for index, nonce in enumerate(nonces)
        )
        NonceCursor.objects.filter(pk=cursor.pk).update(
            next_nonce=max(cursor.next_nonce, first + count), updated_at=clock.now()
        )
    return nonces


def abandon_nonces(*, permit_id: UUID) -> int:
    """Give back the nonces of a permit that stored no bytes; they are given out first next time. Returns how many."""
    return NonceReservation.objects.filter(permit_id=permit_id, state=NonceState.RESERVED).update(
        state=NonceState.ABANDONED, permit=None
    )


def list_holes(*, chain_id: int, address: str, mined_nonce: int) -> list[int]:
    """Abandoned nonces that block a later one in use, lowest first; `mined_nonce` is the next the chain takes."""
    held = NonceReservation.objects.filter(chain_id=chain_id, address=address, nonce__gte=mined_nonce)
    in_use = held.exclude(state=NonceState.ABANDONED).order_by("-nonce").values_list("nonce", flat=True).first()
    if in_use is None:
        return []
    abandoned = held.filter(state=NonceState.ABANDONED, nonce__lt=in_use).order_by("nonce")
    return list(abandoned.values_list("nonce", flat=True))


def _lock_cursor(*, chain_id: int, address: str) -> NonceCursor:
    rows = NonceCursor.objects.select_for_update().filter(chain_id=chain_id, address=address)
    cursor = rows.first()
    if cursor is None:
        NonceCursor.objects.bulk_create([NonceCursor(chain_id=chain_id, address=address)], ignore_conflicts=True)
        cursor = rows.get()
    return cursor


def _first_free(*, next_nonce: int, count: int, pending_nonce: int, abandoned: set[int]) -> int:
    start = max(next_nonce, pending_nonce)
    if not abandoned:
        return start
    # Only the lowest hole blocks the account, and everything from it to the cursor must be free to use it.
    hole = min(abandoned)
    tail = set(range(hole, next_nonce))
    return hole if tail <= abandoned or len(_run_from(hole, abandoned)) >= count else start


def _run_from(nonce: int, free: set[int]) -> list[int]:
    run = []
    while nonce in free:
        run.append(nonce)
        nonce += 1
    return run
