"""One curator cycle of one golem: consolidate, archive what faded or is doubted, keep the cap, search for poison."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory_app.actions.consolidate import Consolidation, consolidate
from memory_app.actions.forget import archive_doubted_insights, archive_forgotten_episodes, archive_over_cap
from memory_app.actions.scan_poison import PoisonScan, scan_for_poison


@dataclass(frozen=True, slots=True)
class Curation:
    """What the cycle did."""

    consolidation: Consolidation
    episodes_archived: int
    insights_archived: int
    scan: PoisonScan


def curate(*, golem_id: UUID, actor: str, now: datetime) -> Curation:
    """Run the cycle; each part is safe to run twice. Raises MemoryOwnerUnknown."""
    # As a tool all of it is one transaction, so the golem's row is locked before any memory is.
    scan = scan_for_poison(now=now, golem_id=golem_id, actor=actor, limit=1_000)
    done = consolidate(golem_id=golem_id, now=now, actor=actor)
    faded = archive_forgotten_episodes(now=now, golem_id=golem_id)
    over = archive_over_cap(golem_id=golem_id, now=now)
    doubted = archive_doubted_insights(now=now, golem_id=golem_id)
    return Curation(done, faded + over, doubted, scan)
