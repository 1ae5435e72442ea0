"""Adds settled spends of API keys to a sum of each key, so that a session's spends are read from a few rows.

A session lasts as long as its keys. What was settled more than a day ago is marked and added to its key's sum in one
statement, under the lock under which reservations are made.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection, transaction

from permits_app.limits.ledger import DAY
from permits_app.models import SpendEntry
from permits_app.models.spending import KeySpend, SpendState
from permits_app.permits.row_locks import fill_golem_lock
from tools_app.core.prepared_statements import fetch_together
from tools_app.core.transaction_retry import retry_aborted

_BATCH: Final = 1_000
_MOST_BATCHES: Final = 200
_SUM: Final = f"""
WITH added AS (
    UPDATE {SpendEntry._meta.db_table} SET is_in_key_sum = TRUE, updated_at = %(now)s
     WHERE id = ANY(ARRAY(
               SELECT id FROM {SpendEntry._meta.db_table}
                WHERE golem_id = %(golem)s AND api_key_id IS NOT NULL AND NOT is_in_key_sum
                  AND state IN ('SETTLED', 'REVERSED') AND counted_at < %(before)s
                ORDER BY counted_at, id LIMIT %(most)s
           )) AND NOT is_in_key_sum AND state IN ('SETTLED', 'REVERSED') AND api_key_id IS NOT NULL
    RETURNING api_key_id, COALESCE(settled_micro_usd, reserved_micro_usd) AS micro_usd
), summed AS (
    INSERT INTO {KeySpend._meta.db_table} AS held (created_at, updated_at, golem_id, api_key_id, micro_usd)
    SELECT %(now)s, %(now)s, %(golem)s, api_key_id, SUM(micro_usd) FROM added GROUP BY api_key_id ORDER BY api_key_id
        ON CONFLICT (api_key_id, golem_id) DO UPDATE
       SET micro_usd = held.micro_usd + EXCLUDED.micro_usd, updated_at = EXCLUDED.updated_at
    RETURNING 1
)
SELECT (SELECT COUNT(*) FROM added), (SELECT COUNT(*) FROM summed)
"""  # noqa: S608  (the tables' own names)


def sum_key_spends(*, now: datetime) -> int:
    """Add every key's spends that are older than a day to its sum; how many were added. Safe to repeat and beside
    itself. A run that leaves some to the next changes no total.
    """
    before, added = now - DAY, 0
    for _ in range(_MOST_BATCHES):
        golem_id = _find_next(before)
        if golem_id is None:
            break
        added += _add_batch(golem_id, before=before, now=now)
    return added


def _find_next(before: datetime) -> UUID | None:
    """Whose oldest spend is to be added."""
    due = SpendEntry.objects.filter(
        is_in_key_sum=False,
        api_key__isnull=False,
        state__in=(SpendState.SETTLED, SpendState.REVERSED),
        counted_at__lt=before,
    )
    return due.order_by("counted_at", "id").values_list("golem_id", flat=True).first()


@retry_aborted
def _add_batch(golem_id: UUID, *, before: datetime, now: datetime) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        fetch_together(fill_golem_lock(golem_id))
        cursor.execute(_SUM, {"golem": golem_id, "before": before, "most": _BATCH, "now": now})
        added, _ = cursor.fetchone()
    return int(added)
