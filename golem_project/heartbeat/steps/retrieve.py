"""RETRIEVE: the few conclusions of memory that bear on what this golem does."""

from __future__ import annotations

from typing import Final

from golem_project.heartbeat.cycle_state import CycleState
from memory_app.models import Insight
from memory_app.models.insight import Kind
from memory_app.models.provenance import Trust
from tools_app.core.storable_text import make_plain

MOST_RECALLED: Final = 5
WARNINGS_KEPT: Final = 2
MOST_REPORTED: Final = 2
"""Places for what was only said: whoever writes much does not write the rest of memory out of sight."""


def retrieve(state: CycleState) -> None:
    """The surest insights of the golem, as data that says who wrote it: never an instruction."""
    if not state.golem.is_memory_enabled:
        return
    known = Insight.objects.filter(golem_id=state.golem.pk, is_quarantined=False, archived_at__isnull=True)
    rows = known.order_by("-confidence_percent", "-pk").values_list(
        "pk", "kind", "tool_name", "text", "confidence_percent", "trust", "source"
    )
    verified = rows.filter(trust=Trust.VERIFIED)
    warnings = list(verified.filter(kind=Kind.WARNING)[:WARNINGS_KEPT])
    others = [row for row in verified[:MOST_RECALLED] if row not in warnings]
    said = list(rows.exclude(trust=Trust.VERIFIED)[:MOST_REPORTED])
    others = others[: MOST_RECALLED - len(warnings) - len(said)]
    state.recalled = tuple(
        {
            "kind": kind,
            "tool_name": tool,
            "text": make_plain(text),
            "confidence_percent": percent,
            "trust": trust,
            "source": source,
        }
        for _, kind, tool, text, percent, trust, source in [*warnings, *others, *said]
    )
