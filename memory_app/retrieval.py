"""Hybrid retrieval: PostgreSQL full text and vectors, fused by reciprocal rank, weakened by forgetting.

Two lists of candidates are made inside the database, each scoped to one golem. A golem with few matching
rows is scanned exactly; a large one goes through HNSW with an iterative scan, and exactly again when that
came back short, so k asked is k returned whenever k exist. Seed: decisions, "Memory".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db import connection, transaction
from django.db.models import ExpressionWrapper, F, FloatField, QuerySet
from pgvector.django import CosineDistance

from memory_app.decay import retention_at
from memory_app.embedding import is_vector
from memory_app.errors import VectorRefused
from memory_app.filters import EpisodeFilters, select_episodes
from memory_app.models import Episode, EpisodeVector
from memory_app.text_query import AnyWordQuery

RRF_K = 10
"""Smaller than the usual 60: the lists hold tens of rows, and a first place must count clearly more than a tenth."""
TEXT_WEIGHT, VECTOR_WEIGHT = 0.3, 0.7
"""Of the lists. Meaning finds more than words do here; on the labelled set both together beat either at this mix."""
DECAY_WEIGHT = 0.3
"""The part of a score that forgetting takes: a memory faded to nothing falls about ten places, not out of reach."""
_CANDIDATES_PER_RESULT = 4
_LEAST_CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """One episode found, with the parts of its score. Ranks start at 1; None means the list did not hold it."""

    episode: Episode
    score: float
    fused: float
    retention: float
    text_rank: int | None
    vector_rank: int | None
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Hits, best first, and how they were found; `searched` counts matching rows, to one past the exact-scan limit."""

    hits: tuple[Hit, ...]
    searched: int
    used_vectors: bool
    used_index: bool


def retrieve_episodes(
    *,
    golem_id: UUID,
    query: str,
    query_vector: Sequence[float] | None,
    filters: EpisodeFilters,
    limit: int,
    now: datetime,
    apply_decay: bool = True,
) -> Retrieval:
    """The `limit` best episodes of one golem for `query`; text alone when there is no `query_vector`.

    Opens one short transaction, because the index takes its parameters per transaction. Changes nothing.
    Raises VectorRefused.
    """
    if query_vector is not None and not is_vector(query_vector):
        raise VectorRefused("a vector has 384 finite numbers that are not all zero")
    wanted = max(_LEAST_CANDIDATES, limit * _CANDIDATES_PER_RESULT)
    with transaction.atomic():
        matching = select_episodes(golem_id=golem_id, filters=filters)
        searched = _count_up_to(matching, settings.GOLEM_MEMORY_EXACT_SCAN_ROWS + 1)
        text_ids = _rank_by_text(matching, query, wanted)
        by_vector: list[tuple[UUID, float]] = []
        used_index = False
        if query_vector is not None:
            used_index = searched > settings.GOLEM_MEMORY_EXACT_SCAN_ROWS
            by_vector = rank_by_vector(golem_id, filters, query_vector, wanted, use_index=used_index)
        ids = {*text_ids, *(episode_id for episode_id, _ in by_vector)}
        if len(ids) < limit:
            # Neither words nor vectors reach rows that share no word and have no vector yet.
            others = matching.exclude(pk__in=ids).order_by("-occurred_at", "pk")
            ids.update(others.values_list("pk", flat=True)[: limit - len(ids)])
        rows = Episode.objects.filter(golem_id=golem_id, pk__in=ids).values_list(*_Candidate._fields)
        best = _score(map(_Candidate._make, rows), text_ids, by_vector, now=now, apply_decay=apply_decay)[:limit]
        episodes = Episode.objects.defer("search", "search_text").in_bulk([scored.candidate.pk for scored in best])
    return Retrieval(
        hits=tuple(
            _make_hit(scored, episodes[scored.candidate.pk]) for scored in best if scored.candidate.pk in episodes
        ),
        searched=searched,
        used_vectors=query_vector is not None,
        used_index=used_index,
    )


class _Candidate(NamedTuple):
    """What ranking needs of an episode; whole rows are read for the best alone."""

    pk: UUID
    last_accessed_at: datetime
    stability_days: float
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class _Scored:
    candidate: _Candidate
    score: float
    fused: float
    retention: float
    text_rank: int | None
    vector_rank: int | None
    similarity: float | None


