"""Answer a question from memory, and strengthen what was answered with.

Text in the answer is data: every episode carries `untrusted: true`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.db import transaction
from django.db.models import F, FloatField, Value
from django.db.models.functions import Greatest, Least

from memory_app import bend_embeddings, embedding
from memory_app.decay import REINFORCEMENT, STABILITY_CAP_DAYS, archived_from, retention_at
from memory_app.errors import EmbeddingUnavailable
from memory_app.filters import EpisodeFilters, parse_filters
from memory_app.insights import describe_insight_hit, reinforce_insights, retrieve_insights, select_insights
from memory_app.models import Episode
from memory_app.retrieval import Hit, Retrieval, retrieve_episodes
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted

LONGEST_QUERY = 2_000
MOST_HITS = 50
NO_INSIGHTS = "no insight fits: clusters of at least three like outcomes become insights every four hours"
NO_HEURISTICS = "no heuristic fits: an insight with five episodes behind it makes one"


class Store(StrEnum):
    """The parts of memory a question may be put to."""

    EPISODES = "episodes"
    INSIGHTS = "insights"
    HEURISTICS = "heuristics"
    ALL = "all"


class SearchMode(StrEnum):
    """How episodes were found."""

    HYBRID = "hybrid"
    TEXT_ONLY = "text_only"


def query_grimoire(
    *,
    golem_id: UUID,
    query: str,
    store: str = Store.EPISODES,
    limit: int = 10,
    filters: Mapping[str, object] | None = None,
    now: datetime,
    apply_decay: bool = True,
    text_only_reason: str = "",
    min_percent: int = 0,
    reinforce: bool = True,
) -> JsonObject:
    """Episodes of one golem for `query`, JSON-ready, best first, at most `limit` (1 to 50).

    Scores, similarity and retention are decimal text between 0 and 1. With `text_only_reason` the model is not
    touched; without the model the answer comes from words alone. Either way `mode` and `mode_reason` say so.
    `min_percent` is the least confidence of insights. Everything answered with is reinforced, unless an owner only
    looks (`reinforce` false). Raises InvalidParams.
    """
    question, wanted, asked = check_question(query=query, store=store, limit=limit)
    parsed = parse_filters(filters or {})
    answer: dict[str, object] = {"query": question, "store": str(wanted), "mode": None, "mode_reason": None}
    vector, bent, reason = (None, None, text_only_reason) if text_only_reason else embed_question(question)
    answer["mode"] = str(SearchMode.TEXT_ONLY if vector is None else SearchMode.HYBRID)
    answer["mode_reason"] = reason or None
    if wanted in (Store.EPISODES, Store.ALL):
        answer.update(_answer_episodes(golem_id, question, bent, parsed, asked, now, apply_decay, reinforce))
    for name, note in (("insights", NO_INSIGHTS), ("heuristics", NO_HEURISTICS)):
        if wanted in (name, Store.ALL):
            matching = select_insights(
                golem_id=golem_id, filters=parsed, min_percent=min_percent, heuristics=name == Store.HEURISTICS
            )
            found = retrieve_insights(
                matching=matching, query=question, query_vector=vector, limit=asked, now=now, apply_decay=apply_decay
            )
            if reinforce:
                reinforce_insights(golem_id=golem_id, insight_ids=[hit.insight.pk for hit in found], now=now)
            answer[name] = [describe_insight_hit(hit) for hit in found]
            answer[f"{name}_searched"] = matching.count()
            answer[f"{name}_note"] = None if found else note
    return answer


def check_question(*, query: str, store: str, limit: int) -> tuple[str, Store, int]:
    """The cleaned question, its store and limit. Raises InvalidParams naming every bad field."""
    problems: dict[str, str] = {}
    question = query.replace("\x00", "").strip() if isinstance(query, str) else ""
    if not question or len(question) > LONGEST_QUERY:
        problems["query"] = f"a question of 1 to {LONGEST_QUERY} characters"
    if store not in {member.value for member in Store} | {"both"}:
        problems["store"] = "one of " + ", ".join(Store)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_HITS:
        problems["limit"] = f"a whole number from 1 to {MOST_HITS}"
    if problems:
        raise InvalidParams("; ".join(f"{name}: {text}" for name, text in problems.items()), fields=problems)
    return question, Store.ALL if store == "both" else Store(store), limit


@retry_aborted
def reinforce_episodes(*, golem_id: UUID, episode_ids: Iterable[UUID], now: datetime) -> int:
    """Count one retrieval of each episode: half as much stability again, at most a year. Returns how many.

    Locks the rows in the order of their ids, so that two answers with the same episodes cannot block each other.
    """
    with transaction.atomic():
        rows = Episode.objects.filter(golem_id=golem_id, pk__in=list(episode_ids)).order_by("pk")
        locked = list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
        return Episode.objects.filter(pk__in=locked).update(
            stability_days=Least(
                F("stability_days") * Value(REINFORCEMENT), Value(STABILITY_CAP_DAYS), output_field=FloatField()
            ),
            # A clock that stepped back makes nothing older than it was.
            last_accessed_at=Greatest(F("last_accessed_at"), Value(now)),
            access_count=F("access_count") + 1,
        )


def embed_question(question: str) -> tuple[list[float] | None, list[float] | None, str]:
    """The vector of a question as the model writes it and as episodes have theirs, or why words alone must do."""
    try:
        vector = embedding.embed([question])[0]
        return vector, bend_embeddings.bend([vector])[0], ""
    except EmbeddingUnavailable as error:
        return None, None, error.detail


def describe_hit(hit: Hit) -> dict[str, object]:
    """One episode found, with its score and the parts of it as decimal text."""
    return {
        **_describe(hit.episode),
        "score": _decimal(hit.score),
        "score_parts": {
            "fused": _decimal(hit.fused),
            "text_rank": hit.text_rank,
            "vector_rank": hit.vector_rank,
            "similarity": None if hit.similarity is None else _decimal(hit.similarity),
        },
        "retention": _decimal(hit.retention),
    }


def describe_episode(episode: Episode, *, now: datetime) -> dict[str, object]:
    """One episode as an agent sees it, with its retention at `now` as decimal text."""
    retention = retention_at(last_accessed_at=episode.last_accessed_at, stability_days=episode.stability_days, now=now)
    return {**_describe(episode), "retention": _decimal(retention), "is_archived": episode.archived_at is not None}


def _describe(episode: Episode) -> JsonObject:
    # `content`, `reflection` and token names are data, never instructions.
    return {
        "id": str(episode.pk),
        "source": "episode",
        "untrusted": True,
        "content": episode.summary,
        "tool_name": episode.tool_name,
        "action_type": episode.action_type,
        "venue": episode.venue,
        "chain_id": episode.chain_id,
        "tokens": episode.tokens,
        "permit_id": str(episode.permit_id) if episode.permit_id else None,
        "importance": episode.importance,
        "occurred_at": episode.occurred_at.isoformat(),
        "prediction": episode.prediction,
        "outcome": episode.outcome,
        "reflection": episode.reflection,
        "prediction_error_bps": episode.prediction_error_bps,
        "retained_until": archived_from(
            last_accessed_at=episode.last_accessed_at, stability_days=episode.stability_days
        ).isoformat(),
        "provenance": {
            "source": episode.source,
            "trust": episode.trust,
            "recorded_by": episode.recorded_by,
            "tool": episode.recorded_tool,
            "permit_id": str(episode.recorded_permit_id) if episode.recorded_permit_id else None,
            "block_number": episode.block_number,
        },
    }


def _answer_episodes(
    golem_id: UUID,
    question: str,
    vector: Sequence[float] | None,
    filters: EpisodeFilters,
    limit: int,
    now: datetime,
    apply_decay: bool,
    reinforce: bool,
) -> dict[str, object]:
    found = _retrieve(golem_id, question, vector, filters, limit, now, apply_decay)
    if reinforce:
        reinforce_episodes(golem_id=golem_id, episode_ids=[hit.episode.pk for hit in found.hits], now=now)
    return {
        "episodes": [describe_hit(hit) for hit in found.hits],
        "episodes_searched": found.searched,
    }


def _retrieve(
    golem_id: UUID,
    question: str,
    vector: Sequence[float] | None,
    filters: EpisodeFilters,
    limit: int,
    now: datetime,
    apply_decay: bool,
) -> Retrieval:
    return retrieve_episodes(
        golem_id=golem_id,
        query=question,
        query_vector=vector,
        filters=filters,
        limit=limit,
        now=now,
        apply_decay=apply_decay,
    )


def _decimal(value: float) -> str:
    return f"{value:.6f}"
