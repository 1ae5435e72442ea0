"""Stores which reads follow which, and what reading ahead gained and wasted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, models, transaction
from django.db.models import F

from tools_app.core.transaction_retry import retry_aborted

_MOST_RUNS = 1_000
"""Above this the counts of a tool are halved, so that habits of long ago lose their weight."""


class ToolCooccurrence(models.Model):
    """`together` runs of `first` had `second` after them in one session; with itself, it is how often it ran."""

    archetype = models.CharField(max_length=64)
    first = models.CharField(max_length=96)
    second = models.CharField(max_length=96)
    together = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = "tool co-occurrence"
        constraints = [models.UniqueConstraint(fields=["archetype", "first", "second"], name="tool_cooccurrence_once")]

    def __str__(self) -> str:
        return f"{self.first} then {self.second}: {self.together}"


class SpeculationRecord(models.Model):
    """Reads made ahead for golems of one archetype. The `round_` counters begin anew when it is switched on again."""

    archetype = models.CharField(max_length=64, unique=True)
    is_on = models.BooleanField(default=True)
    used = models.PositiveBigIntegerField(default=0)
    wasted = models.PositiveBigIntegerField(default=0)
    round_used = models.PositiveBigIntegerField(default=0)
    round_wasted = models.PositiveBigIntegerField(default=0)
    learned_to = models.PositiveBigIntegerField(default=0, help_text="The position in the event log learned up to")
    learned_since_off = models.PositiveBigIntegerField(default=0, help_text="Runs learned since it was switched off")

    class Meta:
        verbose_name = "speculation record"

    def __str__(self) -> str:
        return f"{self.archetype}: {self.used} used, {self.wasted} wasted"

    @property
    def hit_rate_bps(self) -> int:
        """Used of all reads made ahead, in basis points; zero before the first."""
        return self.used * 10_000 // max(1, self.used + self.wasted)


_UP_TO = """
SELECT max(position) FROM tools_app_outboxevent
WHERE golem_id = ANY(%(golems)s) AND position > %(after)s AND occurred_at <= %(until)s
"""

_COUNT = """
WITH reads AS (
    SELECT golem_id, position, occurred_at, payload->>'tool_name' AS tool FROM tools_app_outboxevent
    WHERE golem_id = ANY(%(golems)s) AND position > %(after)s AND type = 'tool:end'
        AND payload->>'tool_name' = ANY(%(tools)s)
), followed AS (
    SELECT position, tool, array_agg(tool) OVER (
        PARTITION BY golem_id ORDER BY occurred_at RANGE BETWEEN CURRENT ROW AND %(window)s FOLLOWING
    ) AS later FROM reads
), pairs AS (
    SELECT followed.tool AS first, other.tool AS second, count(*) AS together
    FROM followed, LATERAL (SELECT DISTINCT unnest(followed.later) AS tool) AS other
    WHERE followed.position <= %(up_to)s GROUP BY 1, 2
)
INSERT INTO tools_app_toolcooccurrence AS known (archetype, first, second, together)
SELECT %(archetype)s, first, second, together FROM pairs
ON CONFLICT (archetype, first, second) DO UPDATE SET together = known.together + excluded.together
RETURNING (SELECT coalesce(sum(pairs.together), 0) FROM pairs WHERE pairs.first = pairs.second)
"""


@retry_aborted
def learn_cooccurrence(
    *,
    archetype: str,
    golem_ids: Collection[UUID],
    tools: Collection[str],
    window_seconds: int,
    enough_runs: int,
    now: datetime,
) -> int:
    """Count what the golems read since the last time; two at once count it once. Returns the runs learned from.

    An archetype that was switched off is on again once `enough_runs` were learned since.
    """
    window = timedelta(seconds=window_seconds)
    with transaction.atomic(), connection.cursor() as cursor:
        SpeculationRecord.objects.get_or_create(archetype=archetype)
        record = SpeculationRecord.objects.select_for_update(no_key=True).get(archetype=archetype)
        # Only what is older than a session: what follows it is known.
        place: dict[str, Any] = {  # Any: values of a statement
            "golems": list(golem_ids),
            "after": record.learned_to,
            "until": now - window,
        }
        cursor.execute(_UP_TO, place)
        [up_to] = cursor.fetchone()
        if up_to is None:
            return 0
        wanted: dict[str, Any] = {  # Any: likewise
            "tools": list(tools),
            "window": window,
            "up_to": up_to,
            "archetype": archetype,
        }
        cursor.execute(_COUNT, {**place, **wanted})
        counted = cursor.fetchone()
        runs = int(counted[0]) if counted else 0
        record.learned_to = up_to
        if not record.is_on:
            record.learned_since_off += runs
            if record.learned_since_off >= enough_runs:
                record.is_on, record.learned_since_off = True, 0
                record.round_used = record.round_wasted = 0
        record.save()
        _fade(archetype)
    return runs


def _fade(archetype: str) -> None:
    known = ToolCooccurrence.objects.filter(archetype=archetype)
    busy = known.filter(first=F("second"), together__gt=_MOST_RUNS).values("first")
    known.filter(first__in=list(busy.values_list("first", flat=True))).update(together=F("together") / 2)


def load_predictions(
    *, archetype: str, threshold_bps: int, enough_runs: int, most: int
) -> Mapping[str, tuple[str, ...]]:
    """By each tool the at most `most` tools that follow it often enough, likeliest first; empty when switched off."""
    if SpeculationRecord.objects.filter(archetype=archetype, is_on=False).exists():
        return {}
    counts: dict[str, dict[str, int]] = {}
    rows = ToolCooccurrence.objects.filter(archetype=archetype)
    for first, second, together in rows.values_list("first", "second", "together"):
        counts.setdefault(first, {})[second] = together
    predictions = {}
    for first, followers in counts.items():
        runs = followers.pop(first, 0)
        likely = [name for name, together in followers.items() if together * 10_000 >= threshold_bps * runs]
        if runs >= enough_runs and likely:
            predictions[first] = tuple(sorted(likely, key=lambda name: (-followers[name], name))[:most])
    return predictions


def record_outcome(*, archetype: str, used: int, wasted: int, most_waste_bps: int, enough_reads: int) -> bool:
    """Add to the counters; whether the archetype is still on: more waste than allowed in enough reads ends it."""
    SpeculationRecord.objects.get_or_create(archetype=archetype)
    row = SpeculationRecord.objects.filter(archetype=archetype)
    values: dict[str, object] = {
        "used": F("used") + used,
        "wasted": F("wasted") + wasted,
        "round_used": F("round_used") + used,
        "round_wasted": F("round_wasted") + wasted,
    }
    row.update(**values)
    reads = F("round_used") + F("round_wasted")
    too_much = row.alias(reads=reads).filter(
        is_on=True, reads__gte=enough_reads, round_wasted__gt=reads * most_waste_bps / 10_000
    )
    return not too_much.update(is_on=False, learned_since_off=0)
