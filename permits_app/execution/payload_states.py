"""The life of one stored payload: the only place its state changes, each time by one conditional UPDATE.

A reorganisation takes a mined payload back; the same bytes are then sent again, never others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import IntegrityError, transaction

from permits_app.errors import ReceiptArchived
from permits_app.models import OutboundTransaction
from permits_app.models.transaction import IN_A_BLOCK, TransactionState
from tools_app.core import clock, trace_spans
from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.prepared_statements import Filled, fetch_together
from tools_app.core.single_row_sql import fill_change
from tools_app.core.stored_json import IntText, read_stored
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.views import LogEntry, ReceiptView

S = TransactionState
LAID_AWAY: Final = "archive"
"""In a kept receipt without its logs: the number of the golem's archive that has it whole."""

TRANSITIONS: Mapping[TransactionState, frozenset[TransactionState]] = {
    S.SIGNED: frozenset({S.BROADCAST, S.UNKNOWN, S.MINED, S.REVERTED, S.DROPPED}),
    S.BROADCAST: frozenset({S.BROADCAST, S.UNKNOWN, S.MINED, S.REVERTED, S.DROPPED}),
    S.UNKNOWN: frozenset({S.BROADCAST, S.MINED, S.REVERTED, S.DROPPED}),
    S.MINED: frozenset({S.FINAL, S.REORGED}),
    S.REVERTED: frozenset({S.FINAL, S.REORGED}),
    S.REORGED: frozenset({S.BROADCAST, S.UNKNOWN, S.MINED, S.REVERTED, S.DROPPED}),
    # After a reorganisation the payload that lost its nonce may win it.
    S.DROPPED: frozenset({S.MINED, S.REVERTED}),
    # A chain may roll back past the depth taken for final: a node killed with its last blocks, say.
    S.FINAL: frozenset({S.REORGED}),
}


_SIBLINGS: CompiledQuery[OutboundTransaction] = CompiledQuery(
    lambda chain_id, sender, nonce, pk: OutboundTransaction.objects.filter(
        chain_id=chain_id, sender=sender, nonce=nonce
    ).exclude(pk=pk),
    901,
    "a sender",
    902,
    903,
)


def advance(row: OutboundTransaction, to: TransactionState, **columns: object) -> bool:
    """Move `row` to `to` if its state allows it; True when this call did it. `row` shows the stored state after."""
    changes = {"state": to, "updated_at": clock.now(), **columns}
    return _show(row, changes, is_done=bool(_fill_advance(row, changes).fetch()))


def _fill_advance(row: OutboundTransaction, changes: Mapping[str, object]) -> Filled:
    sources = tuple(str(state) for state, following in TRANSITIONS.items() if changes["state"] in following)
    return fill_change(OutboundTransaction, where={"pk": row.pk, "state": sources}, **changes)


def _show(row: OutboundTransaction, changes: Mapping[str, object], *, is_done: bool) -> bool:
    if is_done:
        for name, value in changes.items():
            setattr(row, name, value)
    else:
        row.refresh_from_db()
    return is_done


def record_receipts(found: Sequence[tuple[OutboundTransaction, ReceiptView]]) -> None:
    """Write what the chain says of payloads of different nonces; the others of each nonce are dropped with it."""
    told = ",".join(receipt.tx_hash for _, receipt in found)
    try:
        with trace_spans.step("receipt", tx_hashes=told, block=found[0][1].block_number):
            _record_together(found)
    except IntegrityError:
        if len(found) > 1:
            for each in found:
                record_receipts([each])
            return
        # Another payload of the nonce is on record as mined; the reconciler finds which of the two the chain holds.
        found[0][0].refresh_from_db()


def record_receipt(row: OutboundTransaction, receipt: ReceiptView) -> None:
    """The same for one."""
    record_receipts([(row, receipt)])


