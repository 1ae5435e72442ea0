"""Sums up a golem's month or year from rows: its worth and the parts of the change, its actions and its refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db.models import Count, QuerySet, Sum

from archetypes_app.models import Golem
from permits_app.models import ActionPermit, DeniedCall, NavSnapshot, OutcomeRecord, SignedPromise, SoldAnswer
from permits_app.models.permit import PermitStatus
from permits_app.models.signed_promise import PromiseState
from permits_app.models.sold_answer import SaleState
from permits_app.performance.nav_parts import Parts, sum_parts
from permits_app.performance.slash_text import ToldSlash

MOST_MONTHS: Final = 24
MOST_FILLED: Final = 50
_RAN: Final = (PermitStatus.COMMITTED, PermitStatus.REVERTED, PermitStatus.UNKNOWN)


@dataclass(frozen=True, slots=True)
class RefusalCount:
    """What one rule refused: how often, and the most that would have been spent, micro-USD."""

    code: str
    rule: str
    count: int
    worth_micro_usd: int


@dataclass(frozen=True, slots=True)
class MonthChainLine:
    """What was held on one chain when the month began and ended, micro-USD, and when it was counted last."""

    chain_id: int
    opening: int
    closing: int
    until: datetime


@dataclass(frozen=True, slots=True)
class MonthlyStatement:
    """One month or year, in UTC. Values in micro-USD; None where nothing was measured.

    `since` and `until` are the measures.
    """

    golem: Golem
    begins: datetime
    ends: datetime
    opening: int | None
    closing: int | None
    since: datetime | None
    until: datetime | None
    parts: Parts
    permits: Sequence[tuple[str, int]]
    ran: int
    gas_wei: Sequence[tuple[int, int]]
    """By chain, whose coins are not the same."""
    verified: int
    refused: Sequence[RefusalCount]
    chains: Sequence[MonthChainLine] = ()
    slashes: Sequence[tuple[datetime, ToldSlash]] = ()
    """What slashes took, and when that was seen."""
    filled: Sequence[SignedPromise] = ()
    """What others took of what it had signed, the newest first and no more than MOST_FILLED."""
    has_more_filled: bool = False
    sold: Sequence[SoldAnswer] = ()
    """What strangers paid it for answers, the newest first and no more than MOST_FILLED."""
    has_more_sold: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether there are two values to compare."""
        return self.since is not None and self.until is not None and self.since < self.until

    @property
    def is_whole(self) -> bool:
        """Whether it was measured from the month's beginning, so that nothing is left out."""
        return self.since is not None and self.since <= self.begins


def find_month(text: str, *, months: Sequence[datetime]) -> datetime:
    """The one of `months` written as `2026-11`; else the last whole one, or the first where none is whole yet."""
    written = {f"{month:%Y-%m}": month for month in months}
    return written.get(text) or months[min(1, len(months) - 1)]


def begin_month(at: datetime) -> datetime:
    """The first moment of its month."""
    return at.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def list_months(golem: Golem, *, now: datetime) -> list[datetime]:
    """Months of its life, the newest first; that of `now` is among them."""
    found: list[datetime] = []
    month = begin_month(now)
    while month + timedelta(days=31) > golem.created_at and len(found) < MOST_MONTHS:
        found.append(month)
        month = begin_month(month - timedelta(days=1))
    return [each for each in found if _end(each) > golem.created_at] or [begin_month(now)]


def begin_year(text: str, *, years: Sequence[int]) -> datetime | None:
    """The first moment of the one of `years` that is written so; None where it is none of them."""
    year = {str(each): each for each in years}.get(text)
    return datetime(year, 1, 1, tzinfo=UTC) if year is not None else None