def _score(
    candidates: Iterable[_Candidate],
    text_ids: Sequence[UUID],
    by_vector: Sequence[tuple[UUID, float]],
    *,
    now: datetime,
    apply_decay: bool,
) -> list[_Scored]:
    text_ranks = {episode_id: rank for rank, episode_id in enumerate(text_ids, start=1)}
    vector_ranks = {episode_id: rank for rank, (episode_id, _) in enumerate(by_vector, start=1)}
    similarities = {episode_id: 1.0 - distance for episode_id, distance in by_vector}
    found = []
    for candidate in candidates:
        ranks = (text_ranks.get(candidate.pk), vector_ranks.get(candidate.pk))
        fused = fuse_ranks(ranks)
        retention = retention_at(
            last_accessed_at=candidate.last_accessed_at, stability_days=candidate.stability_days, now=now
        )
        found.append(
            _Scored(
                candidate=candidate,
                score=weaken(fused, retention) if apply_decay else fused,
                fused=fused,
                retention=retention,
                text_rank=ranks[0],
                vector_rank=ranks[1],
                similarity=similarities.get(candidate.pk),
            )
        )
    return sorted(found, key=_order)


def _order(scored: _Scored) -> tuple[float, float, float, str]:
    # Two rows often change places between the lists and so tie; then the closer meaning comes first.
    candidate = scored.candidate
    return (-scored.score, -(scored.similarity or 0.0), -candidate.occurred_at.timestamp(), str(candidate.pk))


def _make_hit(scored: _Scored, episode: Episode) -> Hit:
    return Hit(
        episode=episode,
        score=scored.score,
        fused=scored.fused,
        retention=scored.retention,
        text_rank=scored.text_rank,
        vector_rank=scored.vector_rank,
        similarity=scored.similarity,
    )


def fuse_ranks(ranks: tuple[int | None, int | None]) -> float:
    """Weighted reciprocal rank fusion of a row's ranks by words and by meaning; first place in both lists is 1."""
    weighed = zip(ranks, (TEXT_WEIGHT, VECTOR_WEIGHT), strict=True)
    return sum(weight * (RRF_K + 1) / (RRF_K + rank) for rank, weight in weighed if rank is not None)


def weaken(fused: float, retention: float) -> float:
    """A fused score after forgetting: between (1 - DECAY_WEIGHT) of it and all of it."""
    return fused * (1.0 - DECAY_WEIGHT + DECAY_WEIGHT * retention)


def _count_up_to(matching: QuerySet[Episode], most: int) -> int:
    return matching.values("pk")[:most].count()


def _rank_by_text(matching: QuerySet[Episode], query: str, wanted: int) -> list[UUID]:
    most = settings.GOLEM_MEMORY_TEXT_SCAN_ROWS
    any_word = AnyWordQuery(query, config="english")
    every_word = SearchQuery(query, config="english")
    ranked = matching.annotate(text_score=SearchRank(F("search"), any_word, cover_density=True, normalization=1))
    # Only the newest matches are ranked. Rows with every word are looked for apart from those with any, because a
    # common word among the others would crowd out an old row that matches best.
    any_part, every_part = (
        ranked.filter(search=words).order_by("-occurred_at").values_list("pk", "text_score", "occurred_at")[:most]
        for words in (any_word, every_word)
    )
    best = any_part.union(every_part).order_by("-text_score", "-occurred_at", "pk")[:wanted]
    return [row[0] for row in best]


def rank_by_vector(
    golem_id: UUID, filters: EpisodeFilters, query_vector: Sequence[float], wanted: int, *, use_index: bool
) -> list[tuple[UUID, float]]:
    """The `wanted` episodes nearest to `query_vector` with their cosine distances; runs inside a transaction.

    Through the index (`use_index`) they are the nearest but for a few in a hundred; exact again when that came short.
    """
    if use_index:
        found = _scan_vectors(golem_id, filters, query_vector, wanted, use_index=True)
        if len(found) >= wanted:
            return found
    return _scan_vectors(golem_id, filters, query_vector, wanted, use_index=False)


def _scan_vectors(
    golem_id: UUID, filters: EpisodeFilters, query_vector: Sequence[float], wanted: int, *, use_index: bool
) -> list[tuple[UUID, float]]:
    if use_index:
        _tune_index_scan()
    distance = CosineDistance("embedding", list(query_vector))
    # A sum is no index's order: the planner cannot answer an exact scan with the approximate index.
    order = distance if use_index else ExpressionWrapper(distance + 0.0, output_field=FloatField())
    rows = (
        EpisodeVector.objects.filter(golem_id=golem_id, episode__in=select_episodes(golem_id=golem_id, filters=filters))
        .annotate(distance=distance)
        .order_by(order)
        .values_list("episode_id", "distance")
    )
    return list(rows[:wanted])


def _tune_index_scan() -> None:
    parameters = {
        "hnsw.iterative_scan": "strict_order",
        "hnsw.ef_search": str(settings.GOLEM_MEMORY_ANN_EF_SEARCH),
        "hnsw.max_scan_tuples": str(settings.GOLEM_MEMORY_ANN_MAX_SCAN_TUPLES),
    }
    calls = ", ".join(["set_config(%s, %s, true)"] * len(parameters))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {calls}", [part for pair in parameters.items() for part in pair])
