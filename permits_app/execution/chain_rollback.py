"""A chain that does not hold any more what it held: found by the hashes of blocks, and healed with the same bytes.

A payload whose block is another one or gone is REORGED, also when it was final. Its permit is UNKNOWN again and holds
its whole reservation; what had been recorded stays in the audit log, and what is judged anew is recorded beside it. The
bytes are sent again at once, in the order of their nonces, whatever their permits wait for.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet

from permits_app.execution import chain_health_check, confirm_transaction, payload_delivery
from permits_app.execution.payload_states import advance, list_siblings, read_block_of, record_receipt
from permits_app.execution.payloads import send_payload
from permits_app.limits import ledger
from permits_app.models import OutboundTransaction, OutcomeRecord, StandingAllowance
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import IN_A_BLOCK, PayloadPurpose, TransactionState
from permits_app.permits import lifecycle
from permits_app.permits.row_locks import lock_action
from tools_app.chain.networks import get_network
from tools_app.chain.node_errors import NODE_AWAY
from tools_app.core import audit_log
from tools_app.core.clock import Deadline
from tools_app.core.events import EventType
from tools_app.core.fair_batches import in_turns
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.required_value import require
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.views import ReceiptView

logger = logging.getLogger(__name__)

_NODE_BUDGET_MS: Final = 5_000
_BATCH: Final = 200
_STEP: Final = 50
_HORIZON: Final = timedelta(days=1)
"""A chain that lost what is older did not roll back, it was replaced: nothing is sent to it again."""
_ACTOR: Final = "system:reconciler"
S = TransactionState
_ENDED = [str(PermitStatus.COMMITTED), str(PermitStatus.REVERTED)]
_OUT = [str(S.BROADCAST), str(S.UNKNOWN), str(S.REORGED)]
REOPENED: Final = "a reorganisation of the chain took the transaction back; it is looked up again"
LATE: Final = "a transaction that was given up is in a block after all; its outcome is judged again"


def confirm_mined(chain_id: int, now: datetime) -> Counter[str]:
    """Look the blocks of every mined payload up again until they are deep enough, and the newest final one's always."""
    done: Counter[str] = Counter()
    seen = _rows(chain_id).filter(state__in=[str(S.MINED), str(S.REVERTED)]).order_by("updated_at")
    final = _finals(chain_id)
    rows = [*seen.select_related("permit")[:_BATCH], *final[:1]]
    if not rows:
        return done
    hashes, head = confirm_transaction.find_block_hashes(
        chain_id, {_block_of(row) for row in rows}, deadline=_deadline()
    )
    is_past_final = False
    for row in rows:
        if _is_lost(row, hashes):
            is_past_final |= row.state == S.FINAL
            if row.state != S.FINAL:
                done["reorged"] += _note_lost(row, now)
        elif row.state != S.FINAL and _block_of(row) in hashes:
            if head - _block_of(row) + 1 >= get_network(chain_id).confirmations:
                done["final"] += advance(row, S.FINAL)
    if is_past_final:
        done["reorged"] += _take_finals_back(chain_id, now)
    return done


def reopen(chain_id: int, now: datetime) -> Counter[str]:
    """Permits whose payload left the chain are UNKNOWN again, to be judged anew once the same bytes are mined."""
    rows = _rows(chain_id).filter(state__in=_OUT, is_live=True, purpose=PayloadPurpose.CALL, permit__status__in=_ENDED)
    # The lowest nonce first: of two equal actions the other waits for it, on the chain and here.
    out = in_turns(rows.select_related("permit"), "nonce", of="sender")[:_BATCH]
    # Where an equal action is under way the permit is reopened once that one has ended.
    reopened = one_by_one(out, lambda row: _reopen_permit(row, REOPENED, now), what="reopening the permit of")
    return Counter(reopened=sum(reopened))


def send_again(chain_id: int) -> Counter[str]:
    """The same bytes of what left the chain, lowest nonce first; also where the permit cannot be reopened yet, for what
    it waits for may itself wait for this nonce.
    """
    rows = _rows(chain_id).filter(state=S.REORGED, is_live=True, purpose=PayloadPurpose.CALL)
    lost = in_turns(rows, "nonce", of="sender")[:_BATCH]
    return Counter(sent_again=sum(one_by_one(lost, send_payload, what="sending again", raises=NODE_AWAY)))


def find_given_up(chain_id: int, now: datetime) -> Counter[str]:
    """What was given up as lost and is in a block after all: recorded, and its permit judged again.

    Each account's newest first: one that gives up much keeps no other's from being looked for.
    """
    rows = _rows(chain_id).filter(
        state=S.DROPPED, purpose=PayloadPurpose.CALL, permit__status__in=_ENDED, updated_at__gte=now - _HORIZON
    )
    dropped = in_turns(rows.select_related("permit").annotate(age=-F("nonce")), "age", of="sender")[:_BATCH]
    found = one_by_one(dropped, lambda row: _look_for_late(row, now), what="looking again for", raises=NODE_AWAY)
    return Counter(found_late=sum(found))


def _look_for_late(row: OutboundTransaction, now: datetime) -> bool:
    if any(each.state in IN_A_BLOCK for each in list_siblings(row)):
        return False
    found = payload_delivery.find_any_receipt([row], deadline=_deadline())
    return found is not None and _reopen_late(row, *found, now)


