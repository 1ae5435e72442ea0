"""Replaces a payload whose nonce is stuck or unused: by the same action at higher fees, or by nothing.

A speed-up keeps nonce, to, value and data and stays inside the gas the permit reserved. A fill is a zero transfer to
itself, or a user operation without a call. Both are stored before they are sent, like everything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.custody.signers.base import OperationTerms, SignedTransaction, UnsignedTransaction
from permits_app.custody.signers.choose_signer import open_signer
from permits_app.execution import payload_delivery
from permits_app.execution.payloads import make_payload, send_payload, store_payload
from permits_app.models import NonceReservation, OutboundTransaction
from permits_app.models.nonce import NonceState
from permits_app.models.transaction import UNSETTLED, PayloadPurpose, TransactionState
from permits_app.permits.stored_calls import list_sent_calls
from tools_app import runner
from tools_app.core import audit_log
from tools_app.core.clock import Deadline
from tools_app.core.required_value import require
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import BPS
from tools_app.standards.user_operation import ENTRY_POINT, decode_operation
from tools_app.toolkit.views import FeeQuote

TRANSFER_GAS = 21_000
_FEE_BUDGET_MS = 5_000


@dataclass(frozen=True, slots=True)
class Fees:
    """Wei per gas."""

    cap: int
    priority: int


def read_fees(*, chain_id: int, now: datetime) -> FeeQuote:
    """What the chain asks for now. Raises the node errors."""
    return runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_FEE_BUDGET_MS)).fees()


def raise_fees(*, old: Fees, market: FeeQuote, raise_bps: int) -> Fees:
    """Both fees raised by at least `raise_bps`, and to the market where that is more. Pure."""
    priority = max(_raised(old.priority, raise_bps), market.priority_fee)
    return Fees(cap=max(_raised(old.cap, raise_bps), market.max_fee, priority), priority=priority)


def fit_gas(*, reserved_wei: int, fees: Fees, gas_limit: int, gas_expected: int) -> int | None:
    """The gas limit that keeps `gas_limit` x cap inside `reserved_wei`; None when the call would starve. Pure."""
    fitting = min(gas_limit, reserved_wei // fees.cap)
    needed = -(-gas_expected * 11 // 10)
    return fitting if fitting >= max(needed, TRANSFER_GAS) else None


def speed_up(*, row: OutboundTransaction, market: FeeQuote, now: datetime) -> OutboundTransaction | None:
    """Replace a stuck call by the same call at higher fees; None when it is over, halted, or the budget is used up."""
    permit = require(row.permit)
    call = list_sent_calls(permit)[row.call_index]
    fees = raise_fees(old=_fees_of(row), market=market, raise_bps=settings.GOLEM_FEE_RAISE_BPS)
    reserved = call.gas_limit * int(permit.max_fee_per_gas)
    if row.entry_point:
        # The limits of an operation are its own; what is left of the reservation must hold them all.
        fitting = min(call.gas_limit, reserved // fees.cap)
        gas = fitting if fitting >= row.gas_limit else None
    else:
        gas = fit_gas(
            reserved_wei=reserved,
            fees=fees,
            gas_limit=row.gas_limit,
            gas_expected=int(permit.simulation["calls"][row.call_index]["gas_used"]),
        )
    if gas is None:
        return None
    plain = UnsignedTransaction(
        chain_id=row.chain_id,
        nonce=row.nonce,
        to=row.to,
        value=int(row.value_wei),
        data=call.payload,
        gas_limit=gas,
        max_fee_per_gas=fees.cap,
        max_priority_fee_per_gas=fees.priority,
        operation=OperationTerms.of_call(call),
    )
    return _replace(row, plain, PayloadPurpose.CALL, "TransactionSpedUp", "system:reconciler", now)


def fill_instead(
    *, row: OutboundTransaction, market: FeeQuote, actor: str, now: datetime
) -> OutboundTransaction | None:
    """Replace a stored payload by one that does nothing; None when it is settled or was replaced meanwhile."""
    fees = raise_fees(old=_fees_of(row), market=market, raise_bps=settings.GOLEM_FEE_RAISE_BPS)
    plain = _do_nothing(row.chain_id, row.sender, row.nonce, fees, _terms_of(row) if row.entry_point else None)
    return _replace(row, plain, PayloadPurpose.FILL, "TransactionCancelled", actor, now)


def fill_unused(
    *, chain_id: int, address: str, nonce: int, market: FeeQuote, now: datetime
) -> OutboundTransaction | None:
    """Use up a nonce that nobody holds and nothing was ever signed for; None when it was given out meanwhile."""
    terms = None
    if payload_delivery.sends_operations(address):
        terms = OperationTerms(ENTRY_POINT, settings.GOLEM_ZERODEV_PAYMASTER, TRANSFER_GAS)
    plain = _do_nothing(chain_id, address, nonce, Fees(cap=market.max_fee, priority=market.priority_fee), terms)
    signed = open_signer(address).sign(plain)
    filled = _store_fill(chain_id, address, nonce, plain, signed, now)
    if filled is not None:
        send_payload(filled)
    return filled


@retry_aborted
def _store_fill(
    chain_id: int, address: str, nonce: int, plain: UnsignedTransaction, signed: SignedTransaction, now: datetime
) -> OutboundTransaction | None:
    golem = Golem.objects.filter(Q(signing_keys__address=address) | Q(signing_keys__account=address)).first()
    with transaction.atomic():
        if golem is not None:
            # Before the reservation, as the end of a permit has them.
            audit_log.lock(golem.pk)
        taken = NonceReservation.objects.filter(
            chain_id=chain_id, address=address, nonce=nonce, state=NonceState.ABANDONED
        ).update(state=NonceState.FILLED)
        if not taken:
            return None
        filled = store_payload(
            make_payload(
                permit=None, call_index=0, plain=plain, signed=signed, sender=address, purpose=PayloadPurpose.FILL
            )
        )
        if golem is not None:
            _audit(golem, "NonceFilled", filled, "system:reconciler", now)
    return filled


def _replace(
    row: OutboundTransaction, plain: UnsignedTransaction, purpose: PayloadPurpose, event: str, actor: str, now: datetime
) -> OutboundTransaction | None:
    stored = _store_instead(row, plain, open_signer(row.sender).sign(plain), purpose, event, actor, now)
    if stored is not None:
        send_payload(stored)
    return stored


@retry_aborted
def _store_instead(
    row: OutboundTransaction,
    plain: UnsignedTransaction,
    signed: SignedTransaction,
    purpose: PayloadPurpose,
    event: str,
    actor: str,
    now: datetime,
) -> OutboundTransaction | None:
    with transaction.atomic():
        golem = None
        if row.permit is not None:
            golem = Golem.objects.select_for_update(no_key=True).get(pk=row.permit.golem_id)
            if golem.is_halted and purpose == PayloadPurpose.CALL:
                return None
        # What lost its nonce to a transaction that a reorganisation took out again leaves a gap as well.
        gone = [TransactionState.DROPPED] if purpose == PayloadPurpose.FILL else []
        replaced = OutboundTransaction.objects.filter(
            pk=row.pk, is_live=True, state__in=[str(state) for state in (*UNSETTLED, *gone)]
        ).update(is_live=False)
        if not replaced:
            return None
        stored = store_payload(
            make_payload(
                permit=row.permit,
                call_index=row.call_index,
                plain=plain,
                signed=signed,
                sender=row.sender,
                purpose=purpose,
                replaces=row,
            )
        )
        if golem is not None:
            _audit(golem, event, stored, actor, now, replaces=row.tx_hash)
    return stored


def _audit(golem: Golem, event: str, row: OutboundTransaction, actor: str, now: datetime, **more: str) -> None:
    facts = {
        "tx_hash": row.tx_hash,
        "nonce": row.nonce,
        "chain_id": row.chain_id,
        "permit_id": str(row.permit_id) if row.permit_id else None,
        "max_fee_per_gas": row.max_fee_per_gas,
        **more,
    }
    audit_log.append(golem_id=golem.pk, event=event, actor=actor, data=facts, now=now)


def _do_nothing(
    chain_id: int, address: str, nonce: int, fees: Fees, terms: OperationTerms | None
) -> UnsignedTransaction:
    """A zero transfer to itself, or with `terms` a user operation without a call."""
    around = settings.GOLEM_OPERATION_GAS_AROUND if terms is not None else 0
    return UnsignedTransaction(
        chain_id=chain_id,
        nonce=nonce,
        to=address,
        value=0,
        data=b"",
        gas_limit=TRANSFER_GAS + around,
        max_fee_per_gas=fees.cap,
        max_priority_fee_per_gas=fees.priority,
        operation=terms,
    )


def _terms_of(row: OutboundTransaction) -> OperationTerms:
    """Of an operation without a call that replaces `row`: paid by who pays for `row`."""
    replaced = decode_operation(bytes.fromhex(row.raw.removeprefix("0x")))
    return OperationTerms(row.entry_point, replaced.paymaster, TRANSFER_GAS)


def _fees_of(row: OutboundTransaction) -> Fees:
    return Fees(cap=int(row.max_fee_per_gas), priority=int(row.max_priority_fee_per_gas))


def _raised(fee: int, raise_bps: int) -> int:
    return -(-fee * (BPS + raise_bps) // BPS)
