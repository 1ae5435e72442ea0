"""RETRIEVE: the few conclusions of memory that bear on what this golem does."""

from __future__ import annotations

from typing import Final

from golem_project.heartbeat.cycle_state import CycleState
from memory_app.models import Insight

MOST_RECALLED: Final = 5


def retrieve(state: CycleState) -> None:
    """The surest insights of the golem, as data: their text came from what happened, never an instruction."""
    if not state.golem.is_memory_enabled:
        return
    known = Insight.objects.filter(golem_id=state.golem.pk, is_quarantined=False, archived_at__isnull=True)
    rows = known.order_by("-confidence_percent", "-pk")
    state.recalled = tuple(
        {"kind": kind, "tool_name": tool, "text": text, "confidence_percent": percent}
        for kind, tool, text, percent in rows.values_list("kind", "tool_name", "text", "confidence_percent")[
            :MOST_RECALLED
        ]
    )
