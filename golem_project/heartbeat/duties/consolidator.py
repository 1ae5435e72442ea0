"""memory-consolidator: one cycle over a golem's episodes every fifty of its ticks."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import F

from archetypes_app.models import Heartbeat
from memory_app.actions.consolidate import consolidate
from tools_app.core.isolated_sweeps import one_by_one

ACTOR = "system:memory-consolidator"


def consolidate_due(*, now: datetime, limit: int = 50) -> int:
    """Consolidate golems whose last cycle is fifty ticks back; each once, whoever else looks. Returns how many."""
    step = settings.GOLEM_HEARTBEAT_CONSOLIDATE_TICKS
    due = Heartbeat.objects.filter(
        golem__is_memory_enabled=True, golem__heartbeat_tick__gte=F("consolidated_at_tick") + step
    ).values_list("golem_id", "consolidated_at_tick", "golem__heartbeat_tick")[:limit]
    return sum(one_by_one(list(due), lambda mark: _consolidate(*mark, step, now), what="the memory of"))


def _consolidate(golem_id: UUID, last: int, tick: int, step: int, now: datetime) -> bool:
    # Whoever moves the mark does the work; the mark moves in whole steps, so that no fifty ticks are lost.
    mark = Heartbeat.objects.filter(pk=golem_id, consolidated_at_tick=last)
    if not mark.update(consolidated_at_tick=tick - tick % step):
        return False
    consolidate(golem_id=golem_id, now=now, actor=ACTOR)
    return True
