"""Reads what old ticks saw and thought, once it was laid away, as if it still stood in their rows.

`permits_app.execution.tick_archives` lays away and brings back.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from archetypes_app.models import DecisionCycleRecord
from permits_app.errors import ArchiveBroken
from permits_app.models import TickArchive
from permits_app.permits.read_record_archives import read_noted

TICKS_LAID_AWAY: Final = "TicksLaidAway"
SEEN: Final = (
    "anomalies",
    "context_summary",
    "deliberation",
    "episodes_written",
    "interventions",
    "observation",
    "pad_after",
    "pad_before",
    "probes",
)
"""Columns of a decision that tell what a tick saw and thought; the others, of which years are summed up, stay."""
NUMBER_OF: Final = itemgetter("tick")
"""The number of a line's tick."""
MARK: Final = "archive"
"""In `deliberation` of a row whose columns were laid away: the number of the golem's archive that has them."""


def tell_tick_archive(archive: TickArchive) -> dict[str, object]:
    """What the audit log says of an archive."""
    return {
        "archive": archive.number,
        "decisions": archive.decisions,
        "sha256": archive.sha256,
        "from": str(archive.first_tick),
        "to": str(archive.last_tick),
    }


def read_tick_lines(archive: TickArchive) -> list[dict[str, Any]]:  # Any: the JSON of a tick
    """What was laid away, line by line. Raises ArchiveBroken where it is not what the audit log says."""
    return read_noted(archive, event=TICKS_LAID_AWAY, told=tell_tick_archive(archive))


def read_tick_archive(*, golem_id: UUID, number: int) -> list[dict[str, Any]] | None:  # Any: the JSON of a tick
    """The lines of one archive; None where the golem has none of this number. Raises ArchiveBroken."""
    archive = TickArchive.objects.filter(golem_id=golem_id, number=number).first()
    return None if archive is None else read_tick_lines(archive)


def fill_laid_away(rows: Sequence[DecisionCycleRecord]) -> None:
    """Give rows of one golem, where they were laid away, what they said; nothing is stored. Raises ArchiveBroken."""
    packed = [row for row in rows if is_laid_away(row)]
    for number in sorted({int(row.deliberation[MARK]) for row in packed}):
        lines = read_tick_archive(golem_id=packed[0].golem_id, number=number)
        known = {NUMBER_OF(line): line for line in lines or ()}
        for row in packed:
            if row.deliberation.get(MARK) != number:
                continue
            if row.heartbeat_tick not in known:
                raise ArchiveBroken(
                    f"archive of ticks {number} of golem {row.golem_id}: it has no tick {row.heartbeat_tick}"
                )
            for name in SEEN:
                setattr(row, name, known[row.heartbeat_tick][name])


def is_laid_away(row: DecisionCycleRecord) -> bool:
    """Whether an archive has what this tick saw and thought."""
    return isinstance(row.deliberation.get(MARK), int)
