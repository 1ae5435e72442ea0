"""Lays away entries of the audit log that are older than their golem's owner keeps records at hand."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.migrations.recorder import MigrationRecorder

from permits_app.execution.due_archives import DueGolem, DueRows, list_due
from tools_app.core.archive_audit_entries import LEAST_ENTRIES, lay_away_entries
from tools_app.core.audit_archives import AuditArchiveBroken
from tools_app.core.audit_key import AuditKeyDiffers
from tools_app.core.models import AuditArchive, AuditCheckpoint

logger = logging.getLogger(__name__)

_ROLL: Final = timedelta(days=1)
"""Longer than servers of the version before run beside this one: they know no archive, and call the entries missing."""
_MADE_BY: Final = ("tools_app", "0030_archives_of_the_audit_log")
_MOST_ARCHIVES: Final = 20
_MOST_GOLEMS: Final = 200
"""More than archives: one whose chain does not hold is told each time, and keeps no other waiting."""
_DUE: Final = DueRows(
    last=f"""
SELECT last_seq FROM {AuditArchive._meta.db_table}
 WHERE golem_id = golem.id ORDER BY number DESC LIMIT 1""",  # noqa: S608  (the tables' own names)
    condition=f"""
(SELECT point.signed_at_ms FROM {AuditCheckpoint._meta.db_table} AS point
  WHERE point.golem_id = golem.id AND point.seq >= COALESCE(last.last_seq, 0) + {LEAST_ENTRIES}
  ORDER BY point.seq LIMIT 1) < extract(epoch FROM kept.before) * 1000""",  # noqa: S608
)


@dataclass(frozen=True, slots=True)
class EntriesLaidAway:
    """What one run did; `broken` golems have a log or an archive that does not hold, and keep all rows."""

    archives: int = 0
    entries: int = 0
    broken: int = 0


def lay_away_old_entries(*, now: datetime, owner_id: int | None = None) -> EntriesLaidAway:
    """At most _MOST_ARCHIVES archives a run; safe to repeat. Nothing is laid away without the server's key, nor within
    a day after the database learned of archives.
    """
    done = EntriesLaidAway()
    if _is_rolled_out_since_less_than_a_day(now):
        return done
    try:
        for due in list_due(_DUE, now=now, owner_id=owner_id, most=_MOST_GOLEMS):
            done = _lay_away_of(due, done, now=now)
            if done.archives >= _MOST_ARCHIVES:
                break
    except AuditKeyDiffers as error:
        logger.warning("no part of the audit log is laid away by this machine: %s", error.code)
    return done


def _is_rolled_out_since_less_than_a_day(now: datetime) -> bool:
    app, name = _MADE_BY
    applied = MigrationRecorder.Migration.objects.filter(app=app, name=name).values_list("applied", flat=True).first()
    return applied is not None and now < applied + _ROLL


def _lay_away_of(due: DueGolem, done: EntriesLaidAway, *, now: datetime) -> EntriesLaidAway:
    archives, entries, broken = done.archives, done.entries, done.broken
    try:
        while archives < _MOST_ARCHIVES:
            made = lay_away_entries(golem_id=due.golem_id, before=due.before, now=now)
            if made is None:
                break
            archives, entries = archives + 1, entries + made.last_seq - made.first_seq + 1
    except AuditArchiveBroken as error:
        logger.error("the audit log of %s stays as it is: %s %s", due.golem_id, error.code, error.detail)
        broken += 1
    return EntriesLaidAway(archives, entries, broken)
