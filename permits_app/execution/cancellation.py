"""Under a halt: what was signed is cancelled, and who won each nonce is told."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from permits_app.execution import payload_delivery, replacement
from permits_app.execution.payload_states import list_siblings, record_receipt
from permits_app.models import OutboundTransaction
from permits_app.models.transaction import UNSETTLED, PayloadPurpose
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError


def list_in_flight(*, golem_id: UUID) -> list[OutboundTransaction]:
    """Live calls of the golem that are signed or sent and not seen in a block, by account and nonce.

    The halt's own revocations are not among them.
    """
    rows = OutboundTransaction.objects.filter(
        permit__golem_id=golem_id,
        permit__halt_epoch__isnull=True,
        purpose=PayloadPurpose.CALL,
        is_live=True,
        state__in=[str(state) for state in UNSETTLED],
    )
    return list(rows.select_related("permit").order_by("chain_id", "sender", "nonce"))


def cancel_in_flight(*, golem_id: UUID, actor: str, now: datetime, wait_ms: float) -> list[dict[str, object]]:
    """Replace every payload in flight by one that does nothing; says what won each nonce, as far as `wait_ms` shows."""
    rows = list_in_flight(golem_id=golem_id)
    # The last nonce first: the others wait for the lowest one and must not slip in behind its cancellation.
    answers = [_cancel(row, actor, now) for row in reversed(rows)][::-1]
    deadline = Deadline.after_ms(wait_ms)
    return [
        {**answer, "outcome": answer.get("outcome") or _find_winner(row, deadline)}
        for row, answer in zip(rows, answers, strict=True)
    ]


def _cancel(row: OutboundTransaction, actor: str, now: datetime) -> dict[str, object]:
    facts: dict[str, object] = {
        "permit_id": str(row.permit_id),
        "tx_hash": row.tx_hash,
        "nonce": row.nonce,
        "state_before": row.state,
    }
    try:
        market = replacement.read_fees(chain_id=row.chain_id, now=now)
        fill = replacement.fill_instead(row=row, market=market, actor=actor, now=now)
    except GolemError as error:
        return {**facts, "cancelled_by": None, "outcome": f"not cancelled: {error.code}; it may still be mined"}
    return {**facts, "cancelled_by": fill.tx_hash if fill else None}


def _find_winner(row: OutboundTransaction, deadline: Deadline) -> str:
    row.refresh_from_db()
    payloads = sorted((row, *list_siblings(row)), key=lambda each: -each.pk)
    found = payload_delivery.await_receipt(payloads, deadline=deadline, renew_lease=lambda: None)
    if found is None:
        return "open: neither the transaction nor its cancellation is mined yet"
    winner, receipt = found
    record_receipt(winner, receipt)
    if winner.purpose == PayloadPurpose.FILL:
        return f"cancelled: the {'empty operation' if winner.entry_point else 'zero transfer'} used its nonce"
    return "mined before its cancellation" if receipt.succeeded else "mined before its cancellation, reverted"
