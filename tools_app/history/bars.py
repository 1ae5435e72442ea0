"""Folds logs into bars of hours, and hours into days: always anew from all there is, so no order of arrival matters."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

from django.db import connection

from tools_app.models.history import BarSpan

Touched = Collection[tuple[int, datetime]]
"""Hours to fold anew, each of a contract: its row's key and the hour's beginning."""

_HOURS: Final = """
INSERT INTO tools_app_pricebar (
    source_id, span, starts_at, open_x192, high_x192, low_x192, close_x192, in0, in1, trades
)
SELECT touched.source_id, 'HOUR', touched.starts_at,
    (array_agg(log.price_x192 ORDER BY log.block_number, log.log_index)
        FILTER (WHERE log.price_x192 IS NOT NULL))[1],
    max(log.price_x192), min(log.price_x192),
    (array_agg(log.price_x192 ORDER BY log.block_number DESC, log.log_index DESC)
        FILTER (WHERE log.price_x192 IS NOT NULL))[1],
    coalesce(sum(log.in0), 0), coalesce(sum(log.in1), 0), count(log.in0)
FROM unnest(%s::bigint[], %s::timestamptz[]) AS touched(source_id, starts_at)
JOIN tools_app_chainlog log ON log.source_id = touched.source_id
    AND log.block_time >= touched.starts_at AND log.block_time < touched.starts_at + interval '1 hour'
GROUP BY touched.source_id, touched.starts_at
"""
_DAYS: Final = """
INSERT INTO tools_app_pricebar (
    source_id, span, starts_at, open_x192, high_x192, low_x192, close_x192, in0, in1, trades
)
SELECT touched.source_id, 'DAY', touched.starts_at,
    (array_agg(hour.open_x192 ORDER BY hour.starts_at) FILTER (WHERE hour.open_x192 IS NOT NULL))[1],
    max(hour.high_x192), min(hour.low_x192),
    (array_agg(hour.close_x192 ORDER BY hour.starts_at DESC) FILTER (WHERE hour.close_x192 IS NOT NULL))[1],
    sum(hour.in0), sum(hour.in1), sum(hour.trades)
FROM unnest(%s::bigint[], %s::timestamptz[]) AS touched(source_id, starts_at)
JOIN tools_app_pricebar hour ON hour.source_id = touched.source_id AND hour.span = 'HOUR'
    AND hour.starts_at >= touched.starts_at AND hour.starts_at < touched.starts_at + interval '24 hours'
GROUP BY touched.source_id, touched.starts_at
"""
_FORGET: Final = """
DELETE FROM tools_app_pricebar bar
USING unnest(%s::bigint[], %s::timestamptz[]) AS touched(source_id, starts_at)
WHERE bar.source_id = touched.source_id AND bar.span = %s AND bar.starts_at = touched.starts_at
"""


def hour_of(time: datetime) -> datetime:
    """The beginning of its hour, in UTC."""
    return time.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def day_of(time: datetime) -> datetime:
    """The beginning of its day, in UTC."""
    return hour_of(time).replace(hour=0)


def fold(touched: Touched) -> None:
    """Make the bars of these hours and of their days anew, in the caller's transaction.

    The caller holds the lock of the chain, so that nobody folds the same hour meanwhile.
    """
    if not touched:
        return
    hours = sorted(set(touched))
    days = sorted({(source, day_of(hour)) for source, hour in hours})
    with connection.cursor() as cursor:
        for span, starts, statement in ((BarSpan.HOUR, hours, _HOURS), (BarSpan.DAY, days, _DAYS)):
            lists: list[list[object]] = [[source for source, _ in starts], [start for _, start in starts]]
            cursor.execute(_FORGET, [*lists, span.value])
            cursor.execute(statement, lists)