@retry_aborted
def _record_together(found: Sequence[tuple[OutboundTransaction, ReceiptView]]) -> None:
    changes = [_describe_receipt(receipt) for _, receipt in found]
    with transaction.atomic():
        asked = [
            each
            for (row, _), columns in zip(found, changes, strict=True)
            for each in (_fill_advance(row, columns), _fill_siblings(row))
        ]
        told = fetch_together(*asked)
        for (row, _), columns, done, others in zip(found, changes, told[::2], told[1::2], strict=True):
            _show(row, columns, is_done=bool(done))
            for sibling in _SIBLINGS.read(others):
                advance(sibling, S.DROPPED)


def _describe_receipt(receipt: ReceiptView) -> dict[str, object]:
    return {
        "state": S.MINED if receipt.succeeded else S.REVERTED,
        "updated_at": clock.now(),
        "block_number": receipt.block_number,
        "gas_used": receipt.gas_used,
        "fee_wei": str(receipt.fee),
        "receipt": encode_receipt(receipt),
    }


def doubt_receipt(row: OutboundTransaction) -> bool:
    """Forget what was answered of a payload, since the balances of its block contradict it; True when this call did.

    Not in the table: whoever merely lost sight of a payload must not undo what another worker has seen.
    """
    done = OutboundTransaction.objects.filter(pk=row.pk, state__in=[str(S.MINED), str(S.REVERTED)]).update(
        state=S.UNKNOWN, block_number=None, gas_used=None, fee_wei="", receipt={}, updated_at=clock.now()
    )
    row.refresh_from_db()
    return bool(done)


def list_siblings(row: OutboundTransaction) -> list[OutboundTransaction]:
    """The other payloads signed for the same nonce."""
    return _SIBLINGS.read(_fill_siblings(row).fetch())


def _fill_siblings(row: OutboundTransaction) -> Filled:
    return _SIBLINGS.fill(row.chain_id, row.sender, row.nonce, row.pk)


def is_in_a_block(row: OutboundTransaction) -> bool:
    """Whether the chain was seen to hold the payload."""
    return row.state in IN_A_BLOCK


@dataclass(frozen=True, slots=True)
class StoredLog:
    """A log of a kept receipt."""

    address: str
    topics: tuple[str, ...]
    data: str
    log_index: int


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """A receipt as `encode_receipt` writes it; prices and fees in wei."""

    tx_hash: str
    succeeded: bool
    block_number: int
    block_hash: str
    gas_used: int
    effective_gas_price: IntText
    l1_fee: IntText
    logs: tuple[StoredLog, ...]
    cost: IntText | None = None
    paid_by: str = ""


@dataclass(frozen=True, slots=True)
class LaidAwayReceipt:
    """A receipt of which an archive has the logs."""

    tx_hash: str
    archive: int


@dataclass(frozen=True, slots=True)
class BlockOfReceipt:
    """The block of a kept receipt, whether or not its logs were laid away."""

    block_number: int
    block_hash: str


def read_block_of(row: OutboundTransaction) -> BlockOfReceipt:
    """The block that the receipt of `row` was seen in. Raises ValueError without a receipt."""
    return read_stored(BlockOfReceipt, row.receipt)


def encode_receipt(receipt: ReceiptView) -> dict[str, object]:
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


def decode_receipt(kept: Mapping[str, object]) -> ReceiptView:
    """What `encode_receipt` made of a receipt, as a receipt. Raises ReceiptArchived for one without its logs."""
    if LAID_AWAY in kept:
        away = read_stored(LaidAwayReceipt, kept)
        raise ReceiptArchived(
            f"the logs of transaction {away.tx_hash} lie in archive {away.archive} of its golem",
            archive=away.archive,
            tx_hash=away.tx_hash,
        )
    stored = read_stored(StoredReceipt, kept)
    return ReceiptView(
        tx_hash=stored.tx_hash,
        succeeded=stored.succeeded,
        block_number=stored.block_number,
        block_hash=stored.block_hash,
        gas_used=stored.gas_used,
        effective_gas_price=stored.effective_gas_price,
        l1_fee=stored.l1_fee,
        logs=tuple(
            LogEntry(log.address, log.topics, log.data, stored.block_number, stored.tx_hash, log.log_index)
            for log in stored.logs
        ),
        cost=stored.cost,
        paid_by=stored.paid_by,
    )
