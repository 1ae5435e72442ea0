"""How stored bytes get to the chain and are found there: a transaction by our node, a user operation by its bundler.

Whoever resumes, reconciles or halts asks here and need not know which of the two it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from permits_app.execution import broadcast, operations
from permits_app.models import ActionPermit, OutboundTransaction, SigningKey
from tools_app.core.clock import Deadline
from tools_app.standards import user_operation
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import ReceiptView

Mined = tuple[OutboundTransaction, ReceiptView]
"""A payload that a block holds, and what became of it."""


def send(row: OutboundTransaction, *, deadline: Deadline) -> None:
    """Send stored bytes; returns when the other side has them, now or from before.

    Raises the typed error otherwise; RpcTimeout and RpcUnavailable leave it open whether they arrived.
    """
    if row.entry_point:
        operations.send_operation(row, deadline=deadline)
    else:
        broadcast.send_raw(chain_id=row.chain_id, raw=row.raw, tx_hash=row.tx_hash, deadline=deadline)


def find_receipt(row: OutboundTransaction, *, deadline: Deadline) -> ReceiptView | None:
    """What became of one payload, None while no block holds it."""
    found = find_any_receipt([row], deadline=deadline)
    return found[1] if found is not None else None


def find_any_receipt(rows: Sequence[OutboundTransaction], *, deadline: Deadline) -> Mined | None:
    """Whichever of the payloads of one nonce is mined, else None."""
    if rows[0].entry_point:
        return operations.find_any_operation(rows, deadline=deadline)
    hashes = [row.tx_hash for row in rows]
    receipt = broadcast.find_any_receipt(chain_id=rows[0].chain_id, tx_hashes=hashes, deadline=deadline)
    return None if receipt is None else (rows[hashes.index(receipt.tx_hash)], receipt)


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
    """How many nonces of `address` are used up on the chain: its own, or those that the EntryPoint counts for it."""
    if is_of_operations:
        return operations.read_used_nonce(chain_id=chain_id, account=address, deadline=deadline)
    return broadcast.mined_nonce(chain_id=chain_id, address=address, deadline=deadline)


def read_next_nonce(chain: ChainReader, permit: ActionPermit) -> int:
    """The nonce of the permit's signer that would be taken next."""
    if permit.sends_operation:
        return user_operation.read_next_nonce(chain, permit.signer)
    return chain.pending_nonce(permit.signer)


def sends_operations(address: str) -> bool:
    """Whether `address` is a smart account whose payloads are user operations."""
    return SigningKey.objects.filter(account=address).exists()
