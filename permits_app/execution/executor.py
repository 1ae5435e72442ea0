"""execute: nonces, signatures, stored bytes, broadcast, receipts - in that order, each step safe to repeat.

What is not seen in that moment is left to the chain's follower. Three rules keep money single: bytes are stored before
they are sent; storing them consumes the capability in the same transaction; a permit whose bytes are stored is never
signed again, only sent again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db import transaction

from archetypes_app.errors import GolemHalted
from archetypes_app.models import Golem
from permits_app.custody.signers.base import OperationTerms, SignedTransaction, UnsignedTransaction
from permits_app.custody.signers.choose_signer import open_signer
from permits_app.errors import LeaseLost, PlanTampered, SignerUnavailable
from permits_app.execution import call_sequences, payload_delivery
from permits_app.execution.commit_lease import Lease
from permits_app.execution.halt_signing_rule import is_halts_own
from permits_app.execution.nonce_readings import take_nonces
from permits_app.execution.owner_withdrawal import is_owners_withdrawal
from permits_app.execution.payload_states import record_receipts
from permits_app.execution.payloads import make_payload, send_payload
from permits_app.halts.halt_choices import is_still_wanted
from permits_app.limits.policy import check_policy_stands
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction
from permits_app.models.nonce import NonceState
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import PayloadPurpose, TransactionState
from permits_app.permits.capabilities import MintedCapability, check_minted
from permits_app.permits.permit_hashes import hash_plan
from permits_app.permits.row_locks import lock_golem_and_permit, lock_halt_and_lease
from permits_app.permits.stored_calls import list_sent_calls
from permits_app.safety.gas_budget import check_fee_fits
from tools_app.core import audit_log, clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.single_row_sql import fill_change, insert_rows
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import ReceiptView

logger = logging.getLogger(__name__)

_LOOK_BUDGET_MS = 5_000
# The local chain mines at once, within a few milliseconds of a sending; a look before that is two requests for nothing.
_FIRST_PAUSE_SECONDS = 0.004
_LONGEST_PAUSE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class ExecutedCalls:
    """What became of the calls: one receipt per call in order, None where it is not seen yet.

    `is_awaited` says that whatever is not seen was sent and may be mined any moment.
    """

    receipts: tuple[ReceiptView | None, ...]
    is_awaited: bool = False

    @property
    def is_complete(self) -> bool:
        return all(receipt is not None for receipt in self.receipts)

    def list_unseen(self) -> list[int]:
        """The indices of the calls that no block was seen to hold."""
        return [index for index, receipt in enumerate(self.receipts) if receipt is None]


def execute(
    *, permit: ActionPermit, capability: MintedCapability, worth_micro_usd: int, chain: ChainReader, lease: Lease
) -> ExecutedCalls:
    """Sign the permit's calls, store the bytes, send them, look for the receipts for a moment.

    `worth_micro_usd` is what they can spend at the prices of now, gas left out. `chain` reads its newest block.

    Raises before anything is stored: FeeTooLow, SignerUnavailable, NonceUnsettled, GolemHalted, LeaseLost,
    PlanTampered, CapabilityError. After that nothing about the calls: what is not seen is None in the answer.
    """
    check_fee_fits(permit=permit, chain=chain)
    unsigned = _build_transactions(permit, payload_delivery.read_next_nonce(chain, permit))
    signer = open_signer(permit.signer)
    signed = [signer.sign(item) for item in unsigned]
    rows = store_signed(
        permit=permit,
        capability=capability,
        worth_micro_usd=worth_micro_usd,
        unsigned=unsigned,
        signed=signed,
        lease=lease,
    )
    return _send_and_look(permit, rows, lease)


def resume(*, permit: ActionPermit, lease: Lease) -> ExecutedCalls:
    """Look what became of what was sent, and send the rest, in nonce order; also after a crash, with the same bytes.

    A golem that was halted sends nothing new: what was not sent stays unsent, and its nonce is filled.
    Raises LeaseLost, and GolemHalted when the golem was halted and nothing of this permit has been sent yet.
    """
    rows = _list_live(permit)
    if any(row.broadcast_count for row in rows):
        execution = _look(rows, _list_by_nonce(rows), {})
        if execution.is_complete:
            return execution
    return _send_and_look(permit, rows, lease)


@retry_aborted
def store_signed(
    *,
    permit: ActionPermit,
    capability: MintedCapability,
    worth_micro_usd: int,
    unsigned: Sequence[UnsignedTransaction],
    signed: Sequence[SignedTransaction],
    lease: Lease,
) -> list[OutboundTransaction]:
    """Store every payload and consume the capability in one transaction, under the golem's row lock; the rows.

    Halting takes the same lock, so either these bytes are stored before the halt, and it sees them, or they never are.
    So does whoever tightens a limit: what was judged by the policy before it is not signed after it.
    Raises GolemHalted, LeaseLost, PlanTampered, PolicyChanged, CapabilityError; then nothing is stored.
    """
    check_minted(capability)
    with transaction.atomic():
        golem, row = lock_golem_and_permit(golem_id=permit.golem_id, permit_id=permit.pk)
        if golem.is_halted and not _may_sign_halted(permit, golem):
            raise GolemHalted("the golem was halted before this commit was signed", reason=golem.halt_reason)
        if row is None or row.status != PermitStatus.COMMITTING or row.lease_owner != lease.owner:
            raise LeaseLost("another worker took over this commit", permit_id=str(permit.pk))
        if hash_plan(row) != row.plan_hash:
            raise PlanTampered("the stored plan does not match its hash", permit_id=str(permit.pk))
        check_policy_stands(row)
        capability.check_value(worth_micro_usd)
        capability.consume(tool_name=row.tool_name, plan_hash=row.plan_hash)
        rows = [
            make_payload(permit=permit, call_index=index, plain=plain, signed=payload)
            for index, (plain, payload) in enumerate(zip(unsigned, signed, strict=True))
        ]
        used = fill_change(NonceReservation, where={"permit_id": permit.pk}, state=NonceState.SIGNED)
        # Before the reservation, as the end of a permit has them.
        head = audit_log.fill_lock(permit.golem_id).fetch()
        insert_rows(*rows, along=[used])
        audit_log.append(
            golem_id=permit.golem_id,
            head=head,
            event="Transaction",
            actor="system:worker",
            data={
                "permit_id": str(permit.pk),
                "tool_name": row.tool_name,
                "plan_hash": row.plan_hash,
                "chain_id": permit.chain_id,
                "sender": permit.signer,
                "signed": [{"tx_hash": each.tx_hash, "nonce": each.nonce, "to": each.to} for each in rows],
            },
            now=clock.now(),
        )
    return rows


def _may_sign_halted(permit: ActionPermit, golem: Golem) -> bool:
    """Under a halt: what the halt itself does, and what the golem's owners take out."""
    return is_owners_withdrawal(permit, golem) or (is_halts_own(permit, golem) and is_still_wanted(permit, golem))


