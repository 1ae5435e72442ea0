"""Lays away what old ticks saw and thought, packed, and brings it back as it was.

Rows of ticks and decisions stay, with what actions, statements and sums over years refer to. Quiet ticks are deleted
long before.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction

from archetypes_app.models import DecisionCycleRecord, Golem
from permits_app.errors import ArchiveBroken
from permits_app.execution.due_archives import DueRows, list_due
from permits_app.models import TickArchive
from permits_app.permits.read_tick_archives import (
    MARK,
    NUMBER_OF,
    SEEN,
    TICKS_LAID_AWAY,
    is_laid_away,
    read_tick_lines,
    tell_tick_archive,
)
from tools_app.core import audit_log
from tools_app.core.packed_lines import pack
from tools_app.core.transaction_retry import retry_aborted

_BATCH: Final = 200
_MOST_ARCHIVES: Final = 20
_ACTOR: Final = "system:archive"
_BACK: Final = "TicksBroughtBack"
_EMPTY: Final[dict[str, object]] = {
    "anomalies": [],
    "context_summary": "",
    "episodes_written": [],
    "interventions": [],
    "observation": "",
    "pad_after": {},
    "pad_before": {},
    "probes": {},
}
# Of decisions behind the last archive the oldest: where that is young, all are.
_DUE: Final = DueRows(
    last=f"""
SELECT last_tick FROM {TickArchive._meta.db_table}
 WHERE golem_id = golem.id ORDER BY number DESC LIMIT 1""",  # noqa: S608  (the tables' own names)
    condition=f"""
(SELECT decision.decided_at FROM {DecisionCycleRecord._meta.db_table} AS decision
  WHERE decision.golem_id = golem.id AND decision.heartbeat_tick > COALESCE(last.last_tick, -1)
  ORDER BY decision.heartbeat_tick LIMIT 1) < kept.before""",  # noqa: S608
)


@dataclass(frozen=True, slots=True)
class TicksLaidAway:
    """What one run did."""

    archives: int
    decisions: int


def lay_away_old_ticks(*, now: datetime, owner_id: int | None = None) -> TicksLaidAway:
    """Lay away what is older than its golem's owner keeps, at most _MOST_ARCHIVES archives a run; safe to repeat."""
    archives = decisions = 0
    for due in list_due(_DUE, now=now, owner_id=owner_id, most=_MOST_ARCHIVES):
        while archives < _MOST_ARCHIVES and (made := _lay_away(due.golem_id, before=due.before, now=now)) is not None:
            archives, decisions = archives + 1, decisions + made.decisions
    return TicksLaidAway(archives, decisions)


@retry_aborted
def _lay_away(golem_id: UUID, *, before: datetime, now: datetime) -> TickArchive | None:
    with transaction.atomic():
        # Two runs at once would number alike; the second finds what the first left.
        Golem.objects.select_for_update(no_key=True).get(pk=golem_id)
        last = TickArchive.objects.filter(golem_id=golem_id).order_by("-number").defer("content").first()
        behind = DecisionCycleRecord.objects.filter(golem_id=golem_id)
        if last is not None:
            behind = behind.filter(heartbeat_tick__gt=last.last_tick)
        columns = ("golem_id", "heartbeat_tick", "decided_at", *SEEN)
        rows = list(behind.select_for_update(no_key=True).order_by("heartbeat_tick").only(*columns)[:_BATCH])
        # In their order up to the first that is young: no archive has a gap.
        young = next((place for place, row in enumerate(rows) if row.decided_at >= before), len(rows))
        rows = rows[:young]
        if not rows:
            return None
        packed = pack({"tick": row.heartbeat_tick, **{name: getattr(row, name) for name in SEEN}} for row in rows)
        archive = TickArchive.objects.create(
            golem_id=golem_id,
            number=last.number + 1 if last is not None else 1,
            first_tick=rows[0].heartbeat_tick,
            last_tick=rows[-1].heartbeat_tick,
            first_decided_at=rows[0].decided_at,
            last_decided_at=rows[-1].decided_at,
            decisions=len(rows),
            sha256=packed.sha256,
            content=packed.content,
        )
        DecisionCycleRecord.objects.filter(pk__in=[row.pk for row in rows]).update(
            **_EMPTY, deliberation={MARK: archive.number}
        )
        # Last, as everywhere: the head of the chain is locked after all rows.
        noted = audit_log.append(
            golem_id=golem_id, event=TICKS_LAID_AWAY, actor=_ACTOR, data=tell_tick_archive(archive), now=now
        )
        TickArchive.objects.filter(pk=archive.pk).update(audit_seq=noted.seq)
    return archive


@retry_aborted
def bring_ticks_back(*, golem_id: UUID, number: int, actor: str, now: datetime) -> TickArchive:
    """Make the rows of an archive whole again; it stays, and is not laid away a second time. Raises ArchiveBroken."""
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True).get(pk=golem_id)
        archive = TickArchive.objects.filter(golem_id=golem_id, number=number).first()
        if archive is None:
            raise ArchiveBroken(f"this golem has no archive of ticks {number}")
        lines = {NUMBER_OF(line): line for line in read_tick_lines(archive)}
        rows = DecisionCycleRecord.objects.filter(golem_id=golem_id, heartbeat_tick__in=list(lines))
        for row in rows.order_by("heartbeat_tick"):
            if is_laid_away(row):
                seen = {name: lines[row.heartbeat_tick][name] for name in SEEN}
                DecisionCycleRecord.objects.filter(pk=row.pk).update(**seen)
        archive.brought_back_at = now
        archive.save(update_fields=["brought_back_at", "updated_at"])
        audit_log.append(golem_id=golem_id, event=_BACK, actor=actor, data=tell_tick_archive(archive), now=now)
    return archive
