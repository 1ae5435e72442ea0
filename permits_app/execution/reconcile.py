"""The reconciler: stored payloads against the chain, and gaps in an account's nonces. Nothing here signs a new action.

What is deep enough becomes FINAL; what a reorganisation took back is recorded and its permit goes back to UNKNOWN, to
be sent again with the same bytes; nonces nobody will use are filled; what blocks its account for long is replaced.
Seed: decisions, "Permits" (UNKNOWN, nonce, replacement).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from permits_app import ledger, lifecycle
from permits_app.errors import SameActionPending
from permits_app.execution import broadcast, delivery, replacement
from permits_app.execution.nonces import list_holes
from permits_app.execution.payloads import send_payload
from permits_app.execution.transaction_lives import advance, list_siblings, record_receipt
from permits_app.models import NonceReservation, OutboundTransaction
from permits_app.models.nonce import NonceState
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.transaction import UNSETTLED, PayloadPurpose, TransactionState
from tools_app.chain.networks import configured_networks, get_network
from tools_app.core import audit_log
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.toolkit.views import FeeQuote

logger = logging.getLogger(__name__)

_NODE_BUDGET_MS = 5_000
_BATCH = 200
S = TransactionState
_SEEN = (S.MINED, S.REVERTED)
_UNFINISHED = [str(state) for state in UNFINISHED]
_UNSETTLED = [str(state) for state in UNSETTLED]


def reconcile_transactions(*, now: datetime) -> dict[str, int]:
    """One round over every configured chain; counts of what was done. A node that is away is asked again next time."""
    done: Counter[str] = Counter()
    for network in configured_networks():
        steps: tuple[Callable[[], Counter[str]], ...] = (
            partial(_confirm_mined, network.chain_id, now),
            partial(_reopen_reorged, network.chain_id, now),
            partial(_follow_fills, network.chain_id),
            partial(_fill_unsent, network.chain_id, now),
            partial(_fill_holes, network.chain_id, now),
            partial(_replace_stuck, network.chain_id, now),
        )
        for step in steps:
            try:
                done += step()
            except GolemError as error:
                logger.warning("chain %s not reconciled now: %s", network.chain_id, error.code)
    return dict(done)


def _confirm_mined(chain_id: int, now: datetime) -> Counter[str]:
    """Look every mined payload up again until it is deep enough."""
    done: Counter[str] = Counter()
    rows = list(_rows(chain_id).filter(state__in=[str(state) for state in _SEEN]).order_by("updated_at")[:_BATCH])
    if not rows:
        return done
    head = broadcast.head_number(chain_id=chain_id, deadline=_deadline())
    for row in rows:
        receipt = delivery.find_receipt(row, deadline=_deadline())
        if receipt is None or receipt.block_hash != row.receipt["block_hash"]:
            done["reorged"] += _note_reorg(row, now)
        elif head - receipt.block_number + 1 >= get_network(chain_id).confirmations:
            done["final"] += advance(row, S.FINAL)
    return done


def _note_reorg(row: OutboundTransaction, now: datetime) -> bool:
    lost_block = row.receipt["block_hash"]
    with transaction.atomic():
        if not advance(row, S.REORGED):
            return False
        if row.permit is not None:
            audit_log.append(
                golem_id=row.permit.golem_id, event="TransactionReorged", actor="system:reconciler", now=now,
                data={"tx_hash": row.tx_hash, "nonce": row.nonce, "permit_id": str(row.permit_id),
                      "lost_block_hash": lost_block},
            )  # fmt: skip
    return True


def _reopen_reorged(chain_id: int, now: datetime) -> Counter[str]:
    """Permits whose payload left the chain are UNKNOWN again; the sweep has the same bytes sent and judged anew."""
    done: Counter[str] = Counter()
    ended = [str(PermitStatus.COMMITTED), str(PermitStatus.REVERTED)]
    rows = _rows(chain_id).filter(state=S.REORGED, purpose=PayloadPurpose.CALL, permit__status__in=ended)
    for row in rows.select_related("permit")[:_BATCH]:
        try:
            with transaction.atomic():
                reopened = lifecycle.transition(
                    permit_id=row.permit.pk, leaving=PermitStatus(row.permit.status), to=PermitStatus.UNKNOWN,
                    actor="system:reconciler", now=now, data={"tx_hash": row.tx_hash},
                    reason="a reorganisation of the chain took the transaction back; it is looked up again",
                )  # fmt: skip
                if reopened:
                    ledger.reopen(permit_id=row.permit.pk)
        except SameActionPending:
            # An equal action is under way; this permit is reopened once that one has ended.
            continue
        done["reopened"] += reopened
    return done


def _follow_fills(chain_id: int) -> Counter[str]:
    """Send fills again until the nonce is used, by them or by what they replaced."""
    done: Counter[str] = Counter()
    for row in _rows(chain_id).filter(purpose=PayloadPurpose.FILL, is_live=True, state__in=_UNSETTLED)[:_BATCH]:
        found = delivery.find_any_receipt([row, *list_siblings(row)], deadline=_deadline())
        if found is None:
            send_payload(row)
            continue
        mined, receipt = found
        record_receipt(mined, receipt)
        done["fills_mined"] += mined.pk == row.pk
    return done


def _fill_unsent(chain_id: int, now: datetime) -> Counter[str]:
    """Bytes that will never be sent, because their permit ended first: their nonce is filled."""
    done: Counter[str] = Counter()
    rows = _rows(chain_id).filter(
        purpose=PayloadPurpose.CALL, is_live=True, state=S.SIGNED, broadcast_count=0
    ).exclude(permit__status__in=_UNFINISHED)  # fmt: skip
    for row in rows.select_related("permit").order_by("sender", "nonce")[:_BATCH]:
        market = replacement.read_fees(chain_id=chain_id, now=now)
        filled = replacement.fill_instead(row=row, market=market, actor="system:reconciler", now=now)
        done["filled"] += filled is not None
    return done


def _fill_holes(chain_id: int, now: datetime) -> Counter[str]:
    """Abandoned nonces below one in use, which would hold the account up."""
    done: Counter[str] = Counter()
    accounts = NonceReservation.objects.filter(chain_id=chain_id, state=NonceState.ABANDONED).values_list("address")
    for (address,) in accounts.distinct():
        mined = delivery.read_used_nonce(
            chain_id=chain_id, address=address, is_of_operations=delivery.sends_operations(address),
            deadline=_deadline(),
        )  # fmt: skip
        for nonce in list_holes(chain_id=chain_id, address=address, mined_nonce=mined):
            market = replacement.read_fees(chain_id=chain_id, now=now)
            filled = replacement.fill_unused(chain_id=chain_id, address=address, nonce=nonce, market=market, now=now)
            done["filled"] += filled is not None
    return done


def _replace_stuck(chain_id: int, now: datetime) -> Counter[str]:
    """What was sent long ago and is the next nonce of its account is sped up; past its gas budget it is cancelled."""
    done: Counter[str] = Counter()
    since = now - timedelta(seconds=settings.GOLEM_STUCK_AFTER_SECONDS)
    is_out = Q(state__in=[str(S.BROADCAST), str(S.UNKNOWN)], broadcast_at__lte=since)
    # A bundler that refuses an operation keeps nothing of it: the same bytes will not get in later either.
    is_refused = ~Q(entry_point="") & Q(state__in=_UNSETTLED, broadcast_count__gt=0, created_at__lte=since)
    rows = _rows(chain_id).filter(is_out | is_refused, purpose=PayloadPurpose.CALL, is_live=True)
    for row in rows.select_related("permit__golem").order_by("sender", "nonce")[:_BATCH]:
        used = delivery.read_used_nonce(
            chain_id=chain_id, address=row.sender, is_of_operations=bool(row.entry_point), deadline=_deadline()
        )
        if used != row.nonce:
            continue
        market = replacement.read_fees(chain_id=chain_id, now=now)
        if _speed_up(row, market, now):
            done["sped_up"] += 1
        elif replacement.fill_instead(row=row, market=market, actor="system:reconciler", now=now) is not None:
            done["cancelled"] += 1
            done["cancelled"] += _cancel_after(row, now)
    return done


def _speed_up(row: OutboundTransaction, market: FeeQuote, now: datetime) -> bool:
    try:
        return replacement.speed_up(row=row, market=market, now=now) is not None
    except GolemError as error:
        if not row.entry_point:
            raise
        # What the EntryPoint or the bundler would not take at any fee is not waited for; its nonce is used up instead.
        logger.warning("operation %s is not signed again: %s", row.tx_hash, error.code)
        return False


def _cancel_after(row: OutboundTransaction, now: datetime) -> int:
    """A sequence whose earlier call was cancelled does not go on."""
    later = row.permit.transactions.filter(
        purpose=PayloadPurpose.CALL, is_live=True, state__in=_UNSETTLED, call_index__gt=row.call_index
    )
    market = replacement.read_fees(chain_id=row.chain_id, now=now)
    filled = [
        replacement.fill_instead(row=each, market=market, actor="system:reconciler", now=now)
        for each in later.select_related("permit").order_by("nonce")
    ]
    return sum(each is not None for each in filled)


def _rows(chain_id: int) -> QuerySet[OutboundTransaction]:
    return OutboundTransaction.objects.filter(chain_id=chain_id)


def _deadline() -> Deadline:
    return Deadline.after_ms(_NODE_BUDGET_MS)
