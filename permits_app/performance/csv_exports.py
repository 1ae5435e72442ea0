"""A golem's permits, outcomes, promises and profit as rows. Dollars as exact decimals, times in RFC 3339."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, TypeVar

from django.db.models import Model, QuerySet

from archetypes_app.models import Golem
from permits_app.models import ActionPermit, NavSnapshot, OutcomeRecord, SignedPromise, SoldAnswer
from permits_app.models.sold_answer import SaleState
from permits_app.performance.nav_parts import PARTS
from permits_app.permits.kept_bounds import read_bounds
from permits_app.words.move_words import describe_move
from tools_app.core.page_through import page_through

Row = Mapping[str, object]
R = TypeVar("R", bound=Model)


@dataclass(frozen=True, slots=True)
class CsvExport:
    """One kind of file: its columns, and its rows, oldest first."""

    columns: tuple[str, ...]
    list_rows: Callable[[Golem, int | None], Iterator[Row]]


def list_years(golem: Golem, *, now: datetime) -> list[int]:
    """Years of its life in UTC, the newest first."""
    return list(range(now.astimezone(UTC).year, golem.created_at.astimezone(UTC).year - 1, -1))


def list_permits(golem: Golem, year: int | None = None) -> Iterator[Row]:
    """Every permit there ever was, or those of one year, whatever became of it."""
    rows = _within(ActionPermit.objects.filter(golem=golem), "created_at", year)
    for permit in page_through(rows, by=("created_at", "pk")):
        yield {
            "permit_id": permit.pk,
            "opened_at": permit.created_at.isoformat(),
            "finished_at": _time(permit.finished_at),
            "status": permit.status,
            "reason": permit.status_reason,
            "action": permit.action_type,
            "what": describe_move(permit.action_type, permit.bounds),
            "venue": permit.venue,
            "chain_id": permit.chain_id,
            "risk_tier": permit.risk_tier,
            "worst_case_usd": to_usd(permit.value_micro_usd),
        }


def list_outcomes(golem: Golem, year: int | None = None) -> Iterator[Row]:
    """What was judged of each permit that ran; what a rollback of the chain took back stands there with its time."""
    rows = _within(OutcomeRecord.objects.filter(permit__golem=golem).select_related("permit"), "created_at", year)
    for outcome in page_through(rows, by=("created_at", "pk")):
        yield {
            "permit_id": outcome.permit_id,
            "judged_at": outcome.created_at.isoformat(),
            "action": outcome.permit.action_type,
            "venue": outcome.permit.venue,
            "is_verified": str(outcome.is_verified).lower(),
            "divergence_bps": outcome.divergence_bps,
            "gas_used": outcome.gas_used,
            "fee_wei": int(outcome.fee_wei),
            "pnl_usd": to_usd(outcome.pnl_micro_usd),
            "taken_back_at": _time(outcome.taken_back_at),
        }


def list_promises(golem: Golem, year: int | None = None) -> Iterator[Row]:
    """What it signed for others to carry out, and what became of it: the receipt of each payment and order."""
    rows = _within(SignedPromise.objects.filter(golem=golem).select_related("permit"), "created_at", year)
    for row in page_through(rows, by=("created_at", "pk")):
        yield {
            "permit_id": row.permit_id,
            "signed_at": row.created_at.isoformat(),
            "holds_until": row.ends_at.isoformat(),
            "state": row.state,
            "ended_at": _time(row.ended_at),
            "what": describe_move(row.permit.action_type, row.permit.bounds),
            "venue": row.permit.venue,
            "chain_id": row.chain_id,
            "account": row.account,
            "paid_to": " ".join(read_bounds(row.permit.bounds).recipients),
            "gives": _amounts(row.gives),
            "gets": _amounts(row.gets),
            "reference": row.reference,
            "digest": row.digest,
        }


def list_sales(golem: Golem, year: int | None = None) -> Iterator[Row]:
    """What strangers paid for answers: the receipt of each."""
    sold = SoldAnswer.objects.filter(golem=golem, state=SaleState.SOLD).defer("answer")
    for row in page_through(_within(sold, "sold_at", year), by=("sold_at", "pk")):
        yield {
            "sale_id": row.pk,
            "sold_at": _time(row.sold_at),
            "query": row.query,
            "venue": row.venue,
            "chain_id": row.chain_id,
            "paid": f"{int(row.raw)} {row.token}",
            "payer": row.payer,
            "payee": row.payee,
            "nonce": row.nonce,
            "transaction": row.transaction,
        }


def list_profit(golem: Golem, year: int | None = None) -> Iterator[Row]:
    """Each kept measure of its value, and what made the difference to the one before."""
    rows = _within(NavSnapshot.objects.filter(golem=golem).defer("state", "holdings"), "at", year)
    for row in page_through(rows, by=("at", "pk")):
        parts: dict[str, object] = {f"{name}_usd": to_usd(int(row.parts.get(name, 0))) for name in PARTS}
        yield {
            "at": row.at.isoformat(),
            "chain_id": row.chain_id,
            "block_number": row.block_number,
            "value_usd": to_usd(row.value_micro_usd),
            "debt_usd": to_usd(row.debt_micro_usd),
            **parts,
        }


def _within(rows: QuerySet[R], column: str, year: int | None) -> QuerySet[R]:
    """Those of one year in UTC; all without one."""
    if year is None:
        return rows
    begins, ends = (datetime(each, 1, 1, tzinfo=UTC) for each in (year, year + 1))
    return rows.filter(**{f"{column}__gte": begins, f"{column}__lt": ends})


def to_usd(micro_usd: int | None) -> Decimal | None:
    """Dollars with six decimals, exactly."""
    return None if micro_usd is None else Decimal(micro_usd).scaleb(-6)


def _amounts(amounts: Iterable[Mapping[str, str]]) -> str:
    """Base units and token addresses, `1000000 0x…`."""
    return "; ".join(f"{each['raw']} {each['token']}" for each in amounts)


def _time(at: datetime | None) -> str:
    return at.isoformat() if at is not None else ""


EXPORTS: Final[Mapping[str, CsvExport]] = {
    "permits": CsvExport(
        (
            "permit_id",
            "opened_at",
            "finished_at",
            "status",
            "reason",
            "action",
            "what",
            "venue",
            "chain_id",
            "risk_tier",
            "worst_case_usd",
        ),
        list_permits,
    ),
    "outcomes": CsvExport(
        (
            "permit_id",
            "judged_at",
            "action",
            "venue",
            "is_verified",
            "divergence_bps",
            "gas_used",
            "fee_wei",
            "pnl_usd",
            "taken_back_at",
        ),
        list_outcomes,
    ),
    "promises": CsvExport(
        (
            "permit_id",
            "signed_at",
            "holds_until",
            "state",
            "ended_at",
            "what",
            "venue",
            "chain_id",
            "account",
            "paid_to",
            "gives",
            "gets",
            "reference",
            "digest",
        ),
        list_promises,
    ),
    "sales": CsvExport(
        (
            "sale_id",
            "sold_at",
            "query",
            "venue",
            "chain_id",
            "paid",
            "payer",
            "payee",
            "nonce",
            "transaction",
        ),
        list_sales,
    ),
    "profit": CsvExport(
        ("at", "chain_id", "block_number", "value_usd", "debt_usd", *(f"{name}_usd" for name in PARTS)),
        list_profit,
    ),
}
