"""Signed checkpoints of audit chains, and a proof of a whole chain: hashes, links, head and signatures.

A checkpoint signs (golem, seq, entry hash, time) with the server's Ed25519 key, so that even somebody who can rewrite
the database cannot rewrite what lies before it without that key.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from Crypto.Signature import eddsa
from django.conf import settings
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from tools_app.core import audit_key
from tools_app.core.audit_archives import AuditArchiveBroken, check_nothing_stands_twice, read_entries
from tools_app.core.audit_key import AuditKeyDiffers
from tools_app.core.audit_log import BrokenLink, LinkCheck
from tools_app.core.hashing import canonical_bytes
from tools_app.core.models import AuditCheckpoint, AuditEntry, AuditHead

if TYPE_CHECKING:
    from Crypto.PublicKey import ECC

logger = logging.getLogger(__name__)

_DAY = timedelta(days=1)
_SIGNED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What a verification found: entries read, checkpoints that hold, and the first thing that does not."""

    entries: int
    checkpoints: int
    broken: BrokenLink | None
    public_keys: tuple[str, ...] = ()


def sign_due_checkpoints(*, now: datetime) -> int:
    """Sign the head of every chain that grew enough, or for a day, since its last checkpoint. Returns how many.

    One statement finds them, and one writes some hundreds, however many chains there are. Raises AuditKeyDiffers.
    """
    heads = AuditHead.objects.annotate(
        signed_seq=Coalesce(Subquery(_newest_of_head("seq")), 0),
        signed_at_ms=Coalesce(Subquery(_newest_of_head("signed_at_ms")), 0),
    )
    day_ago_ms = int(now.timestamp() * 1000) - int(_DAY.total_seconds()) * 1000
    has_grown_enough = Q(seq__gte=F("signed_seq") + settings.GOLEM_AUDIT_CHECKPOINT_ENTRIES)
    due = heads.filter(has_grown_enough | Q(seq__gt=F("signed_seq"), signed_at_ms__lte=day_ago_ms), seq__gt=0)
    key: ECC.EccKey | None = None
    signed, waiting = 0, list(due.values_list("golem_id", "seq", "entry_hash"))
    for begin in range(0, len(waiting), _SIGNED_AT_ONCE):
        # One look a round at who signed last, and none where nothing is due.
        key = key or audit_key.load_to_sign()
        some = [_sign(key, *each, now=now) for each in waiting[begin : begin + _SIGNED_AT_ONCE]]
        signed += len(AuditCheckpoint.objects.bulk_create(some, ignore_conflicts=True))
    return signed


def _newest_of_head(field: str) -> QuerySet[AuditCheckpoint, int]:
    """That field of the newest checkpoint of a head's chain, as a subquery."""
    newest = AuditCheckpoint.objects.filter(golem_id=OuterRef("golem_id")).order_by("-seq")
    return newest.values_list(field, flat=True)[:1]


def sign_head(*, golem_id: UUID, now: datetime) -> bool:
    """Sign the newest entry of one chain at once; False when it has a checkpoint already, there is none, or this
    machine has another key than the server: then a machine that has it signs with the next checkpoints.
    """
    head = AuditHead.objects.filter(golem_id=golem_id, seq__gt=0).first()
    if head is None:
        return False
    try:
        return sign_checkpoint(golem_id=golem_id, seq=head.seq, entry_hash=head.entry_hash, now=now)
    except AuditKeyDiffers as error:
        logger.warning("the end of the log of %s is signed later: %s", golem_id, error.code)
        return False


def sign_checkpoint(*, golem_id: UUID, seq: int, entry_hash: str, now: datetime) -> bool:
    """Sign one point of one chain; False when it has a checkpoint already. Raises AuditKeyDiffers."""
    point = _sign(audit_key.load_to_sign(), golem_id, seq, entry_hash, now=now)
    _, created = AuditCheckpoint.objects.get_or_create(
        golem_id=golem_id,
        seq=seq,
        defaults={
            "entry_hash": point.entry_hash,
            "signed_at_ms": point.signed_at_ms,
            "public_key": point.public_key,
            "signature": point.signature,
        },
    )
    return created