def _build_transactions(permit: ActionPermit, pending_nonce: int) -> list[UnsignedTransaction]:
    if not permit.signer:
        raise SignerUnavailable("the permit names no signer")
    nonces = take_nonces(permit=permit, count=len(permit.calls), pending_nonce=pending_nonce)
    return [
        UnsignedTransaction(
            chain_id=permit.chain_id,
            nonce=nonce,
            to=call.to,
            value=call.value,
            data=call.payload,
            gas_limit=call.gas_limit,
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
    golem, lease_owner = lock_halt_and_lease(golem_id=permit.golem_id, permit_id=permit.pk)
    if lease_owner != lease.owner:
        raise LeaseLost("another worker took over this commit", permit_id=str(permit.pk))
    if not golem.is_halted or is_halts_own(permit, golem) or is_owners_withdrawal(permit, golem):
        return True
    if not permit.transactions.filter(purpose=PayloadPurpose.CALL, broadcast_count__gt=0).exists():
        raise GolemHalted("the golem was halted before this commit was sent", reason=golem.halt_reason)
    return False


def _list_live(permit: ActionPermit) -> list[OutboundTransaction]:
    return list(permit.transactions.filter(is_live=True).order_by("call_index"))


def _send_and_look(permit: ActionPermit, rows: Sequence[OutboundTransaction], lease: Lease) -> ExecutedCalls:
    """Send what is not in a block, then look for receipts: a moment only, for the thread is needed elsewhere."""
    is_new = any(not row.broadcast_count for row in rows)
    for position, row in enumerate(rows):
        if position:
            lease.renew()
        if row.state == TransactionState.DROPPED:
            continue
        if permit.cancel_asked_at is not None or not call_sequences.may_follow(row, rows[:position]):
            break
        if not send_payload(row, may_leave=partial(_may_leave, permit, row, lease)):
            break
    # In the moment after a first sending only these are looked for; what replaces them the follower sees.
    groups = {row.nonce: [row] for row in rows} if is_new else _list_by_nonce(rows)
    seconds = min(settings.GOLEM_FIRST_LOOK_SECONDS, settings.GOLEM_RECEIPT_WAIT_SECONDS) if is_new else 0
    deadline = Deadline.after_ms(seconds * 1000)
    pause = _FIRST_PAUSE_SECONDS
    if is_new:
        time.sleep(min(pause, deadline.remaining_ms() / 1000))
    seen: dict[int, payload_delivery.Mined] = {}
    while True:
        execution = _look(rows, groups, seen)
        # What was not taken by the node is not waited for: the sweep sends it again.
        if execution.is_complete or not execution.is_awaited or deadline.is_over:
            return execution
        time.sleep(min(pause, deadline.remaining_ms() / 1000))
        if pause >= _LONGEST_PAUSE_SECONDS:
            lease.renew()
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)


def _look(
    rows: Sequence[OutboundTransaction],
    payloads: Mapping[int, Sequence[OutboundTransaction]],
    seen: dict[int, payload_delivery.Mined],
) -> ExecutedCalls:
    """What became of each nonce by now, and write it down. A node that fails says nothing about them.

    `seen` holds, by nonce, what an earlier look of this moment found; what this one finds is added.
    """
    open_rows = [row for row in rows if row.nonce not in seen]
    sent = [row for row in open_rows if row.broadcast_count]
    mined: Sequence[payload_delivery.Mined | None] = []
    if sent:
        try:
            mined = payload_delivery.look(
                [payloads[row.nonce] for row in sent], deadline=Deadline.after_ms(_LOOK_BUDGET_MS)
            )
        except GolemError as error:
            logger.info("payload %s is not looked up now: %s", rows[0].tx_hash, error.code)
    in_blocks = [(row, found) for row, found in zip(sent, mined, strict=False) if found is not None]
    if in_blocks:
        record_receipts([(row if found[0].pk == row.pk else found[0], found[1]) for row, found in in_blocks])
    seen |= {row.nonce: found for row, found in in_blocks}
    receipts = [_receipt_of_call(seen.get(row.nonce)) for row in rows]
    open_rows = [row for row in rows if row.nonce not in seen]
    return ExecutedCalls(tuple(receipts), all(row.state == TransactionState.BROADCAST for row in open_rows))


def _receipt_of_call(mined: payload_delivery.Mined | None) -> ReceiptView | None:
    return mined[1] if mined is not None and mined[0].purpose == PayloadPurpose.CALL else None


def _list_by_nonce(rows: Sequence[OutboundTransaction]) -> dict[int, list[OutboundTransaction]]:
    """The payloads of each nonce, `rows` first: a halt or the reconciler may have stored others meanwhile."""
    groups = {row.nonce: [row] for row in rows}
    others = OutboundTransaction.objects.filter(
        chain_id=rows[0].chain_id, sender=rows[0].sender, nonce__in=list(groups)
    ).exclude(pk__in=[row.pk for row in rows])
    for other in others:
        groups[other.nonce].append(other)
    return groups
