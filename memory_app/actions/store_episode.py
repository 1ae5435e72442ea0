"""Store what happened, with its reflection and its embedding, once per permit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from pgvector.django import CosineDistance

from archetypes_app.models import Golem
from memory_app import bend_embeddings, embedding
from memory_app.decay import STABILITY_DAYS, Importance
from memory_app.errors import EmbeddingUnavailable, MemoryOwnerUnknown
from memory_app.filters import read_importance
from memory_app.glossary import mark_concepts
from memory_app.models import Episode, EpisodeVector
from memory_app.models.provenance import Trust
from memory_app.near_duplicates import is_near_duplicate, make_near_keys, measure_cosine
from memory_app.poison import describe_poison, find_poison
from memory_app.prompt_injection_score import find_steering
from memory_app.provenance import Provenance
from memory_app.redact_unverified_facts import is_only_said
from memory_app.reflection import Reflection, reflect
from memory_app.text_cleaning import clean_text, clean_value
from tools_app.core import audit_log, event_bus
from tools_app.core.compiled_query import CompiledQuery, CompiledStatement
from tools_app.core.events import Event, EventType
from tools_app.core.hashing import hash_canonical
from tools_app.core.prepared_statements import Rows, fetch_together
from tools_app.core.single_row_sql import insert_unless_known
from tools_app.core.transaction_retry import retry_aborted

_NOBODY, _NOTHING = UUID(int=0), UUID(int=1)
_OF_PERMIT: CompiledQuery[Episode] = CompiledQuery(
    lambda golem_id, permit_id: Episode.objects.filter(golem_id=golem_id, permit_id=permit_id), _NOBODY, _NOTHING
)
_OF_CONTENT: CompiledQuery[Episode] = CompiledQuery(
    lambda golem_id, content_hash: Episode.objects.filter(golem_id=golem_id, content_hash=content_hash),
    _NOBODY,
    "a hash",
)
_OWNER = CompiledStatement(lambda golem_id: Golem.objects.filter(pk=golem_id).values_list("pk"), _NOBODY)
LONGEST_SUMMARY = 2_000
_MOST_TOKENS = 16
_LONGEST_REASON = 500
_MOST_NEAR = 50
_NEAREST = 5


class Duplicate(StrEnum):
    """How what was handed in is known already."""

    NO = ""
    PERMIT = "permit"
    EXACT = "exact"
    NEAR = "near"


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """The episode that stands for what was handed in, new or known."""

    episode: Episode
    duplicate: Duplicate


@dataclass(frozen=True, slots=True)
class _Content:
    """Everything an episode says, before it has a row."""

    tool_name: str
    action_type: str
    venue: str
    chain_id: int | None
    tokens: tuple[str, ...]
    prediction: Mapping[str, object]
    outcome: Mapping[str, object]
    summary: str
    params: Mapping[str, object] = field(default_factory=dict)
    calls: Sequence[Mapping[str, object]] = ()


def store_episode(**given: Any) -> Episode:  # Any: the columns of an episode
    """The episode of `remember_episode`, whose parameters it takes."""
    return remember_episode(**given).episode


def remember_episode(
    *,
    golem_id: UUID,
    permit_id: UUID | None,
    tool_name: str,
    action_type: str,
    venue: str,
    chain_id: int | None,
    tokens: Sequence[str],
    prediction: Mapping[str, object],
    outcome: Mapping[str, object],
    summary: str,
    importance: Importance | str,
    provenance: Provenance | Mapping[str, object],
    now: datetime,
    params: Mapping[str, object] | None = None,
    calls: Sequence[Mapping[str, object]] = (),
    dream_tag: str = "",
    use_model: bool = True,
    corrects: UUID | None = None,
) -> StoredEpisode:
    """The episode of `permit_id` (or of this content): made on the first call, returned unchanged afterwards.

    What comes without a permit is kept once, also when it is said again in almost the same words; two permits with
    equal outcomes are two experiences. `prediction` and `outcome` hold strings, integers, lists and mappings; no
    float. `summary` is cut at 2,000 characters. Untrusted provenance and texts that try to steer are quarantined.
    Without the model (or `use_model`) the episode is stored without a vector, which the memory worker adds.
    `corrects` names the episode of the permit that does not hold any more: it stays as it was written, out of every
    answer, and this one is kept beside it. Emits grimoire:episode and writes the audit log, in one transaction with the
    row. `importance` is a name in any case, `provenance` what `Provenance.from_json` reads. Raises MemoryOwnerUnknown,
    and ValueError for those two.
    """
    weight = read_importance(importance)
    origin = provenance if isinstance(provenance, Provenance) else Provenance.from_json(provenance)
    content = _Content(
        tool_name=tool_name,
        action_type=action_type,
        venue=venue,
        chain_id=chain_id,
        tokens=tuple(dict.fromkeys(tokens))[:_MOST_TOKENS],
        prediction=clean_value(prediction),
        outcome=clean_value(outcome),
        summary=clean_text(summary).strip()[:LONGEST_SUMMARY],
        params=clean_value(params or {}),
        calls=clean_value(calls),
    )
    content_hash = hash_content(content, permit_id)
    if corrects is not None:
        permit_id = None
    stored, has_owner = _find(golem_id, permit_id, content_hash)
    if stored is not None:
        return StoredEpisode(stored, Duplicate.PERMIT if permit_id else Duplicate.EXACT)
    if not has_owner:
        raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
    vector, bent = _embed(content.summary) if use_model else (None, None)
    near_keys = [] if permit_id or corrects else make_near_keys(content.summary)
    if permit_id is None and corrects is None:
        known = _find_near(golem_id, content, near_keys, bent)
        if known is not None:
            return StoredEpisode(known, Duplicate.NEAR)
    signs = find_poison(f"{summary}\n{_list_texts(outcome)}")
    if is_only_said(trust=origin.trust, source=origin.source):
        signs += find_steering(content.summary, vector)
    reflection = reflect(prediction=content.prediction, outcome=content.outcome)

    @retry_aborted
    def store() -> Episode | None:
        with transaction.atomic():
            episode = Episode(
                golem_id=golem_id,
                permit_id=permit_id,
                content_hash=content_hash,
                near_keys=near_keys,
                dream_tag=clean_text(dream_tag, longest=64),
                scanned_at=now,
                **_describe_columns(content, reflection, weight, origin, now),
                **_judge_trust(origin, signs),
            )
            if corrects is not None:
                Episode.objects.filter(pk=corrects, golem_id=golem_id).update(
                    is_quarantined=True, quarantine_reason=f"the chain took it back; episode {episode.pk} is what holds"
                )
            vectors = [] if bent is None else [EpisodeVector(episode=episode, golem_id=golem_id, embedding=bent)]
            # The head of the audit chain is locked behind what memory writes, in the same round trip.
            told = insert_unless_known(episode, *vectors, along=[audit_log.fill_lock(golem_id)])
            if told is None:
                transaction.set_rollback(True)
                return None
            (head,) = told
            _announce(episode, now, head)
        return episode

    made = store()
    if made is not None:
        return StoredEpisode(made, Duplicate.NO)
    # Another worker stored the same permit between our look-up and our insert; its row stands.
    stored, _ = _find(golem_id, permit_id, content_hash)
    if stored is None:
        raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
    return StoredEpisode(stored, Duplicate.PERMIT if permit_id else Duplicate.EXACT)


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
) -> dict[str, object]:
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
        "params": dict(content.params),
        "calls": [dict(call) for call in content.calls],
        "recorded_tool": provenance.tool,
        "recorded_permit_id": UUID(provenance.permit_id) if provenance.permit_id else None,
        "source": provenance.source,
        "trust": provenance.trust,
        "recorded_by": provenance.recorded_by,
        "block_number": provenance.block_number,
        "block_hash": provenance.block_hash,
    }


def _judge_trust(provenance: Provenance, signs: tuple[str, ...]) -> dict[str, object]:
    if provenance.trust is Trust.UNTRUSTED:
        return {"is_quarantined": True, "quarantine_reason": "its text came from an untrusted source"}
    return {"is_quarantined": bool(signs), "quarantine_reason": describe_poison(signs) if signs else ""}


def _list_texts(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(_list_texts(member) for member in value.values())
    if isinstance(value, list | tuple):
        return "\n".join(_list_texts(member) for member in value)
    return ""


def _find_near(
    golem_id: UUID, content: _Content, near_keys: Sequence[int], vector: Sequence[float] | None
) -> Episode | None:
    alike = Episode.objects.filter(
        golem_id=golem_id,
        permit_id__isnull=True,
        tool_name=content.tool_name,
        chain_id=content.chain_id,
        token_keys=[token.lower() for token in content.tokens],
    )
    by_words = alike.filter(near_keys__overlap=list(near_keys)).order_by("-occurred_at")[:_MOST_NEAR]
    for row in by_words:
        if is_near_duplicate(row.summary, content.summary):
            return row
    if vector is None:
        return None
    rows = EpisodeVector.objects.filter(episode__in=alike, golem_id=golem_id).select_related("episode")
    for found in rows.order_by(CosineDistance("embedding", list(vector)))[:_NEAREST]:
        cosine = measure_cosine([float(part) for part in found.embedding], vector)
        if is_near_duplicate(found.episode.summary, content.summary, cosine=cosine):
            known: Episode = found.episode
            return known
    return None


def _search_text(content: _Content, reflection: Reflection) -> str:
    # Only what tells episodes apart: sentences of the reflection are the same in many and would rank nothing.
    names = (content.tool_name, content.action_type, content.venue, reflection.verdict)
    reason = str(content.outcome.get("revert_reason") or "")[:_LONGEST_REASON]
    words = " ".join([*(name.replace("_", " ") for name in names), *content.tokens, reason])
    return f"{words} {mark_concepts(f'{content.summary} {words}')}".rstrip()


def _embed(summary: str) -> tuple[list[float] | None, list[float] | None]:
    """The vector of `summary` as the model writes it, and as it is kept."""
    try:
        vector = embedding.embed([summary])[0]
        return vector, bend_embeddings.bend([vector])[0]
    except EmbeddingUnavailable:
        # An outcome is never lost to a missing model; embed_episodes_task adds the vector later.
        return None, None


def _find(golem_id: UUID, permit_id: UUID | None, content_hash: str) -> tuple[Episode | None, bool]:
    """The episode of the permit, or of the content where there is no permit; and whether the golem exists."""
    known, key = (_OF_PERMIT, permit_id) if permit_id is not None else (_OF_CONTENT, content_hash)
    rows, owners = fetch_together(known.fill(golem_id, key), _OWNER.fill(golem_id))
    return next(iter(known.read(rows)), None), bool(owners)


def _announce(episode: Episode, now: datetime, head: Rows) -> None:
    facts = {
        "episode_id": str(episode.pk),
        "permit_id": str(episode.permit_id) if episode.permit_id else None,
        "tool_name": episode.tool_name,
        "importance": episode.importance,
        "content_hash": episode.content_hash,
        "is_quarantined": episode.is_quarantined,
    }
    told = event_bus.fill_events(golem_id=episode.golem_id, events=[Event(EventType.GRIMOIRE_EPISODE, facts)], now=now)
    audit_log.append(
        golem_id=episode.golem_id,
        event="EpisodeStored",
        actor=episode.recorded_by,
        data=facts,
        now=now,
        head=head,
        along=[told],
    )
