"""Lays away old entries of one chain: packs them up to a checkpoint, reads that again, and then lets the rows go.

The rows go by one function of the database, which compares each with the lines that are packed; nothing else deletes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection, transaction

from tools_app.core import audit_key
from tools_app.core.audit_archives import break_off, read_archive, tell_entry
from tools_app.core.audit_checkpoints import has_valid_signature
from tools_app.core.models import AuditArchive, AuditCheckpoint, AuditEntry
from tools_app.core.packed_lines import pack
from tools_app.core.transaction_retry import retry_aborted

LEAST_ENTRIES: Final = 200
"""A quiet golem's few entries stay where they are: an archive has as many at least."""


@retry_aborted
def lay_away_entries(*, golem_id: UUID, before: datetime, now: datetime) -> AuditArchive | None:
    """Lay away the next entries, if a checkpoint covers them that was signed before `before`; None where there is none.

    Raises AuditArchiveBroken and AuditKeyDiffers: then all rows stay.
    """
    own_key = audit_key.name(audit_key.load_to_sign())
    with transaction.atomic():
        # Two runs at once would number alike. The chain's head is not locked: whoever writes waits for nobody here.
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"audit archive {golem_id}"])
        last = AuditArchive.objects.filter(golem_id=golem_id).order_by("-number").defer("content").first()
        done = last.last_seq if last is not None else 0
        point = find_point(golem_id, after=done)
        if point is None or point.signed_at_ms >= int(before.timestamp() * 1_000):
            return None
        number = last.number + 1 if last is not None else 1
        if point.public_key != own_key or not has_valid_signature(point):
            raise break_off(number=number, seq=point.seq, why="the signature of its checkpoint does not hold")
        rows = AuditEntry.objects.filter(golem_id=golem_id, seq__gt=done, seq__lte=point.seq)
        entries = list(rows.order_by("seq"))
        if not entries or entries[0].seq != done + 1:
            raise break_off(number=number, seq=done + 1, why=f"entry {done + 1} is missing in the log")
        if last is not None and entries[0].prev_hash != last.last_hash:
            raise break_off(number=number, seq=done + 1, why="its first entry does not follow the archive before it")
        packed = pack(tell_entry(entry) for entry in entries)
        made = AuditArchive.objects.create(
            golem_id=golem_id,
            number=number,
            first_seq=done + 1,
            last_seq=point.seq,
            first_at_ms=min(entry.timestamp_ms for entry in entries),
            last_at_ms=max(entry.timestamp_ms for entry in entries),
            last_hash=point.entry_hash,
            sha256=packed.sha256,
            content=packed.content,
            laid_away_at=now,
        )
        # As it will be read when the rows are gone.
        made.refresh_from_db()
        read_archive(made)
        with connection.cursor() as cursor:
            cursor.execute("SELECT lay_away_audit_entries(%s, %s)", [made.pk, packed.lines])
    return made


def find_point(golem_id: UUID, *, after: int) -> AuditCheckpoint | None:
    """The first checkpoint that covers enough entries for an archive."""
    points = AuditCheckpoint.objects.filter(golem_id=golem_id, seq__gte=after + LEAST_ENTRIES)
    return points.order_by("seq").first()
