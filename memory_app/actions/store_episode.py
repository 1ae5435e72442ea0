"""Store what happened, with its reflection and its embedding, once per permit.

Seed: 002, "Grimoire" (STORE after the outcome); decisions, "Memory".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from archetypes_app.models import Golem
from memory_app import embedding
from memory_app.actions.reflect import Reflection, reflect
from memory_app.decay import STABILITY_DAYS, Importance
from memory_app.errors import EmbeddingUnavailable, MemoryOwnerUnknown
from memory_app.filters import read_importance
from memory_app.models import Episode, EpisodeVector
from memory_app.models.provenance import Trust
from memory_app.provenance import Provenance
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.hashing import hash_canonical
from tools_app.core.taint import DataSink, redact_text

LONGEST_SUMMARY = 2_000
_MOST_TOKENS = 16
_LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class _Content:
    """Everything an episode says, before it has a row."""

    tool_name: str
    action_type: str
    venue: str
    chain_id: int | None
    tokens: tuple[str, ...]
    prediction: Mapping[str, Any]
    outcome: Mapping[str, Any]
    summary: str


def store_episode(
    *,
    golem_id: UUID,
    permit_id: UUID | None,
    tool_name: str,
    action_type: str,
    venue: str,
    chain_id: int | None,
    tokens: Sequence[str],
    prediction: Mapping[str, Any],
    outcome: Mapping[str, Any],
    summary: str,
    importance: Importance | str,
    provenance: Provenance | Mapping[str, Any],
    now: datetime,
) -> Episode:
    """The episode of `permit_id` (or of this exact content): made on the first call, returned unchanged afterwards.

    `prediction` and `outcome` hold strings, integers, lists and mappings; no float. `summary` is cut at 2,000
    characters. Untrusted provenance is quarantined. Without the model the episode is stored without a vector.
    Emits grimoire:episode and writes the audit log, in one transaction with the row. `importance` is a name in any
    case, `provenance` what `Provenance.from_json` reads. Raises MemoryOwnerUnknown, and ValueError for those two.
    """
    weight = read_importance(importance)
    origin = provenance if isinstance(provenance, Provenance) else Provenance.from_json(provenance)
    content = _Content(
        tool_name=tool_name,
        action_type=action_type,
        venue=venue,
        chain_id=chain_id,
        tokens=tuple(dict.fromkeys(tokens))[:_MOST_TOKENS],
        prediction=_without_nul(prediction),
        outcome=_without_nul(outcome),
        summary=_without_nul(summary).strip()[:LONGEST_SUMMARY],
    )
    content_hash = hash_content(content, permit_id)
    stored = _find(golem_id, permit_id, content_hash)
    if stored is not None:
        return stored
    if not Golem.objects.filter(pk=golem_id).exists():
        raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
    vector = _embed(content.summary)
    reflection = reflect(prediction=content.prediction, outcome=content.outcome)
    try:
        with transaction.atomic():
            episode = Episode.objects.create(
                golem_id=golem_id,
                permit_id=permit_id,
                content_hash=content_hash,
                **_describe_columns(content, reflection, weight, origin, now),
            )
            if vector is not None:
                EpisodeVector.objects.create(episode=episode, golem_id=golem_id, embedding=vector)
            _announce(episode, now)
    except IntegrityError:
        # Another worker stored the same permit between our look-up and our insert; its row stands.
        stored = _find(golem_id, permit_id, content_hash)
        if stored is None:
            raise
        return stored
    return episode


def hash_content(content: _Content, permit_id: UUID | None) -> str:
    """The identity of an episode's content. Two permits with equal outcomes are two experiences."""
    return hash_canonical(
        {
            "permit_id": str(permit_id) if permit_id else None,
            "tool_name": content.tool_name,
            "action_type": content.action_type,
            "venue": content.venue,
            "chain_id": content.chain_id,
            "tokens": sorted(token.lower() for token in content.tokens),
            "prediction": content.prediction,
            "outcome": content.outcome,
            "summary": " ".join(content.summary.split()).lower(),
        }
    )


def _describe_columns(
    content: _Content, reflection: Reflection, importance: Importance, provenance: Provenance, now: datetime
) -> dict[str, Any]:
    is_quarantined = provenance.trust is Trust.UNTRUSTED
    return {
        "tool_name": content.tool_name,
        "action_type": content.action_type,
        "venue": content.venue,
        "chain_id": content.chain_id,
        "tokens": list(content.tokens),
        "token_keys": [token.lower() for token in content.tokens],
        "prediction": dict(content.prediction),
        "outcome": dict(content.outcome),
        "summary": content.summary,
        "search_text": _search_text(content, reflection),
        "reflection": reflection.as_json(),
        "prediction_error_bps": reflection.prediction_error_bps,
        "importance": importance.value,
        "stability_days": STABILITY_DAYS[importance],
        "last_accessed_at": now,
        "occurred_at": now,
        "is_quarantined": is_quarantined,
        "quarantine_reason": "its text came from an untrusted source" if is_quarantined else "",
        "source": provenance.source,
        "trust": provenance.trust,
        "recorded_by": provenance.recorded_by,
        "block_number": provenance.block_number,
        "block_hash": provenance.block_hash,
    }


def _without_nul(value: Any) -> Any:
    # Episodes are read by models and exported by owners, so what looks like a secret is not kept.
    # A revert reason is whatever bytes a contract chose; PostgreSQL stores every character but this one.
    if isinstance(value, str):
        return redact_text(value.replace("\x00", ""), sink=DataSink.MEMORY)
    if isinstance(value, Mapping):
        return {_without_nul(name): _without_nul(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nul(member) for member in value]
    return value


def _search_text(content: _Content, reflection: Reflection) -> str:
    # Only what tells episodes apart: sentences of the reflection are the same in many and would rank nothing.
    names = (content.tool_name, content.action_type, content.venue, reflection.verdict)
    reason = str(content.outcome.get("revert_reason") or "")[:_LONGEST_REASON]
    return " ".join([*(name.replace("_", " ") for name in names), *content.tokens, reason])


def _embed(summary: str) -> list[float] | None:
    try:
        return embedding.embed([summary])[0]
    except EmbeddingUnavailable:
        # An outcome is never lost to a missing model; embed_episodes_task adds the vector later.
        return None


def _find(golem_id: UUID, permit_id: UUID | None, content_hash: str) -> Episode | None:
    episodes = Episode.objects.filter(golem_id=golem_id)
    if permit_id is not None:
        return episodes.filter(permit_id=permit_id).first()
    return episodes.filter(content_hash=content_hash).first()


def _announce(episode: Episode, now: datetime) -> None:
    facts = {
        "episode_id": str(episode.pk),
        "permit_id": str(episode.permit_id) if episode.permit_id else None,
        "tool_name": episode.tool_name,
        "importance": episode.importance,
        "content_hash": episode.content_hash,
        "is_quarantined": episode.is_quarantined,
    }
    audit_log.append(golem_id=episode.golem_id, event="EpisodeStored", actor=episode.recorded_by, data=facts, now=now)
    event_bus.emit(golem_id=episode.golem_id, event=Event(EventType.GRIMOIRE_EPISODE, facts), now=now)
