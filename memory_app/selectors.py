"""Reads memories of a golem without changing them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory_app.decay import compute_retention, days_between
from memory_app.models import Directive, Episode
from memory_app.models.directive import Document


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """How much a golem remembers."""

    episodes: int
    archived: int
    quarantined: int
    without_vector: int


def get_directive(*, golem_id: UUID, document: Document = Document.PLAYBOOK) -> Directive | None:
    """The newest version of a document, or None when nothing was written yet."""
    return Directive.objects.filter(golem_id=golem_id, document=document).order_by("-version").first()


def count_memory(*, golem_id: UUID) -> MemoryFigures:
    """Figures for pages and health."""
    episodes = Episode.objects.filter(golem_id=golem_id)
    return MemoryFigures(
        episodes=episodes.count(),
        archived=episodes.filter(archived_at__isnull=False).count(),
        quarantined=episodes.filter(is_quarantined=True).count(),
        without_vector=episodes.filter(vector__isnull=True).count(),
    )


def plot_retention(*, episode: Episode, now: datetime, days: int = 365, points: int = 60) -> list[tuple[int, float]]:
    """(day from now, retention) of an episode that is not retrieved again: a curve for its page."""
    start = days_between(episode.last_accessed_at, now)
    curve = []
    for index in range(points):
        day = index * days // max(1, points - 1)
        curve.append((day, compute_retention(days_since_access=start + day, stability_days=episode.stability_days)))
    return curve
