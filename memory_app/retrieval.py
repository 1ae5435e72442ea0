"""Hybrid retrieval: PostgreSQL full text with concepts, and vectors; added up, weakened by forgetting.

Two lists of candidates are made inside the database, each scoped to one golem. A golem with few matching
rows is scanned exactly; a large one goes through HNSW with an iterative scan, and exactly again when that
came back short, so k asked is k returned whenever k exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from memory_app.action_kinds import weigh_deeds
from memory_app.candidate_query import EpisodeCandidate, EpisodeScope, find_candidates, find_nearest, size_up
from memory_app.decay import retention_at
from memory_app.embedding import is_vector
from memory_app.errors import VectorRefused
from memory_app.filters import EpisodeFilters, select_episodes
from memory_app.glossary import mark_concepts
from memory_app.models import Episode

RRF_K = 10
"""Smaller than the usual 60: the lists hold tens of rows, and a first place must count clearly more than a tenth."""
TEXT_WEIGHT = 0.3
"""Of the list by words where insights are fused; the other list has the rest."""
HALF_GAP = 0.3
"""How far behind the best an episode scores half as much; similarity in meaning alone goes from 0 to 1."""
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
        scope = EpisodeScope.of(golem_id, matching)
        size = size_up(scope, f"{query} {mark_concepts(query)}")
        used_index = query_vector is not None and size.is_large
        candidates = find_candidates(
            scope=scope, size=size, query_vector=query_vector, wanted=wanted, use_index=used_index
        )
        if used_index and sum(candidate.distance is not None for candidate in candidates) < wanted:
            candidates = find_candidates(
                scope=scope, size=size, query_vector=query_vector, wanted=wanted, use_index=False
            )
        if len(candidates) < min(limit, size.searched):
            # Neither words nor vectors reach rows that share no word and have no vector yet.
            others = matching.exclude(pk__in=[candidate.pk for candidate in candidates]).order_by("-occurred_at", "pk")
            rows = others.values_list("pk", "last_accessed_at", "stability_days", "occurred_at")
            candidates += [EpisodeCandidate(*row, None, None) for row in rows[: limit - len(candidates)]]
        best = _score(_favour_deeds(candidates, query), now=now, apply_decay=apply_decay)[:limit]
        episodes = Episode.objects.defer("search", "search_text").in_bulk([scored.candidate.pk for scored in best])
    return Retrieval(
        hits=tuple(
            _make_hit(scored, episodes[scored.candidate.pk]) for scored in best if scored.candidate.pk in episodes
        ),
        searched=size.searched,
        used_vectors=query_vector is not None,
        used_index=used_index,
    )


@dataclass(frozen=True, slots=True)
class _Scored:
    candidate: EpisodeCandidate
    score: float
    fused: float
    retention: float
    text_rank: int | None
    vector_rank: int | None
    similarity: float | None


def _favour_deeds(candidates: Sequence[EpisodeCandidate], query: str) -> list[EpisodeCandidate]:
    """The candidates, worth more where their tool does what the question asks about."""
    gains = weigh_deeds(query, [each.tool_name for each in candidates])
    return [each._replace(points=each.points + gain) for each, gain in zip(candidates, gains, strict=True)]


def _score(candidates: Sequence[EpisodeCandidate], *, now: datetime, apply_decay: bool) -> list[_Scored]:
    near = sorted(
        (candidate.distance, str(candidate.pk), candidate.pk)
        for candidate in candidates
        if candidate.distance is not None
    )
    vector_ranks = {pk: rank for rank, (_, _, pk) in enumerate(near, start=1)}
    fused_by = _fuse(candidates)
    found = []
    for candidate in candidates:
        vector_rank = vector_ranks.get(candidate.pk)
        fused = fused_by[candidate.pk]
        retention = retention_at(
            last_accessed_at=candidate.last_accessed_at, stability_days=candidate.stability_days, now=now
        )
        found.append(
            _Scored(
                candidate=candidate,
                score=weaken(fused, retention) if apply_decay else fused,
                fused=fused,
                retention=retention,
                text_rank=candidate.text_rank,
                vector_rank=vector_rank,
                similarity=None if candidate.distance is None else 1.0 - candidate.distance,
            )
        )
    return sorted(found, key=_order)


def _fuse(candidates: Sequence[EpisodeCandidate]) -> dict[UUID, float]:
    """How good each candidate is beside the best one, which is 1: by how near it is in meaning and what its words are
    worth, added up. What has no vector yet counts as near as the furthest that has one.
    """
    furthest = max((each.away for each in candidates if each.away is not None), default=0.0)
    worth = {each.pk: each.points - (furthest if each.away is None else each.away) for each in candidates}
    best = max(worth.values(), default=0.0)
    return {pk: HALF_GAP / (HALF_GAP + best - value) for pk, value in worth.items()}


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


def fuse_ranks(ranks: tuple[int | None, int | None], *, text_weight: float = TEXT_WEIGHT) -> float:
    """Weighted reciprocal rank fusion of a row's ranks by words and by meaning; first place in both lists is 1."""
    weighed = zip(ranks, (text_weight, 1.0 - text_weight), strict=True)
    return sum(weight * (RRF_K + 1) / (RRF_K + rank) for rank, weight in weighed if rank is not None)


def weaken(fused: float, retention: float) -> float:
    """A fused score after forgetting: between (1 - DECAY_WEIGHT) of it and all of it."""
    return fused * (1.0 - DECAY_WEIGHT + DECAY_WEIGHT * retention)


def rank_by_vector(
    golem_id: UUID, filters: EpisodeFilters, query_vector: Sequence[float], wanted: int, *, use_index: bool
) -> list[tuple[UUID, float]]:
    """The `wanted` episodes nearest to `query_vector` with their cosine distances; runs inside a transaction.

    Through the index (`use_index`) they are the nearest but for a few in a hundred; exact again when that came short.
    """
    scope = EpisodeScope.of(golem_id, select_episodes(golem_id=golem_id, filters=filters))
    size_up(scope, "")
    if use_index:
        found = find_nearest(scope=scope, query_vector=query_vector, wanted=wanted, use_index=True)
        if len(found) >= wanted:
            return found
    return find_nearest(scope=scope, query_vector=query_vector, wanted=wanted, use_index=False)
