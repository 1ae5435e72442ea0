"""Which golems have rows that are older than their owner keeps them at hand: one statement for each kind of archive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import connection

from archetypes_app.models import Golem
from permits_app.models import RecordKeeping
from permits_app.models.record_archive import LEAST_DAYS


@dataclass(frozen=True, slots=True)
class DueRows:
    """How one kind of rows is asked for: a query for where the last archive of `golem.id` ended, named `last` (one row
    or none), and a condition on `golem`, `kept.before` and `last` that needs one look into an index.
    """

    last: str
    condition: str


@dataclass(frozen=True, slots=True)
class DueGolem:
    """One golem with something to lay away: what is older than `before`."""

    golem_id: UUID
    before: datetime


def list_due(due: DueRows, *, now: datetime, owner_id: int | None, most: int) -> list[DueGolem]:
    """The golems that have something to lay away, `most` at most: no other is visited."""
    asked = {"now": now, "owner": owner_id, "least": LEAST_DAYS, "most": most}
    with connection.cursor() as cursor:
        cursor.execute(
            _GOLEMS.format(last=due.last, condition=due.condition),
            {**asked, "kept": int(settings.GOLEM_RECORDS_KEPT_DAYS)},
        )
        return [DueGolem(UUID(str(golem_id)), now - timedelta(days=days)) for golem_id, days in cursor.fetchall()]


_GOLEMS: Final = f"""
SELECT golem.id, kept.days
  FROM {Golem._meta.db_table} AS golem
  LEFT JOIN {RecordKeeping._meta.db_table} AS chosen ON chosen.person_id = golem.owner_id
  CROSS JOIN LATERAL (SELECT GREATEST(%(least)s, COALESCE(chosen.days, %(kept)s)) AS days) AS many
  CROSS JOIN LATERAL (SELECT many.days, %(now)s - make_interval(days => many.days) AS before) AS kept
  LEFT JOIN LATERAL ({{last}}) AS last ON TRUE
 WHERE (%(owner)s::bigint IS NULL OR golem.owner_id = %(owner)s) AND {{condition}}
 ORDER BY golem.id LIMIT %(most)s
"""  # noqa: S608  (the tables' own names)