@retry_aborted
def _reopen_late(row: OutboundTransaction, mined: OutboundTransaction, receipt: ReceiptView, now: datetime) -> bool:
    with transaction.atomic():
        reopened = _reopen_permit(row, LATE, now)
        if reopened:
            record_receipt(mined, receipt)
    return reopened


def _take_finals_back(chain_id: int, now: datetime) -> int:
    """Walk down what was final until a block still holds; all above it left the chain."""
    lost: list[OutboundTransaction] = []
    below: int | None = None
    while True:
        rows = _finals(chain_id)
        step = list(rows.filter(block_number__lt=below)[:_STEP] if below is not None else rows[:_STEP])
        if not step:
            break
        below = _block_of(step[-1])
        # A block's payloads are taken together: a step never ends inside one.
        step += [row for row in rows.filter(block_number=below) if row not in step]
        hashes, _ = confirm_transaction.find_block_hashes(
            chain_id, {_block_of(row) for row in step}, deadline=_deadline()
        )
        gone = [row for row in step if _is_lost(row, hashes)]
        lost += gone
        if len(gone) < len(step):
            break
    if any(row.created_at < now - _HORIZON for row in lost):
        logger.error(
            "chain %s holds nothing of what was final for a day: it was replaced, nothing is sent again", chain_id
        )
        return 0
    taken = [row for row in lost if _note_lost(row, now)]
    _tell(chain_id, taken, now)
    return len(taken)


def _tell(chain_id: int, taken: Sequence[OutboundTransaction], now: datetime) -> None:
    by_golem: dict[UUID, list[OutboundTransaction]] = {}
    for row in taken:
        if row.permit is not None:
            by_golem.setdefault(row.permit.golem_id, []).append(row)
    for golem_id, rows in by_golem.items():
        facts = {
            "chain_id": chain_id,
            "from_block": min(_block_of(row) for row in rows),
            "transactions": len(rows),
            "permit_ids": sorted({str(row.permit_id) for row in rows}),
        }
        chain_health_check.tell(golem_id, EventType.CHAIN_ROLLED_BACK, "ChainRolledBack", facts, now)


def _note_lost(row: OutboundTransaction, now: datetime) -> bool:
    return _take_back(row, read_block_of(row).block_hash, row.state == S.FINAL, now)


@retry_aborted
def _take_back(row: OutboundTransaction, lost_block: str, was_final: bool, now: datetime) -> bool:
    with transaction.atomic():
        if not advance(row, S.REORGED):
            return False
        if row.permit is not None:
            audit_log.append(
                golem_id=row.permit.golem_id,
                event="TransactionReorged",
                actor=_ACTOR,
                now=now,
                data={
                    "tx_hash": row.tx_hash,
                    "nonce": row.nonce,
                    "permit_id": str(row.permit_id),
                    "lost_block_hash": lost_block,
                    "was_final": was_final,
                },
            )
            # What was seen left in a block that is gone stands until an outcome tells otherwise, of whatever block.
            StandingAllowance.objects.filter(
                golem_id=row.permit.golem_id, chain_id=row.chain_id, block_number__gte=_block_of(row)
            ).update(block_number=0)
    return True


@retry_aborted
def _reopen_permit(row: OutboundTransaction, reason: str, now: datetime) -> bool:
    """Raises SameActionPending. The audit entry keeps what the ledger and the outcome said until now."""
    permit = require(row.permit)
    with transaction.atomic():
        # With the golem's row no preview sums up its limits in between.
        lock_action(golem_id=permit.golem_id, permit_id=permit.pk)
        outcome = OutcomeRecord.live.filter(permit_id=permit.pk).first()
        entry = permit.spend_entry
        before: dict[str, object] = {"status": permit.status}
        if outcome is not None:
            before |= {"is_verified": outcome.is_verified, "fee_wei": outcome.fee_wei, "actual": outcome.actual}
        if entry is not None and entry.settled_micro_usd is not None:
            before |= {"settled_micro_usd": str(entry.settled_micro_usd), "counted_at": entry.counted_at.isoformat()}
        reopened = lifecycle.transition(
            permit_id=permit.pk,
            leaving=PermitStatus(permit.status),
            to=PermitStatus.UNKNOWN,
            actor=_ACTOR,
            now=now,
            reason=reason,
            data={"tx_hash": row.tx_hash},
        )
        if reopened:
            facts = {"permit_id": str(permit.pk), "tx_hash": row.tx_hash, **before}
            audit_log.append(golem_id=permit.golem_id, event="OutcomeTakenBack", actor=_ACTOR, data=facts, now=now)
            # Outcome, ledger and memory are corrected by rows of their own, once the outcome is known again.
            OutcomeRecord.live.filter(permit_id=permit.pk).update(taken_back_at=now, updated_at=now)
            ledger.reopen(permit_id=permit.pk, now=now)
    return reopened


def _is_lost(row: OutboundTransaction, hashes: dict[int, str | None]) -> bool:
    number = _block_of(row)
    return number in hashes and hashes[number] != read_block_of(row).block_hash


def _block_of(row: OutboundTransaction) -> int:
    return read_block_of(row).block_number


def _finals(chain_id: int) -> QuerySet[OutboundTransaction]:
    return _rows(chain_id).filter(state=S.FINAL).select_related("permit").order_by("-block_number", "-pk")


def _rows(chain_id: int) -> QuerySet[OutboundTransaction]:
    return OutboundTransaction.objects.filter(chain_id=chain_id)


def _deadline() -> Deadline:
    return Deadline.after_ms(_NODE_BUDGET_MS)
