"""Entries of the audit log that were laid away, read as if they still stood in it.

An archive is believed as far as a checkpoint covers it: its entries are hashed again, linked, and end at what was
signed. Whoever reads a chain reads archives first, in order, and the rows behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import Q

from tools_app.core.audit_log import GENESIS_HASH, LinkCheck
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.models import AuditArchive, AuditCheckpoint, AuditEntry, AuditHead
from tools_app.core.packed_lines import LinesDiffer, unpack

ENTRY_MEMBERS: Final = (
    "seq",
    "prev_hash",
    "timestamp_ms",
    "heartbeat_tick",
    "event",
    "actor",
    "data",
    "entry_hash",
)
"""Columns of an entry that exports and archives write, one object a line, under "entry"."""
_ENTRY: Final = itemgetter("entry")
_PAGE: Final = 1_000
_MOST_ARCHIVES: Final = 4
"""What belongs together was written within days: no page reads more of them."""


class AuditArchiveBroken(
    GolemError,
    status=500,
    recovery=Recovery.ASK_OWNER,
    title="An archive of the audit log is not what was laid away",
):
    """It is missing, out of order, or its entries do not lead to what was signed; `data` has archive and seq.

    What was lost is brought back from a backup: rows that an archive has are nowhere else.
    """

    seq: int = 0


def break_off(*, number: int, seq: int, why: str) -> AuditArchiveBroken:
    """The error of one archive, which names the first entry that cannot be shown."""
    words = f"archive {number} of the audit log: {why}; an operator brings it back from a backup"
    error = AuditArchiveBroken(words, archive=number, seq=seq)
    error.seq = seq
    return error


def tell_entry(entry: AuditEntry) -> dict[str, dict[str, Any]]:  # Any: an entry's data is of its event
    """An entry as a line of exports and archives."""
    return {"entry": {name: getattr(entry, name) for name in ENTRY_MEMBERS}}


def read_entries(golem_id: UUID, *, up_to: int) -> Iterator[AuditEntry]:
    """The golem's entries in order up to number `up_to`, from archives and log, without holding them all in memory.

    Also while some are laid away. Raises AuditArchiveBroken.
    """
    seq, number = 1, 1
    while seq <= up_to:
        archive = _find_next(golem_id, seq)
        rows = [] if archive is not None else _list_rows(golem_id, seq, up_to)
        if archive is None and (not rows or rows[0].seq != seq):
            # What stood there may have been laid away since it was asked for.
            archive = _find_next(golem_id, seq)
        if archive is not None:
            _check_place(archive, seq=seq, number=number)
            yield from (entry for entry in read_archive(archive) if seq <= entry.seq <= up_to)
            seq, number = archive.last_seq + 1, archive.number + 1
            continue
        if number:
            _check_none_is_missing(golem_id, number=number, seq=seq, next_seq=rows[0].seq if rows else up_to + 1)
        yield from rows
        if len(rows) < _PAGE:
            return
        seq = rows[-1].seq + 1
        number = 0


def _find_next(golem_id: UUID, seq: int) -> AuditArchive | None:
    return AuditArchive.objects.filter(golem_id=golem_id, last_seq__gte=seq).order_by("last_seq").first()


def _list_rows(golem_id: UUID, seq: int, up_to: int) -> list[AuditEntry]:
    rows = AuditEntry.objects.filter(golem_id=golem_id, seq__gte=seq, seq__lte=up_to)
    return list(rows.order_by("seq")[:_PAGE])


def _check_none_is_missing(golem_id: UUID, *, number: int, seq: int, next_seq: int) -> None:
    """Raises AuditArchiveBroken where the log goes on behind a checkpoint: an archive ended there, and is gone."""
    if next_seq > seq and AuditCheckpoint.objects.filter(golem_id=golem_id, seq=next_seq - 1).exists():
        why = f"it is gone, and so are entries {seq} to {next_seq - 1}, which stand nowhere else"
        raise break_off(number=number, seq=seq, why=why)


def _check_place(archive: AuditArchive, *, seq: int, number: int) -> None:
    # Where rows were read before it (`number` 0), it was made meanwhile and may begin among them.
    is_next = archive.first_seq <= seq if number == 0 else (archive.first_seq, archive.number) == (seq, number)
    if not is_next:
        why = f"entry {seq} stands in none: one before it is missing, or it is out of order"
        raise break_off(number=archive.number, seq=seq, why=why)


def read_archive(archive: AuditArchive) -> list[AuditEntry]:
    """Its entries, hashed and linked again up to what its checkpoint says. Raises AuditArchiveBroken."""
    try:
        rows = unpack(content=bytes(archive.content), sha256=archive.sha256)
        entries = [AuditEntry(golem_id=archive.golem_id, **told) for told in map(_ENTRY, rows)]
    except (LinesDiffer, KeyError, TypeError) as error:
        raise break_off(number=archive.number, seq=archive.first_seq, why=str(error)) from None
    start = entries[0].prev_hash if entries and archive.first_seq > 1 else GENESIS_HASH
    check = LinkCheck(after=archive.first_seq - 1, last_hash=start)
    for entry in entries:
        broken = check.add(entry)
        if broken is not None:
            raise break_off(number=archive.number, seq=broken.seq, why=f"entry {broken.seq}: {broken.reason}")
    if (check.count, check.last_hash) != (archive.last_seq, archive.last_hash):
        why = f"its entries end at {check.count}, and it says {archive.last_seq} with another hash"
        raise break_off(number=archive.number, seq=check.count + 1, why=why)
    point = AuditCheckpoint.objects.filter(golem_id=archive.golem_id, seq=archive.last_seq).first()
    if point is None or point.entry_hash != archive.last_hash:
        why = f"no checkpoint says the same of its last entry, {archive.last_seq}"
        raise break_off(number=archive.number, seq=archive.last_seq, why=why)
    return entries


def check_nothing_stands_twice(golem_id: UUID) -> None:
    """Raises AuditArchiveBroken where an entry stands in the log though an archive has it."""
    archives = AuditArchive.objects.filter(golem_id=golem_id).order_by("-last_seq")
    last = archives.values_list("last_seq", "number").first()
    if last is None:
        return
    again = AuditEntry.objects.filter(golem_id=golem_id, seq__lte=last[0]).order_by("seq").values_list("seq", flat=True)
    seq = again.first()
    if seq is not None:
        raise break_off(number=last[1], seq=seq, why=f"entry {seq} was laid away and stands in the log again")


def find_entry(golem_id: UUID, seq: int) -> AuditEntry | None:
    """One entry, from the log or the archive that has it. Raises AuditArchiveBroken."""
    row = next(iter(AuditEntry.objects.filter(golem_id=golem_id, seq=seq)), None)
    if row is not None:
        return row
    archive = _find_next(golem_id, seq)
    if archive is None or archive.first_seq > seq:
        return None
    return read_archive(archive)[seq - archive.first_seq]


def list_about(
    golem_id: UUID, *, facts: Mapping[str, str], since: datetime, until: datetime, most: int
) -> list[AuditEntry]:
    """Entries whose data says one of `facts` (permit_id, request_id), oldest first, `most` at most.

    Of what was laid away those that were written between `since` and `until`. Raises AuditArchiveBroken.
    """
    found: list[AuditEntry] = []
    archives = AuditArchive.objects.filter(
        golem_id=golem_id, first_at_ms__lte=_milliseconds(until), last_at_ms__gte=_milliseconds(since)
    )
    for archive in archives.order_by("number")[:_MOST_ARCHIVES]:
        found += [
            entry
            for entry in read_archive(archive)
            if any(entry.data.get(name) == value for name, value in facts.items())
        ]
    for name, value in facts.items():
        # The index of this member holds rows that have it.
        rows = AuditEntry.objects.filter(Q(golem_id=golem_id, data__has_key=name) & Q(**{f"data__{name}": value}))
        found += rows.order_by("seq")[:most]
    return sorted({entry.seq: entry for entry in found}.values(), key=lambda entry: entry.seq)[:most]


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000)


def list_newest(golem_ids: Sequence[UUID], *, most: int) -> list[AuditEntry]:
    """The newest entries of these golems that stand in the log: no more than `most` of each are looked at."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, {"golems": list(golem_ids), "most": most})
        numbers = [pk for (pk,) in cursor.fetchall()]
    return list(AuditEntry.objects.filter(pk__in=numbers).order_by("-timestamp_ms", "-seq"))


_NEWEST: Final = f"""
SELECT entry.id FROM {AuditHead._meta.db_table} AS head
 CROSS JOIN LATERAL (
    SELECT id, timestamp_ms, seq FROM {AuditEntry._meta.db_table}
     WHERE golem_id = head.golem_id ORDER BY seq DESC LIMIT %(most)s) AS entry
 WHERE head.golem_id = ANY(%(golems)s)
 ORDER BY entry.timestamp_ms DESC, entry.seq DESC LIMIT %(most)s
"""  # noqa: S608  (the tables' own names)
