"""Nonces: given out under one row lock per account, one per call, the same ones again after a crash.

A reservation without stored bytes was never sent, so it is signed again by whoever resumes the permit, or
abandoned and given out first next time. Seed: decisions, "Permits" (nonce); architecture part 1.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from permits_app.models import NonceCursor, NonceReservation
from permits_app.models.nonce import NonceState


def reserve_nonces(*, permit_id: UUID, chain_id: int, address: str, count: int, pending_nonce: int) -> list[int]:
    """`count` consecutive nonces for the calls of one permit, ascending; the same list when called again.

    `pending_nonce` is what the node would accept next, asked before this transaction. Locks the account's cursor.
    """
    with transaction.atomic():
        cursor, _ = NonceCursor.objects.get_or_create(chain_id=chain_id, address=address)
        cursor = NonceCursor.objects.select_for_update().get(pk=cursor.pk)
        held = list(
            NonceReservation.objects.filter(permit_id=permit_id).order_by("call_index").values_list("nonce", flat=True)
        )
        if held:
            return held
        first = _first_free(cursor=cursor, count=count, pending_nonce=pending_nonce)
        nonces = list(range(first, first + count))
        NonceReservation.objects.filter(
            chain_id=chain_id, address=address, nonce__in=nonces, state=NonceState.ABANDONED
        ).delete()
        NonceReservation.objects.bulk_create(
            NonceReservation(chain_id=chain_id, address=address, nonce=nonce, permit_id=permit_id, call_index=index)
            for index, nonce in enumerate(nonces)
        )
        cursor.next_nonce = max(cursor.next_nonce, first + count)
        cursor.save(update_fields=["next_nonce", "updated_at"])
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


def _first_free(*, cursor: NonceCursor, count: int, pending_nonce: int) -> int:
    start = max(cursor.next_nonce, pending_nonce)
    abandoned = set(
        NonceReservation.objects.filter(
            chain_id=cursor.chain_id, address=cursor.address, state=NonceState.ABANDONED, nonce__gte=pending_nonce
        ).values_list("nonce", flat=True)
    )
    if not abandoned:
        return start
    # Only the lowest hole blocks the account, and everything from it to the cursor must be free to use it.
    hole = min(abandoned)
    tail = set(range(hole, cursor.next_nonce))
    return hole if tail <= abandoned or len(_run_from(hole, abandoned)) >= count else start


def _run_from(nonce: int, free: set[int]) -> list[int]:
    run = []
    while nonce in free:
        run.append(nonce)
        nonce += 1
    return run
