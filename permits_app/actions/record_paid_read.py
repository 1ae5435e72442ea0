"""An answer is sold for a payment that was handed in: taken once, recorded when the chain paid, or dropped again.

A row is taken before the answer is worked out, so that of two with the same payment one works; it is sold in one
transaction with its audit entry. What goes on between the two touches the network and holds no lock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction

from permits_app.models import SoldAnswer
from permits_app.models.sold_answer import SaleState
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted

ACTOR = "system:sales"
AUDIT_EVENT = "AnswerSold"
LEASE = timedelta(seconds=120)
"""Longer than an answer and its payment are waited for."""
KEPT = timedelta(days=1)
"""Who paid may ask for the same answer again for so long."""
_PAGE = 500


@dataclass(frozen=True, slots=True)
class AnswerSale:
    """What is sold, and the payment that was handed in for it."""

    golem_id: UUID
    query: str
    venue: str
    asked_digest: str
    asker_digest: str
    chain_id: int
    token: str
    method: str
    payer: str
    payee: str
    raw: int
    units: str
    nonce: str
    since_block: int
    ends_at: datetime


def find_sale(*, chain_id: int, token: str, method: str, payer: str, nonce: str) -> SoldAnswer | None:
    """What this payment was taken for, whoever's golem it was."""
    rows = SoldAnswer.objects.filter(chain_id=chain_id, token=token, method=method, payer=payer, nonce=nonce)
    return rows.first()


def take_payment(sale: AnswerSale, *, now: datetime) -> SoldAnswer | None:
    """The row of a payment that is worked on from now; None where another process was quicker."""
    columns = {name: getattr(sale, name) for name in sale.__slots__}
    key = {name: columns.pop(name) for name in ("chain_id", "token", "method", "payer", "nonce")}
    row, is_new = SoldAnswer.objects.get_or_create(**key, defaults={**columns, "lease_until": now + LEASE})
    return row if is_new else None


def take_over(row: SoldAnswer, *, now: datetime) -> bool:
    """Work on from where a process stopped; False where another works on it."""
    rows = SoldAnswer.objects.filter(pk=row.pk, state=SaleState.TAKEN, lease_until__lte=now)
    return bool(rows.update(lease_until=now + LEASE, updated_at=now))


def keep_answer(row: SoldAnswer, *, answer: dict[str, object], now: datetime) -> None:
    """Before it is paid for, so that whoever pays has it whatever becomes of this process."""
    SoldAnswer.objects.filter(pk=row.pk).update(answer=answer, updated_at=now)


def record_sale(row: SoldAnswer, *, transaction_hash: str, now: datetime) -> SoldAnswer | None:
    """It was paid by a transaction: told once in the audit log. None where that one pays for another sale."""
    try:
        return _record(row, transaction_hash, now)
    except IntegrityError:
        return None


@retry_aborted
def _record(row: SoldAnswer, transaction_hash: str, now: datetime) -> SoldAnswer:
    with transaction.atomic():
        rows = SoldAnswer.objects.filter(pk=row.pk, state=SaleState.TAKEN)
        if rows.update(
            state=SaleState.SOLD, transaction=transaction_hash, sold_at=now, lease_until=None, updated_at=now
        ):
            facts = {
                "sale_id": str(row.pk),
                "query": row.query,
                "venue": row.venue,
                "paid": row.units,
                "raw": str(int(row.raw)),
                "token": row.token,
                "chain_id": str(row.chain_id),
                "payer": row.payer,
                "payee": row.payee,
                "transaction": transaction_hash,
            }
            audit_log.append(golem_id=row.golem_id, event=AUDIT_EVENT, actor=ACTOR, data=facts, now=now)
        return SoldAnswer.objects.get(pk=row.pk)


def drop_payment(row: SoldAnswer) -> None:
    """Nobody was paid, and the payment can be used again."""
    SoldAnswer.objects.filter(pk=row.pk, state=SaleState.TAKEN).delete()


def put_off(row: SoldAnswer, *, until: datetime, now: datetime) -> None:
    """It was sent and is not seen yet: nobody works on it until then."""
    SoldAnswer.objects.filter(pk=row.pk, state=SaleState.TAKEN).update(lease_until=until, updated_at=now)


def list_left(*, now: datetime) -> list[SoldAnswer]:
    """Payments that no process works on any more, and of which nobody knows yet whether they were made."""
    rows = SoldAnswer.objects.filter(state=SaleState.TAKEN, lease_until__lte=now)
    return list(rows.order_by("lease_until")[:_PAGE])


def forget_answers(*, now: datetime) -> int:
    """Empty the answers that nobody asks for again; the receipts stay."""
    rows = SoldAnswer.objects.filter(state=SaleState.SOLD, sold_at__lte=now - KEPT).exclude(answer={})
    found = list(rows.order_by("sold_at").values_list("pk", flat=True)[:_PAGE])
    return SoldAnswer.objects.filter(pk__in=found).update(answer={}, updated_at=now)
