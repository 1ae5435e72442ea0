"""Finds receipts and balances of a block that cannot both be true.

One answer of a node ends no permit then. It stays UNKNOWN and is looked at again, receipts and balances both, until
they agree or the patience is over; what the last look shows is then the outcome, with what did not match as findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings

from permits_app.execution.balance_evidence import EvidenceReading, list_expected, sum_transfers
from permits_app.execution.outcome import find_coin_change
from permits_app.models import ActionPermit
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import NATIVE, ReceiptView


def find_doubt(*, permit: ActionPermit, plan: TxPlan, receipts: Sequence[ReceiptView], found: EvidenceReading) -> str:
    """Why this is not an outcome yet, or nothing."""
    if not receipts or (found.evidence is None and not found.is_away):
        return ""
    if found.is_gone:
        return "its receipt lies in a block that the chain does not hold any more"
    if found.evidence is None:
        return "the balances of its blocks could not be read"
    # What never ran is told by nobody; it moves as little as what reverted.
    has_failed = len(receipts) < len(permit.calls) or not all(receipt.succeeded for receipt in receipts)
    told = sum_transfers(receipts=receipts, account=permit.account).moved
    heard = {log.address for receipt in receipts for log in receipt.logs}
    moved = {
        token.address: change
        for token in plan.tokens
        if (change := _change_of(permit, receipts, found, token.address)) is not None
    }
    for token in plan.tokens:
        change = moved.get(token.address, 0)
        if not change or (token.is_native and not has_failed):
            continue
        if has_failed and change != told.get(token.address, 0):
            return f"not all of its calls were carried out, and the balance of {token.symbol} changed by {change}"
        if not has_failed and token.address not in heard:
            return f"the balance of {token.symbol} changed by {change}, and no receipt has an event of it"
    foreseen = [token for token, delta in list_expected(permit).items() if delta and token in moved]
    if not has_failed and foreseen and not any(moved.values()) and not any(told.get(token) for token in foreseen):
        return "the receipts say that it succeeded, and nothing moved that should have"
    return ""


def is_over(permit: ActionPermit, now: datetime) -> bool:
    """Whether it has been looked at again for long enough."""
    patience = timedelta(seconds=settings.GOLEM_DOUBT_SECONDS)
    return permit.doubted_at is not None and now >= permit.doubted_at + patience


def _change_of(permit: ActionPermit, receipts: Sequence[ReceiptView], found: EvidenceReading, token: str) -> int | None:
    if token == NATIVE:
        return find_coin_change(permit, receipts, found.evidence)
    return found.evidence.change_of(permit.account, token) if found.evidence is not None else None
