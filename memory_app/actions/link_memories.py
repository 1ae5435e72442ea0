"""Link two memories of a golem as cause and effect. A link is an insight of its own kind: it has confidence, fades in
ranking, is voted on, pinned and archived like the others.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from memory_app.errors import EpisodeNotFound, MemoryOwnerUnknown
from memory_app.insight_events import announce_insight
from memory_app.insights import confirm_row, first_percent, lock_insight
from memory_app.models import Episode, Insight
from memory_app.models.insight import Kind
from memory_app.poison import describe_poison, find_poison
from memory_app.provenance import Provenance
from memory_app.text_cleaning import clean_text
from tools_app.core import audit_log
from tools_app.core.errors import InvalidParams
from tools_app.core.hashing import hash_canonical
from tools_app.core.transaction_retry import retry_aborted

LONGEST_REASON = 500


@retry_aborted
def link_memories(
    *, golem_id: UUID, cause_id: UUID, effect_id: UUID, reason: str, provenance: Provenance, now: datetime
) -> tuple[Insight, int | None]:
    """The link and its confidence before (None when it is new); the same link by another source confirms it.

    Both ends are episodes or insights of this golem; an effect that already leads back to its cause is refused.
    Raises EpisodeNotFound, InvalidParams, MemoryOwnerUnknown.
    """
    text = clean_text(reason, longest=LONGEST_REASON).strip()
    if cause_id == effect_id:
        raise InvalidParams("a memory is not its own cause", fields={"effect_id": "another memory than the cause"})
    if not text:
        raise InvalidParams("a link needs a reason", fields={"reason": "why the one led to the other"})
    with transaction.atomic():
        if not Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk").first():
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        cause, effect = (describe_node(golem_id=golem_id, node_id=node) for node in (cause_id, effect_id))
        if leads_to(golem_id=golem_id, start=effect_id, end=cause_id):
            raise InvalidParams("the effect leads to this cause already", fields={"effect_id": "would close a circle"})
        identity = hash_canonical({"cause": str(cause_id), "effect": str(effect_id)})
        row = lock_insight(golem_id=golem_id, identity_hash=identity)
        before = row.confidence_percent if row else None
        if row is None:
            signs = find_poison(reason)
            row = Insight(
                golem_id=golem_id,
                kind=Kind.CAUSAL_LINK,
                cause_id=cause_id,
                effect_id=effect_id,
                text=f"{cause} → {effect}: {text}",
                confidence_percent=first_percent(provenance.source),
                last_accessed_at=now,
                identity_hash=identity,
                is_quarantined=bool(signs),
                quarantine_reason=describe_poison(signs) if signs else "",
                **provenance.as_columns(),
            )
        else:
            # Said twice by its author it is no surer.
            if row.source != provenance.source:
                row.confidence_percent = confirm_row(row)
                row.upvotes += 1
        row.save()
        data = {"insight_id": str(row.pk), "cause_id": str(cause_id), "effect_id": str(effect_id)}
        audit_log.append(golem_id=golem_id, event="MemoriesLinked", actor=provenance.recorded_by, data=data, now=now)
        announce_insight(row, change="linked" if before is None else "confirmed", now=now)
    return row, before


def describe_node(*, golem_id: UUID, node_id: UUID) -> str:
    """The beginning of a memory of this golem that is not quarantined. Raises EpisodeNotFound."""
    episode = Episode.objects.filter(golem_id=golem_id, pk=node_id, is_quarantined=False).first()
    if episode is not None:
        return _shorten(episode.summary)
    insight = Insight.objects.filter(golem_id=golem_id, pk=node_id, is_quarantined=False).first()
    if insight is None:
        raise EpisodeNotFound(f"this golem has no memory {node_id}")
    return _shorten(insight.text)


def leads_to(*, golem_id: UUID, start: UUID, end: UUID) -> bool:
    """Whether links lead from `start` to `end`."""
    edges: dict[UUID, list[UUID]] = {}
    links = Insight.objects.filter(golem_id=golem_id, kind=Kind.CAUSAL_LINK, archived_at__isnull=True)
    for cause, effect in links.values_list("cause_id", "effect_id"):
        if cause is None or effect is None:
            continue
        edges.setdefault(cause, []).append(effect)
    waiting, seen = [start], {start}
    while waiting:
        for found in edges.get(waiting.pop(), []):
            if found == end:
                return True
            if found not in seen:
                seen.add(found)
                waiting.append(found)
    return False


def _shorten(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"
