"""One archive of a golem by its kind and number, as lines that pages and commands hand out once they hold."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from permits_app.permits.read_record_archives import read_archive
from permits_app.permits.read_tick_archives import read_tick_archive
from tools_app.core import audit_archives
from tools_app.core.models import AuditArchive

ARCHIVE_KINDS: Final = ("records", "ticks", "audit")


def read_any(kind: str, *, golem_id: UUID, number: int) -> list[dict[str, Any]] | None:  # Any: columns of any table
    """The lines of one archive; None where the golem has none of this number. Raises ArchiveBroken and
    AuditArchiveBroken.
    """
    if kind == "ticks":
        return read_tick_archive(golem_id=golem_id, number=number)
    if kind == "records":
        return read_archive(golem_id=golem_id, number=number)
    archive = AuditArchive.objects.filter(golem_id=golem_id, number=number).first()
    return None if archive is None else [audit_archives.tell_entry(row) for row in audit_archives.read_archive(archive)]