def _sign(key: ECC.EccKey, golem_id: UUID, seq: int, entry_hash: str, *, now: datetime) -> AuditCheckpoint:
    """The checkpoint, not saved."""
    signed_at_ms = int(now.timestamp() * 1000)
    message = _message(golem_id=str(golem_id), seq=seq, entry_hash=entry_hash, signed_at_ms=signed_at_ms)
    return AuditCheckpoint(
        golem_id=golem_id,
        seq=seq,
        entry_hash=entry_hash,
        signed_at_ms=signed_at_ms,
        public_key=audit_key.name(key),
        signature=eddsa.new(key, "rfc8032").sign(message).hex(),
    )


def has_valid_signature(checkpoint: AuditCheckpoint) -> bool:
    """Whether the checkpoint's own public key signed it."""
    try:
        key = eddsa.import_public_key(bytes.fromhex(checkpoint.public_key))
        eddsa.new(key, "rfc8032").verify(_message_of(checkpoint), bytes.fromhex(checkpoint.signature))
    except ValueError:
        return False
    return True


def verify_chain(
    *,
    entries: Iterable[AuditEntry],
    checkpoints: Iterable[AuditCheckpoint],
    head: tuple[int, str] | None,
    trusted_key: str | None = None,
) -> ChainReport:
    """Check one chain from its first entry on. `trusted_key` (hex), when given, must have signed every checkpoint."""
    waiting = {point.seq: point for point in checkpoints}
    total = len(waiting)
    keys = tuple(sorted({point.public_key for point in waiting.values()}))
    check = LinkCheck()
    for entry in entries:
        broken = check.add(entry)
        point = waiting.pop(entry.seq, None) if broken is None else None
        if point is not None:
            broken = _judge_point(point, entry.entry_hash, trusted_key)
        if broken is not None:
            return ChainReport(check.count, total - len(waiting), broken, keys)
    if waiting:
        seq = min(waiting)
        lost = BrokenLink(check.count + 1, f"the chain ends at {check.count}, but entry {seq} was signed")
        return ChainReport(check.count, total - len(waiting), lost, keys)
    if head is not None and head != (check.count, check.last_hash):
        lost = BrokenLink(check.count + 1, f"the chain ends at {check.count}, its head says {head[0]}")
        return ChainReport(check.count, total, lost, keys)
    return ChainReport(check.count, total, None, keys)


def verify_stored_chain(golem_id: UUID) -> ChainReport:
    """Check the chain of one golem in the database and its archives, with this server's key as the only trusted one."""
    head = AuditHead.objects.filter(golem_id=golem_id).first()
    seq, last_hash = (head.seq, head.entry_hash) if head is not None else (0, LinkCheck().last_hash)
    points = list(AuditCheckpoint.objects.filter(golem_id=golem_id).order_by("seq"))
    up_to = max([seq, *(point.seq for point in points)])
    try:
        report = verify_chain(
            entries=read_entries(golem_id, up_to=up_to),
            checkpoints=points,
            head=(seq, last_hash) if not points or points[-1].seq <= seq else None,
            trusted_key=audit_key.name(audit_key.load()),
        )
        if report.broken is None:
            check_nothing_stands_twice(golem_id)
    except AuditArchiveBroken as error:
        keys = tuple(sorted({point.public_key for point in points}))
        return ChainReport(0, 0, BrokenLink(error.seq, tell_broken(error)), keys)
    return report


def tell_broken(error: AuditArchiveBroken) -> str:
    """An archive that does not hold, in one line: code, what is wrong, and whom to ask."""
    return f"{error.code}: {error.detail} ({error.recovery})"


def _judge_point(point: AuditCheckpoint, entry_hash: str, trusted_key: str | None) -> BrokenLink | None:
    if point.entry_hash != entry_hash:
        return BrokenLink(point.seq, "the signed checkpoint holds another hash of it")
    if not has_valid_signature(point):
        return BrokenLink(point.seq, "the signature of its checkpoint does not hold")
    if trusted_key is not None and point.public_key != trusted_key:
        return BrokenLink(point.seq, "its checkpoint was signed with another key than this server's")
    return None


def _message_of(point: AuditCheckpoint) -> bytes:
    return _message(
        golem_id=str(point.golem_id), seq=point.seq, entry_hash=point.entry_hash, signed_at_ms=point.signed_at_ms
    )


def _message(**facts: object) -> bytes:
    return b"golem audit checkpoint\n" + canonical_bytes(facts)
