"""Reads what a golem is worth and earned of late, from snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from permits_app.models import NavSnapshot
from permits_app.performance.nav_parts import Parts, sum_parts

DAY: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class RecentWorth:
    """Micro-USD at the newest snapshot, and what made it since `since`, the oldest that counts."""

    value: int
    debt: int
    at: datetime
    since: datetime
    parts: Parts

    @property
    def has_history(self) -> bool:
        """Whether there is an earlier value to compare with."""
        return self.at > self.since


def read_worth(*, golem_id: UUID, now: datetime, over: timedelta = DAY) -> RecentWorth | None:
    """The newest value and the change within `over`; None before the first snapshot."""
    return read_worths(golem_ids=[golem_id], now=now, over=over).get(golem_id)


def read_worths(*, golem_ids: Iterable[UUID], now: datetime, over: timedelta = DAY) -> dict[UUID, RecentWorth]:
    """The same of many golems, in one query. A snapshot older than `over` tells a value and no change."""
    rows = NavSnapshot.objects.filter(golem_id__in=list(golem_ids), at__gt=now - over, at__lte=now)
    found: dict[UUID, dict[int, list[NavSnapshot]]] = {}
    for row in rows.defer("state", "holdings").order_by("at"):
        found.setdefault(row.golem_id, {}).setdefault(row.chain_id, []).append(row)
    return {golem_id: _sum_up(list(by_chain.values())) for golem_id, by_chain in found.items()}


def _sum_up(by_chain: list[list[NavSnapshot]]) -> RecentWorth:
    """The sum over chains, each with its own newest value and its own beginning."""
    # What led to the first of a chain happened before it.
    parts = sum_parts(Parts.from_json(row.parts) for rows in by_chain for row in rows[1:])
    newest = [rows[-1] for rows in by_chain]
    return RecentWorth(
        value=sum(row.value_micro_usd for row in newest),
        debt=sum(row.debt_micro_usd for row in newest),
        at=max(row.at for row in newest),
        since=min(rows[0].at for rows in by_chain),
        parts=parts,
    )
