"""A plan's calls are a sequence: where an earlier one will never run, nothing more of it runs.

Its later nonces are used up at once by zero transfers, so that whatever the account sends next waits for nothing. What
was sent already is replaced where it still can be; whichever of the two is mined, the receipts tell.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from permits_app.execution import replacement
from permits_app.models import OutboundTransaction
from permits_app.models.transaction import IN_A_BLOCK, UNSETTLED, PayloadPurpose, TransactionState
from tools_app.core.errors import GolemError

logger = logging.getLogger(__name__)

S = TransactionState
_CANCELLED = Q(permit__cancel_asked_at__isnull=False)
_MINED_CALLS = OutboundTransaction.objects.filter(
    purpose=PayloadPurpose.CALL, state__in=[str(state) for state in IN_A_BLOCK]
)
_REVERTED = Q(state=S.REVERTED) | Q(state=S.FINAL, receipt__succeeded=False)


def will_never_run(row: OutboundTransaction) -> bool:
    """Whether the call of this live row lost its nonce: to a stranger's transaction, or to a fill of ours. One that was
    replaced and then mined as it was first sent lost nothing.
    """
    return row.purpose == PayloadPurpose.FILL or (row.state == S.DROPPED and _find_mined(row) is None)


def may_follow(row: OutboundTransaction, earlier: Sequence[OutboundTransaction]) -> bool:
    """Whether `row` is still wanted after the `earlier` calls of its plan: none was lost, and none reverted before it
    was sent. What fills a nonce always is.
    """
    if row.purpose == PayloadPurpose.FILL:
        return True
    if any(will_never_run(each) for each in earlier):
        return False
    return bool(row.broadcast_count) or not any(_has_reverted(each) for each in earlier)


def list_unwanted(rows: QuerySet[OutboundTransaction]) -> QuerySet[OutboundTransaction]:
    """Of `rows`, the calls that are not wanted any more and whose nonces are still to be used up: their plan ended
    before them, or was given up.
    """
    earlier = OutboundTransaction.objects.filter(permit=OuterRef("permit"), call_index__lt=OuterRef("call_index"))
    # Which payload of a call is mined is not always the one that was sent last.
    mined = _MINED_CALLS.filter(permit=OuterRef("permit"), call_index=OuterRef("call_index"))
    lost = Q(purpose=PayloadPurpose.FILL) | (Q(state=S.DROPPED) & ~Exists(mined))
    is_lost = Exists(earlier.filter(lost, is_live=True))
    is_reverted = Exists(earlier.filter(_REVERTED, purpose=PayloadPurpose.CALL))
    return rows.filter(
        is_lost | Q(is_reverted, broadcast_count=0) | _CANCELLED,
        purpose=PayloadPurpose.CALL,
        is_live=True,
        permit__isnull=False,
        state__in=[str(state) for state in UNSETTLED],
    )


def use_up_rest(rows: QuerySet[OutboundTransaction], *, actor: str, now: datetime) -> int:
    """Fill the nonces of what `list_unwanted` finds among `rows`; how many. One whose key or node is away is left to
    the next round.
    """
    # The last nonce first: the others wait for the lowest one and must not slip in behind its fill.
    unwanted = list_unwanted(rows).select_related("permit").order_by("chain_id", "sender", "-nonce")
    done = 0
    for row in unwanted:
        try:
            market = replacement.read_fees(chain_id=row.chain_id, now=now)
            done += replacement.fill_instead(row=row, market=market, actor=actor, now=now) is not None
        except GolemError as error:
            logger.warning("the nonce of %s is used up later: %s", row.tx_hash, error.code)
    return done


def _find_mined(row: OutboundTransaction) -> OutboundTransaction | None:
    """The payload of the same call that a block holds."""
    return _MINED_CALLS.filter(permit=row.permit_id, call_index=row.call_index).first()


def _has_reverted(row: OutboundTransaction) -> bool:
    if row.state == S.DROPPED:
        mined = _find_mined(row)
        return mined is not None and _has_reverted(mined)
    return row.state == S.REVERTED or (row.state == S.FINAL and row.receipt.get("succeeded") is False)