def build_statement(golem: Golem, *, begins: datetime, is_year: bool = False) -> MonthlyStatement:
    """The month that begins then, or the year."""
    ends = begins.replace(year=begins.year + 1) if is_year else _end(begins)
    snapshots = NavSnapshot.objects.filter(golem=golem).defer("state", "holdings")
    before = {row.chain_id: row for row in _list_newest(snapshots.filter(at__lte=begins))}
    within: dict[int, list[NavSnapshot]] = {}
    for row in snapshots.filter(at__gt=begins, at__lte=ends).order_by("at"):
        within.setdefault(row.chain_id, []).append(row)
    # What led to the first measure of a chain happened before it.
    counted = [row for chain_id, rows in within.items() for row in (rows if chain_id in before else rows[1:])]
    chains = sorted({*before, *within})
    firsts = [before.get(each) or within[each][0] for each in chains]
    lasts = [within[each][-1] if each in within else before[each] for each in chains] if within else []
    permits = ActionPermit.objects.filter(golem=golem, created_at__gte=begins, created_at__lt=ends)
    by_status = permits.values_list("status").annotate(n=Count("pk")).order_by("status")
    filled = SignedPromise.objects.filter(
        golem=golem, state=PromiseState.FILLED, ended_at__gte=begins, ended_at__lt=ends
    ).select_related("permit")
    newest = list(filled.order_by("-ended_at", "-pk")[: MOST_FILLED + 1])
    sales = SoldAnswer.objects.filter(golem=golem, state=SaleState.SOLD, sold_at__gte=begins, sold_at__lt=ends)
    sold = list(sales.defer("answer").order_by("-sold_at", "-pk")[: MOST_FILLED + 1])
    outcomes = OutcomeRecord.live.filter(permit__golem=golem, created_at__gte=begins, created_at__lt=ends)
    gas: dict[int, int] = {}
    for chain_id, fee in outcomes.values_list("permit__chain_id", "fee_wei"):
        gas[chain_id] = gas.get(chain_id, 0) + int(fee)
    return MonthlyStatement(
        golem=golem,
        begins=begins,
        ends=ends,
        opening=sum(row.value_micro_usd for row in firsts) if firsts else None,
        closing=sum(row.value_micro_usd for row in lasts) if lasts else None,
        since=min(row.at for row in firsts) if firsts else None,
        until=max(row.at for row in lasts) if lasts else None,
        parts=sum_parts(Parts.from_json(row.parts) for row in counted),
        permits=[(PermitStatus(status).label, count) for status, count in by_status],
        ran=permits.filter(status__in=_RAN).count(),
        gas_wei=tuple(sorted(gas.items())),
        chains=tuple(
            MonthChainLine(first.chain_id, first.value_micro_usd, last.value_micro_usd, last.at)
            for first, last in zip(firsts, lasts, strict=False)
        ),
        verified=outcomes.filter(is_verified=True).count(),
        refused=_list_refused(golem, begins, ends),
        slashes=[(row.at, ToldSlash.from_json(each)) for row in counted for each in row.slashes],
        filled=newest[:MOST_FILLED],
        has_more_filled=len(newest) > MOST_FILLED,
        sold=sold[:MOST_FILLED],
        has_more_sold=len(sold) > MOST_FILLED,
    )


def _list_newest(rows: QuerySet[NavSnapshot]) -> QuerySet[NavSnapshot]:
    """The newest of each chain, in one query."""
    return rows.order_by("chain_id", "-at").distinct("chain_id")


def _list_refused(golem: Golem, begins: datetime, ends: datetime) -> list[RefusalCount]:
    rows = DeniedCall.objects.filter(golem=golem, denied_at__gte=begins, denied_at__lt=ends)
    summed = rows.values_list("code", "rule").annotate(n=Count("pk"), worth=Sum("value_micro_usd"))
    ordered = summed.order_by("-n", "code", "rule")
    return [RefusalCount(code, rule, count, worth or 0) for code, rule, count, worth in ordered]


def _end(begins: datetime) -> datetime:
    return begin_month(begins + timedelta(days=32))
