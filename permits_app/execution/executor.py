"""execute: nonces, signatures, stored bytes, broadcast, receipts - in that order, each step safe to repeat.

Three rules keep money single: bytes are stored before they are sent; storing them consumes the capability
in the same transaction; a permit whose bytes are stored is never signed again, only sent again.
Seed: decisions, "Permits"; architecture part 1, step 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db import transaction

from archetypes_app.errors import GolemHalted
from permits_app.capabilities import MintedCapability, check_minted
from permits_app.errors import LeaseLost, PlanTampered, SignerUnavailable
from permits_app.execution import delivery
from permits_app.execution.halt_calls import is_halts_own
from permits_app.execution.lease import Lease
from permits_app.execution.nonces import reserve_nonces
from permits_app.execution.payloads import make_payload, send_payload
from permits_app.execution.signers.base import OperationTerms, SignedTransaction, UnsignedTransaction
from permits_app.execution.signers.choose import open_signer
from permits_app.execution.transaction_lives import list_siblings, record_receipt
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction
from permits_app.models.nonce import NonceState
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import PayloadPurpose, TransactionState
from permits_app.plan_store import list_sent_calls
from permits_app.row_locks import lock_golem_and_permit
from permits_app.sealing import hash_plan
from tools_app.core.clock import Deadline
from tools_app.core.rows import insert_rows
from tools_app.toolkit.views import ReceiptView


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

    A golem that was halted sends nothing new: what was not sent stays unsent, and its nonce is filled.
    Raises LeaseLost, and GolemHalted when the golem was halted and nothing of this permit has been sent yet.
    """
    rows = list(permit.transactions.filter(is_live=True).order_by("call_index"))
    for row in rows:
        lease.renew()
        if not send_payload(row, may_leave=partial(_may_leave, permit, row, lease)):
            break
    return _await_all(permit, rows, lease)


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
    check_minted(capability)
    with transaction.atomic():
        golem, row = lock_golem_and_permit(golem_id=permit.golem_id, permit_id=permit.pk)
        if golem.is_halted and not is_halts_own(permit, golem):
            raise GolemHalted("the golem was halted before this commit was signed", reason=golem.halt_reason)
        if row is None or row.status != PermitStatus.COMMITTING or row.lease_owner != lease.owner:
            raise LeaseLost("another worker took over this commit", permit_id=str(permit.pk))
        if hash_plan(row) != row.plan_hash:
            raise PlanTampered("the stored plan does not match its hash", permit_id=str(permit.pk))
        capability.check_value(row.value_micro_usd)
        capability.consume(tool_name=row.tool_name, plan_hash=row.plan_hash)
        insert_rows(
            *(
                make_payload(permit=permit, call_index=index, plain=plain, signed=payload)
                for index, (plain, payload) in enumerate(zip(unsigned, signed, strict=True))
            )
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
            operation=OperationTerms.of_call(call),
        )
        for nonce, call in zip(nonces, list_sent_calls(permit), strict=True)
    ]


def _may_leave(permit: ActionPermit, row: OutboundTransaction, lease: Lease) -> bool:
    """Whether `row` may leave now: always when it left before or fills a nonce, else only while nothing is halted.

    Locks golem and permit in the transaction that counts it as sent: a worker that lost its lease sends nothing new,
    for the next one may have given the permit up. Raises LeaseLost, GolemHalted.
    """
    if row.purpose == PayloadPurpose.FILL or row.broadcast_count:
        return True
    golem, held = lock_golem_and_permit(golem_id=permit.golem_id, permit_id=permit.pk)
    if held is None or held.lease_owner != lease.owner:
        raise LeaseLost("another worker took over this commit", permit_id=str(permit.pk))
    if not golem.is_halted or is_halts_own(permit, golem):
        return True
    if not permit.transactions.filter(purpose=PayloadPurpose.CALL, broadcast_count__gt=0).exists():
        raise GolemHalted("the golem was halted before this commit was sent", reason=golem.halt_reason)
    return False


def _await_all(permit: ActionPermit, rows: Sequence[OutboundTransaction], lease: Lease) -> Execution:
    deadline = Deadline.after_ms(settings.GOLEM_RECEIPT_WAIT_SECONDS * 1000)
    receipts: list[ReceiptView | None] = []
    for row in rows:
        if row.state == TransactionState.SIGNED:
            receipts.append(None)
            continue
        # The halt or the reconciler may have stored another payload of this nonce meanwhile.
        found = delivery.await_receipt([row, *list_siblings(row)], deadline=deadline, renew_lease=lease.renew)
        if found is None:
            receipts.append(None)
            continue
        mined, receipt = found
        record_receipt(mined, receipt)
        receipts.append(receipt if mined.purpose == PayloadPurpose.CALL else None)
    return Execution(receipts=tuple(receipts))
