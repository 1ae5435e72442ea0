"""The life of one stored payload: the only place its state changes, each time by one conditional UPDATE.

A reorganisation takes a mined payload back; the same bytes are then sent again, never others.
Seed: decisions, "Permits" (UNKNOWN, nonce).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from permits_app.models import OutboundTransaction
from permits_app.models.transaction import IN_A_BLOCK, TransactionState
from tools_app.core import clock
from tools_app.toolkit.views import ReceiptView

S = TransactionState

TRANSITIONS: Mapping[TransactionState, frozenset[TransactionState]] = {
    S.SIGNED: frozenset({S.BROADCAST, S.UNKNOWN, S.MINED, S.REVERTED, S.DROPPED}),
    S.BROADCAST: frozenset({S.BROADCAST, S.UNKNOWN, S.MINED, S.REVERTED, S.DROPPED}),
    S.UNKNOWN: frozenset({S.BROADCAST, S.MINED, S.REVERTED, S.DROPPED}),
    S.MINED: frozenset({S.FINAL, S.REORGED}),
    S.REVERTED: frozenset({S.FINAL, S.REORGED}),
    S.REORGED: frozenset({S.BROADCAST, S.UNKNOWN, S.MINED, S.REVERTED, S.DROPPED}),
    # After a reorganisation the payload that lost its nonce may win it.
    S.DROPPED: frozenset({S.MINED, S.REVERTED}),
    S.FINAL: frozenset(),
}


def advance(row: OutboundTransaction, to: TransactionState, **columns: Any) -> bool:
    """Move `row` to `to` if its state allows it; True when this call did it. `row` shows the stored state after."""
    sources = [str(state) for state, following in TRANSITIONS.items() if to in following]
    changes = {"state": to, "updated_at": clock.now(), **columns}
    done = OutboundTransaction.objects.filter(pk=row.pk, state__in=sources).update(**changes)
    if done:
        for name, value in changes.items():
            setattr(row, name, value)
    else:
        row.refresh_from_db()
    return bool(done)


def record_receipt(row: OutboundTransaction, receipt: ReceiptView) -> None:
    """Write what the chain says of one payload; the other payloads of its nonce are dropped with it."""
    to = S.MINED if receipt.succeeded else S.REVERTED
    try:
        with transaction.atomic():
            advance(
                row, to, block_number=receipt.block_number, gas_used=receipt.gas_used, fee_wei=str(receipt.fee),
                receipt=encode_receipt(receipt),
            )  # fmt: skip
            for sibling in list_siblings(row):
                advance(sibling, S.DROPPED)
    except IntegrityError:
        # Another payload of the nonce is on record as mined; the reconciler finds which of the two the chain holds.
        row.refresh_from_db()


def list_siblings(row: OutboundTransaction) -> list[OutboundTransaction]:
    """The other payloads signed for the same nonce."""
    same = OutboundTransaction.objects.filter(chain_id=row.chain_id, sender=row.sender, nonce=row.nonce)
    return list(same.exclude(pk=row.pk))


def is_in_a_block(row: OutboundTransaction) -> bool:
    """Whether the chain was seen to hold the payload."""
    return row.state in IN_A_BLOCK


def encode_receipt(receipt: ReceiptView) -> dict[str, Any]:
    """A receipt as JSON."""
    return {
        "block_hash": receipt.block_hash,
        "block_number": receipt.block_number,
        "gas_used": receipt.gas_used,
        "effective_gas_price": str(receipt.effective_gas_price),
        "l1_fee": str(receipt.l1_fee),
        "fee_wei": str(receipt.fee),
        "succeeded": receipt.succeeded,
        "tx_hash": receipt.tx_hash,
        **({"cost": str(receipt.cost), "paid_by": receipt.paid_by} if receipt.cost is not None else {}),
        "logs": [
            {"address": log.address, "topics": list(log.topics), "data": log.data, "log_index": log.log_index}
            for log in receipt.logs
        ],
    }
