"""Calls that will never run: whose nonce another transaction took, and what of their plan goes with them.

Shown by a block, or by a chain that counts the nonce as used while no node shows by what. What balances say of them is
`infer_outcome_from_balances.py`'s.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from django.conf import settings
from django.db.models import Q

from permits_app.execution import call_sequences, payload_delivery
from permits_app.execution.payload_states import advance, record_receipt
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.transaction import UNSETTLED, PayloadPurpose, TransactionState
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.isolated_sweeps import one_by_one

_READ_BUDGET_MS: Final = 5_000
_PAUSE_SECONDS: Final = 0.01
_NEVER_LEFT: Final = Q(is_live=False, broadcast_count=0)
S = TransactionState


def end_what_is_lost(permit: ActionPermit, unseen: Sequence[int], *, now: datetime) -> bool:
    """Whether none of the `unseen` calls will ever be mined. Uses up the nonces of what an earlier lost call ended."""
    calls = permit.transactions.filter(purpose=PayloadPurpose.CALL, call_index__in=unseen)
    waiting = calls.exclude(_NEVER_LEFT).exclude(state=S.DROPPED)
    try:
        drop_lost([*waiting.select_related("permit")])
    except GolemError:
        # Whose nonces they are is asked again; what is known to be over ends all the same.
        pass
    if call_sequences.use_up_rest(permit.transactions.all(), actor="system:worker", now=now):
        _look_for_fills(permit)
    return not waiting.all().exists()


def drop_lost(rows: Sequence[OutboundTransaction]) -> int:
    """Of one account's payloads, drop those whose nonce another transaction took; how many. Raises the node errors."""
    if not rows:
        return 0
    first, deadline = rows[0], Deadline.after_ms(_READ_BUDGET_MS)
    used = payload_delivery.read_used_nonce(
        chain_id=first.chain_id, address=first.sender, is_of_operations=bool(first.entry_point), deadline=deadline
    )
    return sum(one_by_one(rows, partial(_drop_if_lost, used_nonce=used, deadline=deadline), what="looking for"))


def _drop_if_lost(row: OutboundTransaction, *, used_nonce: int, deadline: Deadline) -> bool:
    if payload_delivery.is_lost(row, used_nonce=used_nonce, deadline=deadline):
        return advance(row, S.DROPPED)
    if row.nonce < used_nonce and row.passed_at is None:
        # Nobody waits behind a nonce that is used, whoever used it.
        row.passed_at = clock.now()
        OutboundTransaction.objects.filter(pk=row.pk, passed_at__isnull=True).update(passed_at=row.passed_at)
    return False


def explain(permit: ActionPermit, unseen: Sequence[int]) -> list[str]:
    """Why each of the `unseen` calls will never run, in words."""
    rows = {row.call_index: row for row in permit.transactions.filter(is_live=True)}
    told = []
    for index in unseen:
        row = rows.get(index)
        if permit.cancel_asked_at is not None and row is not None and row.purpose == PayloadPurpose.FILL:
            told.append(f"call {index + 1} will never run: it was cancelled before a node took it")
        elif row is not None and _was_never_sent(permit, index):
            told.append(
                f"call {index + 1} was never sent: an earlier call of its plan did not run, and its nonce is used up"
            )
        else:
            told.append(f"call {index + 1} will never run: its nonce was used by another transaction")
    return told


def tell_refusal(permit: ActionPermit) -> str:
    """Why no node has taken what the permit sent, in words; empty where one has, or nobody knows why not."""
    rows = permit.transactions.filter(is_live=True, purpose=PayloadPurpose.CALL, state__in=[str(s) for s in UNSETTLED])
    refused = rows.filter(broadcast_at__isnull=True).exclude(refusal="").order_by("call_index").first()
    if refused is None:
        return ""
    words = _REFUSED.get(refused.refusal, refused.refusal.lower().replace("_", " "))
    return (
        f"refused by the node: {words}; no node has call {refused.call_index + 1}. It is sent again, at a higher fee"
        " where the permit pays for that, or its nonce is used up; cancel_action gives it up"
    )


_REFUSED: Final = {
    "FEE_TOO_LOW": "fee too low",
    "INSUFFICIENT_FUNDS": "the account cannot pay the fees",
    "NONCE_TOO_LOW": "its nonce is used already",
    "GAS_LIMIT_REFUSED": "its gas limit is too low or too high",
    "TX_MALFORMED": "it cannot be read",
}


def _was_never_sent(permit: ActionPermit, index: int) -> bool:
    calls = permit.transactions.filter(purpose=PayloadPurpose.CALL, call_index=index)
    return not calls.filter(broadcast_count__gt=0).exists()


def _look_for_fills(permit: ActionPermit) -> None:
    """For a moment: a local chain has mined them by then, and what they cost belongs to the outcome."""
    deadline = Deadline.after_ms(settings.GOLEM_FIRST_LOOK_SECONDS * 1000)
    while True:
        open_fills = list(
            permit.transactions.filter(
                purpose=PayloadPurpose.FILL, is_live=True, state__in=[str(state) for state in UNSETTLED]
            )
        )
        groups = [[row, *permit.transactions.filter(nonce=row.nonce).exclude(pk=row.pk)] for row in open_fills]
        try:
            mined = payload_delivery.look(groups, deadline=Deadline.after_ms(_READ_BUDGET_MS)) if groups else []
        except GolemError:
            return
        for found in mined:
            if found is not None:
                record_receipt(*found)
        if all(found is not None for found in mined) or deadline.is_over:
            return
        time.sleep(_PAUSE_SECONDS)
