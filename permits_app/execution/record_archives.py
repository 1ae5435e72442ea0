"""Lays away what old permits were judged on and the logs of their receipts, packed, and brings it back as it was.

Rows stay, with what statements, limits and pages of money read; what was simulated, asked and decided goes, and so do
the logs of receipts, which together are half of a permit's bytes. The fingerprint of each archive is an entry of the
golem's audit chain, which checkpoints sign: whoever reads one knows that it is what was laid away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.errors import ArchiveBroken
from permits_app.execution.due_archives import DueRows, list_due
from permits_app.execution.payload_states import LAID_AWAY
from permits_app.models import ActionPermit, OutboundTransaction, RecordArchive
from permits_app.models.transaction import TransactionState
from permits_app.permits.lifecycle import FINAL
from permits_app.permits.read_record_archives import LAID_AWAY_EVENT, read_lines, tell_archive
from tools_app.core import audit_log
from tools_app.core.packed_lines import pack
from tools_app.core.transaction_retry import retry_aborted

JUDGED_ON: Final = ("code", "facts", "hook_decisions", "prices", "simulation")
"""Columns of a permit that are read while it is judged, tried again, or looked at."""
_EMPTY: Final[dict[str, object]] = {"code": {}, "facts": {}, "hook_decisions": [], "prices": [], "simulation": {}}
_BATCH: Final = 200
_MOST_ARCHIVES: Final = 20
_ACTOR: Final = "system:archive"
_BACK: Final = "RecordsBroughtBack"
_DONE: Final = [str(TransactionState.FINAL), str(TransactionState.DROPPED)]


@dataclass(frozen=True, slots=True)
class LaidAway:
    """What one run did."""

    archives: int
    permits: int


def lay_away_old_records(*, now: datetime, owner_id: int | None = None) -> LaidAway:
    """Lay away what is older than its golem's owner keeps, at most _MOST_ARCHIVES archives a run; safe to repeat."""
    archives = permits = 0
    for due in list_due(_DUE, now=now, owner_id=owner_id, most=_MOST_ARCHIVES):
        while archives < _MOST_ARCHIVES and (made := _lay_away(due.golem_id, before=due.before, now=now)) is not None:
            archives, permits = archives + 1, permits + made.permits
    return LaidAway(archives, permits)


_DUE: Final = DueRows(
    last=f"""
SELECT last_created_at AS at, last_permit_id AS id FROM {RecordArchive._meta.db_table}
 WHERE golem_id = golem.id ORDER BY number DESC LIMIT 1""",  # noqa: S608  (the tables' own names)
    condition=f"""
EXISTS (
    SELECT 1 FROM {ActionPermit._meta.db_table} AS permit
     WHERE permit.golem_id = golem.id AND permit.created_at < kept.before
       AND permit.created_at >= COALESCE(last.at, '-infinity')
       AND (last.id IS NULL OR permit.created_at > last.at OR permit.id > last.id))""",  # noqa: S608
)


@retry_aborted
def _lay_away(golem_id: UUID, *, before: datetime, now: datetime) -> RecordArchive | None:
    with transaction.atomic():
        # Two runs at once would number alike; the second finds what the first left.
        Golem.objects.select_for_update(no_key=True).get(pk=golem_id)
        last = RecordArchive.objects.filter(golem_id=golem_id).order_by("-number").defer("content").first()
        rows = _list_next(golem_id, last, before)
        if not rows:
            return None
        permits = [row for row in rows if row.status in FINAL]
        sent = list(
            OutboundTransaction.objects.filter(permit__in=permits, state__in=_DONE)
            .exclude(Q(receipt={}) | Q(receipt__has_key=LAID_AWAY))
            .order_by("pk")
        )
        packed = pack(_describe_rows(permits, sent))
        archive = RecordArchive.objects.create(
            golem_id=golem_id,
            number=last.number + 1 if last is not None else 1,
            first_created_at=rows[0].created_at,
            last_created_at=rows[-1].created_at,
            last_permit_id=rows[-1].pk,
            permits=len(permits),
            transactions=len(sent),
            sha256=packed.sha256,
            content=packed.content,
        )
        ActionPermit.objects.filter(pk__in=[row.pk for row in permits]).update(**_EMPTY)
        for each in sent:
            kept = {name: value for name, value in each.receipt.items() if name != "logs"}
            OutboundTransaction.objects.filter(pk=each.pk).update(receipt={**kept, LAID_AWAY: archive.number})
        # Last, as everywhere: the head of the chain is locked after all rows.
        noted = audit_log.append(
            golem_id=golem_id, event=LAID_AWAY_EVENT, actor=_ACTOR, data=tell_archive(archive), now=now
        )
        RecordArchive.objects.filter(pk=archive.pk).update(audit_seq=noted.seq)
    return archive


def _list_next(golem_id: UUID, last: RecordArchive | None, before: datetime) -> Sequence[ActionPermit]:
    rows = ActionPermit.objects.filter(golem_id=golem_id, created_at__lt=before)
    if last is not None:
        same = Q(created_at=last.last_created_at, pk__gt=last.last_permit_id)
        rows = rows.filter(same | Q(created_at__gt=last.last_created_at), created_at__gte=last.last_created_at)
    columns = ("created_at", "status", *JUDGED_ON)
    return list(rows.select_for_update(of=("self",), no_key=True).order_by("created_at", "pk").only(*columns)[:_BATCH])


def _describe_rows(
    permits: Sequence[ActionPermit], sent: Sequence[OutboundTransaction]
) -> Iterator[Mapping[str, object]]:
    for row in permits:
        yield {"permit": str(row.pk), **{name: getattr(row, name) for name in JUDGED_ON}}
    for each in sent:
        yield {"transaction": each.tx_hash, "permit": str(each.permit_id), "receipt": each.receipt}


@retry_aborted
def bring_back(*, golem_id: UUID, number: int, actor: str, now: datetime) -> RecordArchive:
    """Make the rows of an archive whole again; it stays, and is not laid away a second time. Raises ArchiveBroken."""
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True).get(pk=golem_id)
        archive = RecordArchive.objects.filter(golem_id=golem_id, number=number).first()
        if archive is None:
            raise ArchiveBroken(f"this golem has no archive {number}")
        for line in read_lines(archive):
            if "transaction" in line:
                rows = OutboundTransaction.objects.filter(tx_hash=line["transaction"])
                rows.filter(receipt__has_key=LAID_AWAY).update(receipt=line["receipt"])
            else:
                ActionPermit.objects.filter(pk=line["permit"]).update(**{name: line[name] for name in JUDGED_ON})
        archive.brought_back_at = now
        archive.save(update_fields=["brought_back_at", "updated_at"])
        audit_log.append(golem_id=golem_id, event=_BACK, actor=actor, data=tell_archive(archive), now=now)
    return archive
