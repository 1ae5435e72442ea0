"""Sends stored bytes and finds them again: a transaction by our node, a user operation by its bundler.

Whoever resumes, reconciles or halts asks here and need not know which of the two it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from django.conf import settings

from permits_app.execution import broadcast, confirm_transaction, nonce_readings, user_operations
from permits_app.execution.payload_states import list_siblings
from permits_app.models import ActionPermit, OutboundTransaction, SigningKey
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.standards import user_operation
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import ReceiptView

_LOST_AFTER: Final = timedelta(minutes=10)
Mined = tuple[OutboundTransaction, ReceiptView]
"""A payload that a block holds, and what became of it."""


def send(row: OutboundTransaction, *, deadline: Deadline) -> None:
    """Send stored bytes; returns when the other side has them, now or from before.

    Raises the typed error otherwise; RpcTimeout and RpcUnavailable leave it open whether they arrived.
    """
    if row.entry_point:
        user_operations.send_operation(row, deadline=deadline)
    else:
        broadcast.send_raw(chain_id=row.chain_id, raw=row.raw, tx_hash=row.tx_hash, deadline=deadline)


def find_receipt(row: OutboundTransaction, *, deadline: Deadline) -> ReceiptView | None:
    """What became of one payload, None while no block holds it."""
    found = find_any_receipt([row], deadline=deadline)
    return found[1] if found is not None else None


def find_any_receipt(rows: Sequence[OutboundTransaction], *, deadline: Deadline) -> Mined | None:
    """Whichever of the payloads of one nonce is mined, else None."""
    if rows[0].entry_point:
        return user_operations.find_any_operation(rows, deadline=deadline)
    by_hash = {row.tx_hash: row for row in rows}
    chain_id = rows[0].chain_id
    receipt = broadcast.find_any_receipt(chain_id=chain_id, tx_hashes=list(by_hash), deadline=deadline)
    if receipt is None or receipt.tx_hash not in by_hash:
        return None
    return (
        (by_hash[receipt.tx_hash], receipt)
        if confirm_transaction.confirm(chain_id, receipt, deadline=deadline)
        else None
    )


def look(groups: Sequence[Sequence[OutboundTransaction]], *, deadline: Deadline) -> list[Mined | None]:
    """For the payloads of each nonce, whichever is mined: transactions of one chain in one batch, each operation alone.

    Those receipts alone that a second reading confirms. Raises the node's errors where it answers nothing at all.
    """
    plain = [row.tx_hash for rows in groups if not rows[0].entry_point for row in rows]
    chain_id = groups[0][0].chain_id
    claimed = broadcast.find_receipts(chain_id=chain_id, tx_hashes=plain, deadline=deadline)
    confirmed = confirm_transaction.confirm_many(chain_id, list(claimed.values()), deadline=deadline)
    receipts = {receipt.tx_hash: receipt for receipt in confirmed}
    return [
        user_operations.find_any_operation(rows, deadline=deadline)
        if rows[0].entry_point
        else next(((row, receipts[row.tx_hash]) for row in rows if row.tx_hash in receipts), None)
        for rows in groups
    ]


def await_receipt(
    rows: Sequence[OutboundTransaction], *, deadline: Deadline, renew_lease: Callable[[], None]
) -> Mined | None:
    """Poll for any of the payloads of one nonce; None when time ran out. Renews between polls."""
    return broadcast.poll(lambda: find_any_receipt(rows, deadline=deadline), deadline=deadline, renew_lease=renew_lease)


def is_known(row: OutboundTransaction, *, deadline: Deadline) -> bool:
    """Whether it may still be mined, or is: a transaction our node knows, an operation that a block holds."""
    if row.entry_point:
        return find_receipt(row, deadline=deadline) is not None
    return broadcast.is_known(chain_id=row.chain_id, tx_hash=row.tx_hash, deadline=deadline)


def read_used_nonce(*, chain_id: int, address: str, is_of_operations: bool, deadline: Deadline) -> int:
    """How many nonces of `address` are used up on the chain: its own, or those that the EntryPoint counts for it.

    Raises NonceUnsettled where two readings do not agree.
    """
    return nonce_readings.read_counts(
        chain_id=chain_id, address=address, is_of_operations=is_of_operations, deadline=deadline
    ).mined


def is_lost(row: OutboundTransaction, *, used_nonce: int, deadline: Deadline) -> bool:
    """Whether a payload that no receipt shows can never be mined, `used_nonce` being what the chain counts.

    A node that does not know it may lie or be behind: the transaction that took its nonce must be shown, or the node
    has kept to its word for GOLEM_DOUBT_SECONDS since the nonce was first counted as used, or for `_LOST_AFTER`.
    """
    if row.nonce >= used_nonce or is_known(row, deadline=deadline):
        return False
    now, patience = clock.now(), timedelta(seconds=settings.GOLEM_DOUBT_SECONDS)
    if row.created_at <= now - _LOST_AFTER:
        return True
    if row.passed_at is not None and row.passed_at <= now - patience:
        return True
    same = [row.tx_hash, *(each.tx_hash for each in list_siblings(row))]
    if row.entry_point:
        return user_operations.is_taken_by_another(row, ours=same, deadline=deadline)
    return confirm_transaction.is_taken_by_another(
        chain_id=row.chain_id,
        sender=row.sender,
        nonce=row.nonce,
        tx_hashes=same,
        since_block=row.permit.block_number if row.permit is not None else 0,
        deadline=deadline,
    )


def read_next_nonce(chain: ChainReader, permit: ActionPermit) -> int:
    """The nonce of the permit's signer that would be taken next."""
    if permit.sends_operation:
        return user_operation.read_next_nonce(chain, permit.signer)
    return chain.pending_nonce(permit.signer)


def sends_operations(address: str) -> bool:
    """Whether `address` is a smart account whose payloads are user operations."""
    return SigningKey.objects.filter(account=address).exists()
