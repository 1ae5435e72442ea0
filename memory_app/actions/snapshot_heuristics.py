"""Keep what tunes now as a version of the HEURISTICS document, so that its history shows as diffs."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory_app.actions.restore_directive import write_directive
from memory_app.heuristic_text import list_heuristics, render_heuristics
from memory_app.models import Directive
from memory_app.models.directive import Document

_MOST_CHARACTERS = 1_000_000


def snapshot_heuristics(*, golem_id: UUID, actor: str, reason: str, now: datetime) -> Directive | None:
    """The newest version of HEURISTICS, made when something changed; None when it would pass a million characters."""
    text = render_heuristics(list_heuristics(golem_id=golem_id))
    if len(text) > _MOST_CHARACTERS:
        return None
    return write_directive(
        golem_id=golem_id, document=Document.HEURISTICS, text=text, reason=reason, actor=actor, now=now
    )
