"""Reads what was laid away of old permits, if it is what the audit log says, and sets how long records stay at hand.

`permits_app.execution.record_archives` lays away and brings back.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction

from archetypes_app.models import Golem
from permits_app.errors import ArchiveBroken
from permits_app.models import ActionPermit, RecordArchive, RecordKeeping
from permits_app.models.record_archive import LEAST_DAYS
from tools_app.core import audit_log
from tools_app.core.bounded_parsing import read_exact_json
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.core.models import AuditEntry

LAID_AWAY_EVENT: Final = "RecordsLaidAway"
MOST_DAYS: Final = 36_500
_MOST_LINE_BYTES: Final = 16 * 1024 * 1024
_MOST_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class KeptRecords:
    """How long records of an owner's golem stay at hand, and what of this golem was laid away, the newest first."""

    days: int
    is_chosen: bool
    archives: tuple[RecordArchive, ...]
    has_more: bool


def read_kept(*, golem_id: UUID, owner_id: int) -> KeptRecords:
    """Of one golem, without what its archives hold."""
    chosen = read_chosen_days(owner_id)
    rows = RecordArchive.objects.filter(golem_id=golem_id).defer("content").order_by("-number")
    found = list(rows[: _MOST_SHOWN + 1])
    days = max(LEAST_DAYS, int(settings.GOLEM_RECORDS_KEPT_DAYS) if chosen is None else chosen)
    return KeptRecords(days, chosen is not None, tuple(found[:_MOST_SHOWN]), len(found) > _MOST_SHOWN)


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
    try:
        lines = zlib.decompress(bytes(archive.content))
    except zlib.error:
        raise _broken(archive, "it cannot be unpacked") from None
    if hashlib.sha256(lines).hexdigest() != archive.sha256:
        raise _broken(archive, "its lines have another fingerprint than it says")
    noted = _find_note(archive)
    if noted is None or noted.data != tell_archive(archive):
        raise _broken(archive, "the audit log does not say the same of it")
    return [read_exact_json(line.decode(), most_bytes=_MOST_LINE_BYTES) for line in lines.splitlines()]


def _find_note(archive: RecordArchive) -> AuditEntry | None:
    entries = AuditEntry.objects.filter(golem_id=archive.golem_id)
    if archive.audit_seq is None:
        # Of before archives said which entry it is.
        return entries.filter(event=LAID_AWAY_EVENT, data__archive=archive.number).first()
    found = next(iter(entries.filter(seq=archive.audit_seq)), None)
    return found if found is not None and found.event == LAID_AWAY_EVENT else None


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


def _broken(archive: RecordArchive, why: str) -> ArchiveBroken:
    return ArchiveBroken(f"archive {archive.number} of golem {archive.golem_id}: {why}")
