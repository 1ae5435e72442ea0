"""Forget: move episodes that have faded to the archive. Nothing is deleted; an owner can bring one back.

Seed: decisions, "Memory".
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, FloatField, Func, Value

from memory_app.decay import STABILITIES_UNTIL_ARCHIVED
from memory_app.models import Episode
from tools_app.core import audit_log

_SECONDS_PER_DAY = 86_400


class _SecondsOf(Func):
    """The length of a database interval in seconds."""

    template = "EXTRACT(EPOCH FROM %(expressions)s)"
    output_field = FloatField()


def archive_forgotten_episodes(*, now: datetime, limit: int = 1_000) -> int:
    """Archive up to `limit` episodes whose retention fell below 0.05 and that are not pinned. Returns how many.

    Two runs at once skip each other's rows. Writes one audit entry a golem.
    """
    faded = (
        Episode.objects.filter(archived_at__isnull=True, is_pinned=False)
        .annotate(seconds_unused=_SecondsOf(Value(now) - F("last_accessed_at")))
        .filter(seconds_unused__gt=F("stability_days") * STABILITIES_UNTIL_ARCHIVED * _SECONDS_PER_DAY)
        .order_by("pk")
    )
    with transaction.atomic():
        rows = list(faded.select_for_update(skip_locked=True, of=("self",)).values_list("pk", "golem_id")[:limit])
        Episode.objects.filter(pk__in=[pk for pk, _ in rows]).update(archived_at=now)
        for golem_id in sorted({golem_id for _, golem_id in rows}):
            archived = [str(pk) for pk, owner in rows if owner == golem_id]
            audit_log.append(
                golem_id=golem_id, event="EpisodesArchived", actor="system:memory", data={"episodes": archived}, now=now
            )
    return len(rows)


def restore_episode(*, episode: Episode, actor: str, now: datetime) -> None:
    """Bring an archived episode back as if it had just been retrieved; its stability stays. Writes the audit log."""
    with transaction.atomic():
        changed = Episode.objects.filter(pk=episode.pk, archived_at__isnull=False).update(
            archived_at=None, last_accessed_at=now
        )
        if changed:
            audit_log.append(
                golem_id=episode.golem_id,
                event="EpisodeRestored",
                actor=actor,
                data={"episode_id": str(episode.pk)},
                now=now,
            )
