"""Lays away, once an hour, all that is older than its golem's owner keeps at hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from permits_app.execution.audit_archives import EntriesLaidAway, lay_away_old_entries
from permits_app.execution.record_archives import LaidAway, lay_away_old_records
from permits_app.execution.tick_archives import TicksLaidAway, lay_away_old_ticks


@dataclass(frozen=True, slots=True)
class AllLaidAway:
    """What one run did, by kind."""

    records: LaidAway
    ticks: TicksLaidAway
    audit: EntriesLaidAway


def lay_away_what_is_old(*, now: datetime, owner_id: int | None = None) -> AllLaidAway:
    """Of one owner's golems, or of all. The audit log comes last: the others write into it."""
    return AllLaidAway(
        records=lay_away_old_records(now=now, owner_id=owner_id),
        ticks=lay_away_old_ticks(now=now, owner_id=owner_id),
        audit=lay_away_old_entries(now=now, owner_id=owner_id),
    )
