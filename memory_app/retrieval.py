"""Hybrid retrieval: PostgreSQL full text and vectors, fused by reciprocal rank, weakened by forgetting.

Two lists of candidates are made inside the database, each scoped to one golem. A golem with few matching
rows is scanned exactly; a large one goes through HNSW with an iterative scan, and exactly again when that
came back short, so k asked is k returned whenever k exist. Seed: decisions, "Memory".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.search import SearchRank
from django.db import connection, transaction
from django.db.models import ExpressionWrapper, F, FloatField, QuerySet
from pgvector.django import CosineDistance

from memory_app.decay import retention_at
from memory_app.filters import EpisodeFilters, select_episodes
from memory_app.models import Episode, EpisodeVector
from memory_app.text_query import AnyWordQuery

RRF_K = 20
"""Smaller than the usual 60: the lists hold tens of rows, and a first place must count clearly more than a tenth."""
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
    """
    wanted = max(_LEAST_CANDIDATES, limit * _CANDIDATES_PER_RESULT)
    with transaction.atomic():
        matching = select_episodes(golem_id=golem_id, filters=filters)
        searched = _count_up_to(matching, settings.GOLEM_MEMORY_EXACT_SCAN_ROWS + 1)
        text_ids = _rank_by_text(matching, query, wanted)
        by_vector: list[tuple[UUID, float]] = []
        used_index = False
        if query_vector is not None:
            used_index = searched > settings.GOLEM_MEMORY_EXACT_SCAN_ROWS
            by_vector = _rank_by_vector(golem_id, filters, query_vector, wanted, use_index=used_index)
        candidates = {*text_ids, *(episode_id for episode_id, _ in by_vector)}
        if len(candidates) < limit:
            # Neither words nor vectors reach rows that share no word and have no vector yet.
            others = matching.exclude(pk__in=candidates).order_by("-occurred_at", "pk")
            candidates.update(others.values_list("pk", flat=True)[: limit - len(candidates)])
        episodes = Episode.objects.filter(golem_id=golem_id).defer("search", "search_text").in_bulk(list(candidates))
    hits = _fuse(episodes.values(), text_ids, by_vector, now=now, apply_decay=apply_decay)
    return Retrieval(
        hits=tuple(hits[:limit]), searched=searched, used_vectors=query_vector is not None, used_index=used_index
    )


def _fuse(
    episodes: Iterable[Episode],
    text_ids: Sequence[UUID],
    by_vector: Sequence[tuple[UUID, float]],
    *,
    now: datetime,
    apply_decay: bool,
) -> list[Hit]:
    text_ranks = {episode_id: rank for rank, episode_id in enumerate(text_ids, start=1)}
    vector_ranks = {episode_id: rank for rank, (episode_id, _) in enumerate(by_vector, start=1)}
    similarities = {episode_id: 1.0 - distance for episode_id, distance in by_vector}
    hits = []
    for episode in episodes:
        ranks = (text_ranks.get(episode.pk), vector_ranks.get(episode.pk))
        fused = fuse_ranks(ranks)
        retention = retention_at(
            last_accessed_at=episode.last_accessed_at, stability_days=episode.stability_days, now=now
        )
        hits.append(
            Hit(
                episode=episode,
                score=weaken(fused, retention) if apply_decay else fused,
                fused=fused,
                retention=retention,
                text_rank=ranks[0],
                vector_rank=ranks[1],
                similarity=similarities.get(episode.pk),
            )
        )
    return sorted(hits, key=_order)


def _order(hit: Hit) -> tuple[float, float, float, str]:
    # Two rows often change places between the lists and so tie; then the closer meaning comes first.
    return (-hit.score, -(hit.similarity or 0.0), -hit.episode.occurred_at.timestamp(), str(hit.episode.pk))


def fuse_ranks(ranks: Iterable[int | None]) -> float:
    """Reciprocal rank fusion of one row's ranks, scaled so that first place in two lists is 1."""
    return sum((RRF_K + 1) / (2 * (RRF_K + rank)) for rank in ranks if rank is not None)


def weaken(fused: float, retention: float) -> float:
    """A fused score after forgetting: between (1 - DECAY_WEIGHT) of it and all of it."""
    return fused * (1.0 - DECAY_WEIGHT + DECAY_WEIGHT * retention)


def _count_up_to(matching: QuerySet[Episode], most: int) -> int:
    return matching.values("pk")[:most].count()


def _rank_by_text(matching: QuerySet[Episode], query: str, wanted: int) -> list[UUID]:
    any_word = AnyWordQuery(query, config="english")
    found = matching.filter(search=any_word).order_by("-occurred_at")
    recent = found.values("pk")[: settings.GOLEM_MEMORY_TEXT_SCAN_ROWS]
    ranked = (
        Episode.objects.filter(pk__in=recent)
        .annotate(text_score=SearchRank(F("search"), any_word, cover_density=True, normalization=1))
        .order_by("-text_score", "-occurred_at", "pk")
    )
    return list(ranked.values_list("pk", flat=True)[:wanted])


def _rank_by_vector(
    golem_id: UUID, filters: EpisodeFilters, query_vector: Sequence[float], wanted: int, *, use_index: bool
) -> list[tuple[UUID, float]]:
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
    with connection.cursor() as cursor:
        for name, value in parameters.items():
            cursor.execute("SELECT set_config(%s, %s, true)", [name, value])
