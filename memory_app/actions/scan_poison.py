"""Search stored memories for texts that try to steer, and for one statement planted many times; quarantine both.

Runs every hour over what was not scanned since the signs last changed, and at once when an owner asks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from archetypes_app.models import Golem
from memory_app import bend_embeddings, embedding
from memory_app.models import Episode, EpisodeVector, Insight
from memory_app.models.provenance import Source
from memory_app.near_duplicates import make_near_keys
from memory_app.poison import describe_poison, find_poison
from memory_app.prompt_injection_score import find_steering
from memory_app.redact_unverified_facts import is_only_said
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted

FLOOD = 20
"""This many near-equal statements of an agent or an import are a flood, not experience."""
FLOODED = "poison scan: the same statement was planted many times"


@dataclass(frozen=True, slots=True)
class PoisonScan:
    """What one scan read and put aside."""

    scanned: int
    quarantined: int


def scan_for_poison(
    *,
    now: datetime,
    golem_id: UUID | None = None,
    limit: int = 5_000,
    actor: str = "system:memory",
    again: bool = False,
) -> PoisonScan:
    """Scan up to `limit` episodes and insights that were not scanned yet (or, with `again`, the longest unscanned).

    What is found is quarantined with its reason, one audit entry and one event a golem. Safe to run twice at once.
    """
    scanned, quarantined = 0, 0
    for owner in [golem_id] if golem_id is not None else _list_golems(again):
        if scanned >= limit:
            break
        of_one = _scan_golem(owner, limit=limit - scanned, actor=actor, again=again, now=now)
        scanned, quarantined = scanned + of_one.scanned, quarantined + of_one.quarantined
    return PoisonScan(scanned=scanned, quarantined=quarantined)


def _list_golems(again: bool) -> list[UUID]:
    unscanned = Q(is_quarantined=False) & (Q() if again else Q(scanned_at__isnull=True))
    writes = Q(source__in=[Source.AGENT, Source.IMPORT], is_quarantined=False)
    rows = (Episode.objects.filter(unscanned | writes), Insight.objects.filter(unscanned))
    return sorted({pk for each in rows for pk in each.order_by().values_list("golem_id", flat=True).distinct()})


@retry_aborted
def _scan_golem(golem_id: UUID, *, limit: int, actor: str, again: bool, now: datetime) -> PoisonScan:
    found: list[str] = []
    scanned = 0
    with transaction.atomic():
        # The golem's row first, as everywhere: who writes memories holds it too.
        list(Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk"))
        for model in (Episode, Insight):
            rows = model.objects.filter(golem_id=golem_id, is_quarantined=False)
            rows = rows.filter(Q() if again else Q(scanned_at__isnull=True))
            ordered = rows.order_by("scanned_at", "pk") if again else rows.order_by("pk")
            for row in ordered.defer("search").select_for_update(no_key=True, skip_locked=True, of=("self",))[:limit]:
                scanned += 1
                columns = _scan(row, now)
                model.objects.filter(pk=row.pk).update(**columns)
                if "is_quarantined" in columns:
                    found.append(str(row.pk))
        found.extend(_quarantine_floods(golem_id))
        if found:
            _announce(golem_id, found, actor, now)
    return PoisonScan(scanned=scanned, quarantined=len(found))


def _scan(row: Episode | Insight, now: datetime) -> dict[str, object]:
    """What changes in its row. What only waits for a process that has the model stays to be scanned."""
    columns: dict[str, object] = {"scanned_at": now}
    if isinstance(row, Episode):
        said, text = row.summary, f"{row.summary}\n{row.search_text}\n{row.outcome}"
        if not row.near_keys and row.permit_id is None:
            columns["near_keys"] = make_near_keys(row.summary)
    else:
        said = text = row.text
    signs = find_poison(text)
    if is_only_said(trust=row.trust, source=row.source):
        vector = _read_vector(row)
        signs += find_steering(said, vector)
        if vector is not None and not embedding.is_loaded():
            columns["scanned_at"] = row.scanned_at
    if signs:
        columns |= {"is_quarantined": True, "quarantine_reason": describe_poison(signs)}
    return columns


def _read_vector(row: Episode | Insight) -> Sequence[float] | None:
    """The vector of a memory; None while the memory worker has not made it."""
    if isinstance(row, Episode):
        bent = EpisodeVector.objects.filter(episode=row).values_list("embedding", flat=True).first()
        found = None if bent is None else bend_embeddings.straighten([float(part) for part in bent])
    else:
        found = row.embedding
    return None if found is None else [float(part) for part in found]


def _quarantine_floods(golem_id: UUID) -> list[str]:
    rows = Episode.objects.filter(
        golem_id=golem_id, source__in=[Source.AGENT, Source.IMPORT], is_quarantined=False, is_pinned=False
    )
    bands: dict[int, list[UUID]] = defaultdict(list)
    for pk, keys in rows.order_by("occurred_at", "pk").values_list("pk", "near_keys"):
        for key in keys[:4]:
            bands[key].append(pk)
    planted = {pk for members in bands.values() if len(members) >= FLOOD for pk in members[1:]}
    Episode.objects.filter(pk__in=planted).update(is_quarantined=True, quarantine_reason=FLOODED)
    return [str(pk) for pk in planted]


def _announce(golem_id: UUID, ids: list[str], actor: str, now: datetime) -> None:
    audit_log.append(
        golem_id=golem_id, event="MemoryQuarantined", actor=actor, data={"memories": sorted(ids)[:500]}, now=now
    )
    payload = {"change": "quarantined", "counts": {"memories": len(ids)}, "reason": "poison scan"}
    event_bus.emit(golem_id=golem_id, event=Event(EventType.GRIMOIRE_PURGED, payload), now=now)
