"""Nonces: given out under one row lock per account, one per call, the same ones again after a crash.

A reservation without stored bytes was never sent, so it is signed again by whoever resumes the permit, or
abandoned and given out first next time.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from permits_app.models import NonceCursor, NonceReservation
from permits_app.models.nonce import NonceState
from permits_app.permits.lifecycle import FINAL
from tools_app.core import clock
from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.prepared_statements import fetch_together
from tools_app.core.single_row_sql import fill_change, insert_rows
from tools_app.core.transaction_retry import retry_aborted

MOST_FOUND: Final = 64


_CURSOR: CompiledQuery[NonceCursor] = CompiledQuery(
    lambda chain_id, address: NonceCursor.objects.select_for_update(no_key=True).filter(
        chain_id=chain_id, address=address
    ),
    901,
    "an address",
)
_HELD_OR_FREE: CompiledQuery[NonceReservation] = CompiledQuery(
    lambda permit_id, chain_id, address, nonce: NonceReservation.objects.filter(
        Q(permit_id=permit_id) | Q(chain_id=chain_id, address=address, state=NonceState.ABANDONED, nonce__gte=nonce)
    ).order_by("call_index", "nonce"),
    UUID(int=0),
    901,
    "an address",
    902,
)


class NonceUnexpected(Exception):
    """What one node says of the next nonce is not what we know; `known` is our own next one. Nothing was reserved."""

    def __init__(self, known: int) -> None:
        super().__init__(known)
        self.known = known


@retry_aborted
def reserve_nonces(
    *, permit_id: UUID, chain_id: int, address: str, count: int, pending_nonce: int, is_agreed: bool = True
) -> list[int]:
    """`count` consecutive nonces for the calls of one permit, ascending; the same list when called again.

    `pending_nonce` is what the node would accept next, asked before this transaction. Locks the account's cursor.
    Unless `is_agreed`, raises NonceUnexpected where that is beyond what we gave out, or names a nonce given back.
    """
    with transaction.atomic():
        looked_up = _HELD_OR_FREE.fill(permit_id, chain_id, address, pending_nonce)
        # Together, and the reservations still are those after the lock was given: each statement looks anew.
        cursors, rows = fetch_together(_CURSOR.fill(chain_id, address), looked_up)
        if cursors:
            (cursor,), found = _CURSOR.read(cursors), _HELD_OR_FREE.read(rows)
        else:
            cursor = _lock_cursor(chain_id=chain_id, address=address)
            found = _HELD_OR_FREE.read(looked_up.fetch())
        held = [row.nonce for row in found if row.permit_id == permit_id]
        if held:
            return held
        abandoned = {row.nonce for row in found}
        first = _first_free(next_nonce=cursor.next_nonce, count=count, pending_nonce=pending_nonce, abandoned=abandoned)
        if not is_agreed and (pending_nonce > cursor.next_nonce or first < cursor.next_nonce):
            raise NonceUnexpected(cursor.next_nonce)
        nonces = list(range(first, first + count))
        if not abandoned.isdisjoint(nonces):
            NonceReservation.objects.filter(
                chain_id=chain_id, address=address, nonce__in=nonces, state=NonceState.ABANDONED
            ).delete()
        moved = fill_change(
            NonceCursor,
            where={"pk": cursor.pk},
            next_nonce=max(cursor.next_nonce, first + count),
            updated_at=clock.now(),
        )
        reserved = (
            NonceReservation(chain_id=chain_id, address=address, nonce=nonce, permit_id=permit_id, call_index=index)
            for index, nonce in enumerate(nonces)
        )
        insert_rows(*reserved, along=[moved])
    return nonces


def abandon_nonces(*, permit_id: UUID) -> int:
    """Give back the nonces of a permit that stored no bytes; they are given out first next time. Returns how many."""
    return NonceReservation.objects.filter(permit_id=permit_id, state=NonceState.RESERVED).update(
        state=NonceState.ABANDONED, permit=None
    )


def abandon_left(*, chain_id: int) -> int:
    """Give back the nonces of permits that have ended without bytes; returns how many.

    A worker whose lease ran out while it asked a node may reserve them after another one ended the permit. It can
    store nothing any more, and everything with a later nonce would wait for ever.
    """
    left = NonceReservation.objects.filter(
        chain_id=chain_id, state=NonceState.RESERVED, permit__status__in=[str(state) for state in FINAL]
    )
    return NonceReservation.objects.filter(pk__in=left.values("pk"), state=NonceState.RESERVED).update(
        state=NonceState.ABANDONED, permit=None
    )


@retry_aborted
def note_gap(*, chain_id: int, address: str, mined_nonce: int, pending_nonce: int) -> int:
    """Nonces below those we gave out that nobody holds, written down as free: no payload of ours has them, and the node
    knows none of somebody else's. Also forgets what was free and is used up by now. Returns how many were found.

    Both counts must be agreed ones. At most `MOST_FOUND` at a time, lowest first.
    """
    with transaction.atomic():
        cursor = _lock_cursor(chain_id=chain_id, address=address)
        held = NonceReservation.objects.filter(chain_id=chain_id, address=address)
        held.filter(state=NonceState.ABANDONED, nonce__lt=mined_nonce).delete()
        if pending_nonce >= cursor.next_nonce:
            return 0
        known = set(held.filter(nonce__gte=pending_nonce).values_list("nonce", flat=True))
        missing = [nonce for nonce in range(pending_nonce, cursor.next_nonce) if nonce not in known][:MOST_FOUND]
        NonceReservation.objects.bulk_create(
            NonceReservation(chain_id=chain_id, address=address, nonce=nonce, state=NonceState.ABANDONED)
            for nonce in missing
        )
    return len(missing)


def list_holes(*, chain_id: int, address: str, mined_nonce: int) -> list[int]:
    """Abandoned nonces that block a later one in use, lowest first; `mined_nonce` is the next the chain takes."""
    held = NonceReservation.objects.filter(chain_id=chain_id, address=address, nonce__gte=mined_nonce)
    in_use = held.exclude(state=NonceState.ABANDONED).order_by("-nonce").values_list("nonce", flat=True).first()
    if in_use is None:
        return []
    abandoned = held.filter(state=NonceState.ABANDONED, nonce__lt=in_use).order_by("nonce")
    return list(abandoned.values_list("nonce", flat=True))


def _lock_cursor(*, chain_id: int, address: str) -> NonceCursor:
    rows = NonceCursor.objects.select_for_update(no_key=True).filter(chain_id=chain_id, address=address)
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
