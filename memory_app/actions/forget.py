"""Forget: move episodes that have faded to the archive. Nothing is deleted; an owner can bring one back."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, FloatField, Func, Value

from memory_app.decay import STABILITIES_UNTIL_ARCHIVED
from memory_app.insight_events import announce_insight
from memory_app.models import Episode, Insight
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted

LEAST_PERCENT_TO_KEEP = 30
_SECONDS_PER_DAY = 86_400


class _SecondsOf(Func):
    """The length of a database interval in seconds."""

    template = "EXTRACT(EPOCH FROM %(expressions)s)"
    output_field = FloatField()


@retry_aborted
def archive_forgotten_episodes(*, now: datetime, limit: int = 1_000, golem_id: UUID | None = None) -> int:
    """Archive up to `limit` episodes whose retention fell below 0.05 and that are not pinned. Returns how many.

    Two runs at once skip each other's rows. Writes one audit entry a golem.
    """
    faded = (
        Episode.objects.filter(archived_at__isnull=True, is_pinned=False)
        .annotate(seconds_unused=_SecondsOf(Value(now) - F("last_accessed_at")))
        .filter(seconds_unused__gt=F("stability_days") * STABILITIES_UNTIL_ARCHIVED * _SECONDS_PER_DAY)
        .order_by("pk")
    )
    if golem_id is not None:
        faded = faded.filter(golem_id=golem_id)
    with transaction.atomic():
        rows = list(
            faded.select_for_update(no_key=True, skip_locked=True, of=("self",)).values_list("pk", "golem_id")[:limit]
        )
        Episode.objects.filter(pk__in=[pk for pk, _ in rows]).update(archived_at=now)
        for golem_id in sorted({golem_id for _, golem_id in rows}):
            archived = [str(pk) for pk, owner in rows if owner == golem_id]
            audit_log.append(
                golem_id=golem_id, event="EpisodesArchived", actor="system:memory", data={"episodes": archived}, now=now
            )
    return len(rows)


@retry_aborted
def archive_doubted_insights(*, now: datetime, golem_id: UUID | None = None, limit: int = 1_000) -> int:
    """Archive insights whose confidence fell under 0.3 and that are not pinned. Returns how many.

    An archived heuristic tunes nothing. Emits one event an insight and writes one audit entry a golem.
    """
    rows = Insight.objects.filter(
        archived_at__isnull=True, is_pinned=False, confidence_percent__lt=LEAST_PERCENT_TO_KEEP
    )
    if golem_id is not None:
        rows = rows.filter(golem_id=golem_id)
    with transaction.atomic():
        found = list(rows.order_by("pk").select_for_update(no_key=True, skip_locked=True, of=("self",))[:limit])
        for row in found:
            row.archived_at = now
            row.save(update_fields=["archived_at", "updated_at"])
            announce_insight(row, change="archive", now=now, reason="confidence under 0.3")
        for owner in sorted({row.golem_id for row in found}):
            data = {"insights": [str(row.pk) for row in found if row.golem_id == owner]}
            audit_log.append(golem_id=owner, event="InsightsArchived", actor="system:memory", data=data, now=now)
    return len(found)


@retry_aborted
def archive_over_cap(*, golem_id: UUID, now: datetime, most: int | None = None) -> int:
    """Archive the least retained episodes of a golem that holds more than `most` (GOLEM_MEMORY_MOST_EPISODES).

    Pinned ones stay; older ones go first where retention is equal. Returns how many. Writes one audit entry.
    """
    cap = settings.GOLEM_MEMORY_MOST_EPISODES if most is None else most
    kept = Episode.objects.filter(golem_id=golem_id, archived_at__isnull=True)
    with transaction.atomic():
        over = kept.count() - cap
        if over <= 0:
            return 0
        # R = exp(-t/S) falls as t/S grows; the quotient orders as R does.
        faded = kept.filter(is_pinned=False).annotate(
            spent=_SecondsOf(Value(now) - F("last_accessed_at")) / F("stability_days")
        )
        rows = faded.order_by("-spent", "occurred_at", "pk").select_for_update(
            no_key=True, skip_locked=True, of=("self",)
        )
        archived = list(rows.values_list("pk", flat=True)[:over])
        Episode.objects.filter(pk__in=archived).update(archived_at=now)
        if archived:
            data = {"episodes": [str(pk) for pk in archived[:500]], "count": str(len(archived)), "cap": str(cap)}
            audit_log.append(golem_id=golem_id, event="EpisodesArchived", actor="system:memory", data=data, now=now)
    return len(archived)


def list_golems_over_cap() -> list[UUID]:
    """Golems with more unarchived episodes than they may keep."""
    counted = Episode.objects.filter(archived_at__isnull=True).values("golem_id").annotate(kept=Count("pk"))
    return list(counted.filter(kept__gt=settings.GOLEM_MEMORY_MOST_EPISODES).values_list("golem_id", flat=True))
