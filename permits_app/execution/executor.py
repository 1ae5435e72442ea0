"""execute: nonces, signatures, stored bytes, broadcast, receipts - in that order, each step safe to repeat.

Three rules keep money single: bytes are stored before they are sent; storing them consumes the capability
in the same transaction; a permit whose bytes are stored is never signed again, only sent again.
Seed: decisions, "Permits"; architecture part 1, step 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from archetypes_app.errors import GolemHalted
from archetypes_app.models import Golem
from permits_app.capabilities import MintedCapability
from permits_app.errors import LeaseLost, PlanTampered, SignerUnavailable
from permits_app.execution import broadcast
from permits_app.execution.lease import Lease
from permits_app.execution.nonces import reserve_nonces
from permits_app.execution.signers.base import SignedTransaction, UnsignedTransaction
from permits_app.execution.signers.choose import open_signer
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction
from permits_app.models.nonce import NonceState
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import TransactionState
from permits_app.sealing import hash_plan
from tools_app.chain.node_errors import RpcTimeout, RpcUnavailable
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.toolkit.views import ReceiptView

_SEND_BUDGET_MS = 10_000


@dataclass(frozen=True, slots=True)
class Execution:
    """What became of the calls: one receipt per call in order, None where it is not seen yet."""

    receipts: tuple[ReceiptView | None, ...]

    @property
    def is_complete(self) -> bool:
        return all(receipt is not None for receipt in self.receipts)


def execute(*, permit: ActionPermit, capability: MintedCapability, pending_nonce: int, lease: Lease) -> Execution:
    """Sign the permit's calls, store the bytes, send them, wait for the receipts.

    Raises before anything is stored: SignerUnavailable, GolemHalted, LeaseLost, PlanTampered, CapabilityError.
    After that it raises nothing about the calls: what is not seen is None in the answer.
    """
    unsigned = _build_transactions(permit, pending_nonce)
    signer = open_signer(permit.signer)
    signed = [signer.sign(item) for item in unsigned]
    store_signed(permit=permit, capability=capability, unsigned=unsigned, signed=signed, lease=lease)
    return resume(permit=permit, lease=lease)


def resume(*, permit: ActionPermit, lease: Lease) -> Execution:
    """Send what is stored, in nonce order, and wait for the receipts; also after a crash, with the same bytes.

    Raises GolemHalted when the golem was halted and nothing of this permit has been sent yet.
    """
    rows = list(permit.transactions.order_by("call_index"))
    _check_not_halted(permit, rows)
    for row in rows:
        lease.renew()
        if not _send(row):
            break
    return _await_all(rows, lease)


def store_signed(
    *,
    permit: ActionPermit,
    capability: MintedCapability,
    unsigned: Sequence[UnsignedTransaction],
    signed: Sequence[SignedTransaction],
    lease: Lease,
) -> None:
    """Store every payload and consume the capability in one transaction, under the golem's row lock.

    Halting takes the same lock, so either these bytes are stored before the halt, and it sees them, or they never are.
    Raises GolemHalted, LeaseLost, PlanTampered, CapabilityError; then nothing is stored.
    """
    with transaction.atomic():
        golem = Golem.objects.select_for_update().get(pk=permit.golem_id)
        if golem.is_halted:
            raise GolemHalted("the golem was halted before this commit was signed", reason=golem.halt_reason)
        row = ActionPermit.objects.select_for_update().get(pk=permit.pk)
        if row.status != PermitStatus.COMMITTING or row.lease_owner != lease.owner:
            raise LeaseLost("another worker took over this commit", permit_id=str(permit.pk))
        if hash_plan(row) != row.plan_hash:
            raise PlanTampered("the stored plan does not match its hash", permit_id=str(permit.pk))
        capability.check_value(row.value_micro_usd)
        capability.consume(tool_name=row.tool_name, plan_hash=row.plan_hash)
        for index, (plain, payload) in enumerate(zip(unsigned, signed, strict=True)):
            OutboundTransaction.objects.create(
                permit=permit,
                call_index=index,
                chain_id=plain.chain_id,
                sender=permit.signer,
                nonce=plain.nonce,
                to=plain.to,
                value_wei=str(plain.value),
                gas_limit=plain.gas_limit,
                max_fee_per_gas=str(plain.max_fee_per_gas),
                max_priority_fee_per_gas=str(plain.max_priority_fee_per_gas),
                raw="0x" + payload.raw.hex(),
                tx_hash=payload.tx_hash,
            )
        NonceReservation.objects.filter(permit=permit).update(state=NonceState.SIGNED)


def _build_transactions(permit: ActionPermit, pending_nonce: int) -> list[UnsignedTransaction]:
    if not permit.signer:
        raise SignerUnavailable("the permit names no signer")
    nonces = reserve_nonces(
        permit_id=permit.pk, chain_id=permit.chain_id, address=permit.signer, count=len(permit.calls),
        pending_nonce=pending_nonce,
    )  # fmt: skip
    return [
        UnsignedTransaction(
            chain_id=permit.chain_id,
            nonce=nonce,
            to=call["to"],
            value=int(call["value"]),
            data=bytes.fromhex(call["data"].removeprefix("0x")),
            gas_limit=int(call["gas_limit"]),
            max_fee_per_gas=int(permit.max_fee_per_gas),
            max_priority_fee_per_gas=int(permit.max_priority_fee_per_gas),
        )
        for nonce, call in zip(nonces, permit.calls, strict=True)
    ]


def _check_not_halted(permit: ActionPermit, rows: Sequence[OutboundTransaction]) -> None:
    if any(row.broadcast_count for row in rows):
        return
    golem = Golem.objects.only("halted_at", "halt_reason").get(pk=permit.golem_id)
    if golem.is_halted:
        raise GolemHalted("the golem was halted before this commit was sent", reason=golem.halt_reason)


def _send(row: OutboundTransaction) -> bool:
    """Send one stored payload; False when the node is away or refuses, so that later nonces are not sent before it."""
    if row.state in (TransactionState.MINED, TransactionState.REVERTED):
        return True
    OutboundTransaction.objects.filter(pk=row.pk).update(broadcast_count=row.broadcast_count + 1)
    row.broadcast_count += 1
    try:
        broadcast.send_raw(
            chain_id=row.chain_id, raw=row.raw, tx_hash=row.tx_hash, deadline=Deadline.after_ms(_SEND_BUDGET_MS)
        )
    except (RpcTimeout, RpcUnavailable):
        return False
    except GolemError:
        # The node refuses these bytes now (fees, funds, nonce). Whether they are mined is for the reconciler.
        return False
    row.state = TransactionState.BROADCAST
    row.broadcast_at = clock.now()
    row.save(update_fields=["state", "broadcast_at", "updated_at"])
    return True


def _await_all(rows: Sequence[OutboundTransaction], lease: Lease) -> Execution:
    deadline = Deadline.after_ms(settings.GOLEM_RECEIPT_WAIT_SECONDS * 1000)
    receipts: list[ReceiptView | None] = []
    for row in rows:
        if row.state == TransactionState.SIGNED:
            receipts.append(None)
            continue
        receipt = broadcast.await_receipt(
            chain_id=row.chain_id, tx_hash=row.tx_hash, deadline=deadline, renew_lease=lease.renew
        )
        if receipt is not None:
            record_receipt(row, receipt)
        receipts.append(receipt)
    return Execution(receipts=tuple(receipts))


def record_receipt(row: OutboundTransaction, receipt: ReceiptView) -> None:
    """Write what the chain says of one transaction."""
    row.state = TransactionState.MINED if receipt.succeeded else TransactionState.REVERTED
    row.block_number = receipt.block_number
    row.gas_used = receipt.gas_used
    row.fee_wei = str(receipt.fee)
    row.receipt = {
        "block_hash": receipt.block_hash,
        "block_number": receipt.block_number,
        "gas_used": receipt.gas_used,
        "effective_gas_price": str(receipt.effective_gas_price),
        "fee_wei": str(receipt.fee),
        "succeeded": receipt.succeeded,
        "logs": [
            {"address": log.address, "topics": list(log.topics), "data": log.data, "log_index": log.log_index}
            for log in receipt.logs
        ],
    }
    row.save(update_fields=["state", "block_number", "gas_used", "fee_wei", "receipt", "updated_at"])
