"""Reads what was laid away of old permits, if it is what the audit log says, and sets how long records stay at hand.

`permits_app.execution.record_archives` lays away and brings back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction

from archetypes_app.models import Golem
from permits_app.errors import ArchiveBroken
from permits_app.models import ActionPermit, RecordArchive, RecordKeeping, TickArchive
from permits_app.models.record_archive import LEAST_DAYS
from tools_app.core import audit_log
from tools_app.core.audit_archives import find_entry
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.core.models import AuditArchive, AuditEntry
from tools_app.core.packed_lines import LinesDiffer, unpack

LAID_AWAY_EVENT: Final = "RecordsLaidAway"
MOST_DAYS: Final = 36_500
_MOST_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class KeptRecords:
    """How long records of an owner's golem stay at hand, and what of this golem was laid away, the newest first."""

    days: int
    is_chosen: bool
    archives: tuple[RecordArchive, ...]
    ticks: tuple[TickArchive, ...]
    entries: tuple[AuditArchive, ...]
    has_more: bool


def read_kept(*, golem_id: UUID, owner_id: int) -> KeptRecords:
    """Of one golem, without what its archives hold."""
    chosen = read_chosen_days(owner_id)
    permits, ticks, entries = (_list_newest(kind, golem_id) for kind in (RecordArchive, TickArchive, AuditArchive))
    days = max(LEAST_DAYS, int(settings.GOLEM_RECORDS_KEPT_DAYS) if chosen is None else chosen)
    return KeptRecords(
        days=days,
        is_chosen=chosen is not None,
        archives=permits[:_MOST_SHOWN],
        ticks=ticks[:_MOST_SHOWN],
        entries=entries[:_MOST_SHOWN],
        has_more=any(len(rows) > _MOST_SHOWN for rows in (permits, ticks, entries)),
    )


def _list_newest(kind: type[Any], golem_id: UUID) -> tuple[Any, ...]:  # Any: the rows of three tables
    return tuple(kind.objects.filter(golem_id=golem_id).defer("content").order_by("-number")[: _MOST_SHOWN + 1])


def read_chosen_days(owner_id: int) -> int | None:
    """How long an owner said that records of their golems stay at hand; None where they said nothing."""
    return RecordKeeping.objects.filter(person_id=owner_id).values_list("days", flat=True).first()


def keep_for(*, golem: Golem, days: int, now: datetime) -> None:
    """From the next hour on records of all golems of this one's owner stay at hand for so long. The golem at whose page
    they said it notes it. Raises InvalidParams.
    """
    with transaction.atomic():
        set_days(person_id=golem.owner_id, days=days)
        actor = f"owner:{golem.owner_id}"
        audit_log.append(golem_id=golem.pk, event="RecordDaysChanged", actor=actor, data={"days": days}, now=now)


def set_days(*, person_id: int, days: int) -> None:
    """Records of all golems of this person stay at hand for so long. Raises InvalidParams."""
    if not LEAST_DAYS <= days <= MOST_DAYS:
        raise InvalidParams(f"records are kept at hand for at least {LEAST_DAYS} days and at most {MOST_DAYS}")
    RecordKeeping.objects.update_or_create(person_id=person_id, defaults={"days": days})


def read_archive(*, golem_id: UUID, number: int) -> list[JsonObject] | None:
    """The lines of one archive; None where the golem has none of this number. Raises ArchiveBroken."""
    archive = RecordArchive.objects.filter(golem_id=golem_id, number=number).first()
    return None if archive is None else read_lines(archive)


def tell_archive(archive: RecordArchive) -> JsonObject:
    """What the audit log says of an archive."""
    return {
        "archive": archive.number,
        "permits": archive.permits,
        "transactions": archive.transactions,
        "sha256": archive.sha256,
        "from": archive.first_created_at.isoformat(),
        "to": archive.last_created_at.isoformat(),
    }


def read_lines(archive: RecordArchive) -> list[JsonObject]:
    """What was laid away, line by line. Raises ArchiveBroken where it is not what the audit log says."""
    return read_noted(archive, event=LAID_AWAY_EVENT, told=tell_archive(archive))


def read_noted(
    archive: RecordArchive | TickArchive, *, event: str, told: Mapping[str, object]
) -> list[dict[str, Any]]:  # Any: columns of any table
    """The lines of an archive of which an entry of the audit log, laid away or not, says what is `told`.

    Raises ArchiveBroken and AuditArchiveBroken.
    """
    try:
        lines = unpack(content=bytes(archive.content), sha256=archive.sha256)
    except LinesDiffer as error:
        raise _broken(archive, str(error)) from None
    noted = _find_note(archive, event)
    if noted is None or noted.data != told:
        raise _broken(archive, "the audit log does not say the same of it")
    return lines


def _find_note(archive: RecordArchive | TickArchive, event: str) -> AuditEntry | None:
    if archive.audit_seq is None:
        # Of before archives said which entry it is.
        entries = AuditEntry.objects.filter(golem_id=archive.golem_id)
        return entries.filter(event=event, data__archive=archive.number).first()
    found = find_entry(archive.golem_id, archive.audit_seq)
    return found if found is not None and found.event == event else None


def read_permit(permit_id: UUID) -> list[JsonObject] | None:
    """The lines of one permit: what it was judged on, then its receipts; None where it was not laid away.

    Raises ArchiveBroken.
    """
    permit = ActionPermit.objects.filter(pk=permit_id).only("golem_id", "created_at").first()
    if permit is None:
        return None
    around = RecordArchive.objects.filter(
        golem_id=permit.golem_id, first_created_at__lte=permit.created_at, last_created_at__gte=permit.created_at
    )
    for archive in around.order_by("number"):
        found = [line for line in read_lines(archive) if line["permit"] == str(permit_id)]
        if found:
            return found
    return None


def _broken(archive: RecordArchive | TickArchive, why: str) -> ArchiveBroken:
    words = "archive of ticks" if isinstance(archive, TickArchive) else "archive"
    return ArchiveBroken(f"{words} {archive.number} of golem {archive.golem_id}: {why}")
