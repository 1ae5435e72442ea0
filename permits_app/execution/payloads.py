"""Stored payloads: how one becomes a row, and how its bytes leave. Nothing here signs or decides.

Whether bytes may ever have left is decided in the database: a payload counts as sent from the moment its row says
so, and a row that was replaced before that never leaves.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from hashlib import sha256

from django.db import transaction

from permits_app.custody.signers.base import SignedTransaction, UnsignedTransaction
from permits_app.execution import payload_delivery
from permits_app.execution.payload_states import advance, is_in_a_block
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.transaction import PayloadPurpose, TransactionState
from tools_app.chain.node_errors import GasLimitRefused, RpcTimeout, TransactionMalformed
from tools_app.core import clock, trace_spans
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.prepared_statements import Prepared
from tools_app.core.single_row_sql import insert_row
from tools_app.core.transaction_retry import retry_aborted

logger = logging.getLogger(__name__)

_SEND_BUDGET_MS = 10_000


def digest_action(*, to: str, value: int, data: bytes) -> str:
    """Names what a payload does, whatever it pays for it."""
    return "0x" + sha256(f"{to.lower()}|{value}|0x{data.hex()}".encode()).hexdigest()


def make_payload(
    *,
    permit: ActionPermit | None,
    call_index: int,
    plain: UnsignedTransaction,
    signed: SignedTransaction,
    sender: str = "",
    purpose: PayloadPurpose = PayloadPurpose.CALL,
    replaces: OutboundTransaction | None = None,
) -> OutboundTransaction:
    """The row of one payload, not stored yet. The database refuses a second action under its nonce."""
    says = signed.says or plain
    return OutboundTransaction(
        permit=permit,
        call_index=call_index,
        purpose=purpose,
        replaces=replaces,
        chain_id=plain.chain_id,
        sender=permit.signer if permit is not None else sender,
        nonce=plain.nonce,
        to=plain.to,
        value_wei=str(plain.value),
        action_digest=digest_action(to=plain.to, value=plain.value, data=plain.data),
        gas_limit=says.gas_limit,
        max_fee_per_gas=str(says.max_fee_per_gas),
        max_priority_fee_per_gas=str(says.max_priority_fee_per_gas),
        entry_point=plain.operation.entry_point if plain.operation is not None else "",
        signed_at_block=signed.at_block,
        raw="0x" + signed.raw.hex(),
        tx_hash=signed.tx_hash,
    )


def store_payload(row: OutboundTransaction) -> OutboundTransaction:
    """Write one payload in the caller's transaction; the row itself."""
    insert_row(row)
    return row


def send_payload(row: OutboundTransaction, *, may_leave: Callable[[], bool] = lambda: True) -> bool:
    """Send one stored payload; False when it may not leave, was replaced, or the node is away or refuses it.

    Then later nonces of the same permit are not sent before it. `may_leave` is asked in the transaction that counts it
    as sent; what it raises is raised.
    """
    if is_in_a_block(row):
        return True
    claimed = _count_as_sent(row, may_leave)
    if claimed is None:
        return False
    if not claimed:
        row.refresh_from_db()
        return False
    row.broadcast_count += 1
    try:
        with trace_spans.step("broadcast", tx_hash=row.tx_hash, chain_id=row.chain_id):
            payload_delivery.send(row, deadline=Deadline.after_ms(_SEND_BUDGET_MS))
    except RpcTimeout:
        advance(row, TransactionState.UNKNOWN)
        return False
    except GolemError as error:
        # The other side is away or refuses these bytes now. Whether they are mined all the same, the reconciler finds.
        logger.warning("payload %s not taken now: %s", row.tx_hash, error.code)
        _note_refusal(row, error)
        return False
    advance(row, TransactionState.BROADCAST, broadcast_at=row.broadcast_at or clock.now(), refusal="")
    return True


def is_refused_for_good(row: OutboundTransaction) -> bool:
    """Whether the node, asked once more, refuses a transaction for what its bytes say, which no waiting changes.

    Only for what was counted as sent before. Where the node takes the bytes now, they are sent.
    """
    try:
        payload_delivery.send(row, deadline=Deadline.after_ms(_SEND_BUDGET_MS))
    except (GasLimitRefused, TransactionMalformed):
        return True
    except GolemError:
        return False
    advance(row, TransactionState.BROADCAST, broadcast_at=row.broadcast_at or clock.now(), refusal="")
    return False


def _note_refusal(row: OutboundTransaction, error: GolemError) -> None:
    """Which words a node refused the bytes with, where these are about the bytes and not about the node."""
    if error.http_status < 500 and row.refusal != error.code:
        OutboundTransaction.objects.filter(pk=row.pk).update(refusal=error.code)
        row.refusal = error.code


@retry_aborted
def _count_as_sent(row: OutboundTransaction, may_leave: Callable[[], bool]) -> bool | None:
    """Whether the payload counts as sent now; None when it may not leave."""
    with transaction.atomic():
        if not may_leave():
            return None
        return bool(_COUNT.fetch(payload=row.pk))


_COUNT = Prepared(
    "count_as_sent",
    f"UPDATE {OutboundTransaction._meta.db_table} SET broadcast_count = broadcast_count + 1"  # noqa: S608
    " WHERE id = %(payload)s AND is_live RETURNING 1",
)
