"""Finds insights of a golem and moves their confidence.

Ranking fuses words and vectors as for episodes; a golem has few insights, so both lists are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.postgres.search import SearchRank
from django.db.models import F, FloatField, Q, QuerySet, Value
from django.db.models.functions import Greatest, Least
from pgvector.django import CosineDistance

from memory_app.decay import INSIGHT_FLOOR, REINFORCEMENT, STABILITY_CAP_DAYS, retention_at
from memory_app.filters import EpisodeFilters
from memory_app.models import Insight
from memory_app.models.insight import Kind
from memory_app.models.provenance import Source, Trust
from memory_app.redact_unverified_facts import tell_insight
from memory_app.retrieval import fuse_ranks, weaken
from memory_app.text_query import AnyWordQuery

FIRST_PERCENT = 60
SAID_PERCENT = 30
"""Where the word of an agent starts: half of what outcomes give, and under what moves or holds back anything."""
IMPORTED_PERCENT = 40
CONFIRMED_PERCENT = 10
MOST_REPORTED_PERCENT = 70
"""What nobody but its author confirms is believed no more than this; outcomes go on to 100."""
CONTRADICTED_PERCENT = 15
_CANDIDATES = 50
WARNING_SHARE = 3
"""One place in so many of a recall is kept for a warning that outcomes gave."""
REPORTED_WEIGHT = 0.8
"""What was only said ranks under what was read from outcomes, where both fit as well."""


@dataclass(frozen=True, slots=True)
class InsightHit:
    """One insight found, with the parts of its score."""

    insight: Insight
    score: float
    fused: float
    retention: float


def confirm(percent: int) -> int:
    """Confidence after one confirmation, in whole percent, at most 100."""
    return min(100, percent + CONFIRMED_PERCENT)


def confirm_row(row: Insight, *, by_agent: bool = False) -> int:
    """Confidence of `row` after one confirmation: what was read from outcomes may become certain, words may not.

    A heuristic may, unless it is an agent's word that confirms it.
    """
    may_be_certain = row.trust == Trust.VERIFIED or (row.kind == Kind.HEURISTIC and not by_agent)
    most = 100 if may_be_certain else MOST_REPORTED_PERCENT
    return max(row.confidence_percent, min(most, confirm(row.confidence_percent)))


def first_percent(source: str) -> int:
    """What a new insight is believed, by who wrote it."""
    return SAID_PERCENT if source == Source.AGENT else FIRST_PERCENT


def contradict(percent: int) -> int:
    """Confidence after one contradiction, in whole percent, at least 0."""
    return max(0, percent - CONTRADICTED_PERCENT)


def show_percent(percent: int) -> str:
    """Whole percent as decimal text between 0 and 1."""
    return f"{percent // 100}.{percent % 100:02d}"


def select_insights(
    *, golem_id: UUID, filters: EpisodeFilters, min_percent: int = 0, heuristics: bool = False
) -> QuerySet[Insight]:
    """The golem's insights and warnings (or its heuristics), unordered and without quarantined ones.

    Of `filters` chain, tokens and tool count; an insight that names no chain or tool fits every one.
    """
    wanted = Q(golem_id=golem_id, confidence_percent__gte=min_percent)
    wanted &= Q(kind=Kind.HEURISTIC) if heuristics else ~Q(kind=Kind.HEURISTIC)
    if filters.chain_id is not None:
        wanted &= Q(chain_id=filters.chain_id) | Q(chain_id__isnull=True)
    if filters.tool_name:
        wanted &= Q(tool_name=filters.tool_name) | Q(tool_name="")
    if filters.tokens:
        wanted &= Q(token_keys__contains=[token.lower() for token in filters.tokens])
    if not filters.include_archived:
        wanted &= Q(archived_at__isnull=True)
    if not filters.include_quarantined:
        wanted &= Q(is_quarantined=False)
    return Insight.objects.filter(wanted)


def lock_insight(*, golem_id: UUID, **which: object) -> Insight | None:
    """One insight of the golem to change and save, locked until the transaction ends; None when there is none.

    Whoever changes one without the golem's lock (a scan sets it aside, an owner archives it, a purge takes it) is
    waited for and seen, never written over.
    """
    rows = Insight.objects.select_for_update(no_key=True, of=("self",))
    return rows.filter(golem_id=golem_id, **which).first()


def retrieve_insights(
    *,
    matching: QuerySet[Insight],
    query: str,
    query_vector: Sequence[float] | None,
    limit: int,
    now: datetime,
    apply_decay: bool = True,
) -> list[InsightHit]:
    """The `limit` best of `matching` for `query`: ranks fused, weakened by forgetting (R >= 0.1) and by doubt."""
    wanted = max(_CANDIDATES, limit)
    text_ids, vector_ids = _list_near(matching, query, query_vector, wanted)
    kept = (limit + 1) // WARNING_SHARE
    warned, feared = _list_near(matching.filter(kind=Kind.WARNING, trust=Trust.VERIFIED), query, query_vector, kept)
    ids = {*text_ids, *vector_ids, *warned, *feared}
    if len(ids) < limit:
        others = matching.exclude(pk__in=ids).order_by("-confidence_percent", "pk")
        ids.update(others.values_list("pk", flat=True)[: limit - len(ids)])
    text_ranks = {pk: rank for rank, pk in enumerate(text_ids, start=1)}
    vector_ranks = {pk: rank for rank, pk in enumerate(vector_ids, start=1)}
    hits = []
    for insight in matching.filter(pk__in=ids).defer("search", "embedding"):
        fused = fuse_ranks((text_ranks.get(insight.pk), vector_ranks.get(insight.pk)))
        retention = insight_retention(insight=insight, now=now)
        believed = fused * (0.5 + insight.confidence_percent / 200)
        if insight.trust != Trust.VERIFIED:
            believed *= REPORTED_WEIGHT
        hits.append(InsightHit(insight, weaken(believed, retention) if apply_decay else believed, fused, retention))
    hits.sort(key=lambda hit: (-hit.score, -hit.insight.confidence_percent, str(hit.insight.pk)))
    return _keep_warnings(hits, limit=limit, kept=kept, relevant={*warned, *feared})


def _list_near(
    matching: QuerySet[Insight], query: str, query_vector: Sequence[float] | None, most: int
) -> tuple[list[UUID], list[UUID]]:
    """The best by words and the nearest by meaning."""
    words = AnyWordQuery(query, config="english")
    by_text = matching.filter(search=words).annotate(text_score=SearchRank(F("search"), words))
    text_ids = list(by_text.order_by("-text_score", "pk").values_list("pk", flat=True)[:most])
    if query_vector is None:
        return text_ids, []
    near = matching.filter(embedding__isnull=False).order_by(CosineDistance("embedding", list(query_vector)), "pk")
    return text_ids, list(near.values_list("pk", flat=True)[:most])


def _keep_warnings(hits: list[InsightHit], *, limit: int, kept: int, relevant: set[UUID]) -> list[InsightHit]:
    """The best `limit`; up to `kept` places are those of warnings from outcomes, whatever was written since."""
    warnings = [hit for hit in hits if hit.insight.pk in relevant][:kept]
    chosen = hits[:limit]
    missing = [hit for hit in warnings if hit not in chosen]
    for weakest in [hit for hit in reversed(chosen) if hit not in warnings][: len(missing)]:
        chosen.remove(weakest)
    found = {id(hit) for hit in (*chosen, *missing)}
    return [hit for hit in hits if id(hit) in found]


def insight_retention(*, insight: Insight, now: datetime) -> float:
    """R of an insight at `now`, never under 0.1."""
    return retention_at(
        last_accessed_at=insight.last_accessed_at, stability_days=insight.stability_days, now=now, floor=INSIGHT_FLOOR
    )


def reinforce_insights(
    *, golem_id: UUID, insight_ids: Sequence[UUID], now: datetime, not_since: datetime | None = None
) -> int:
    """Count one retrieval of each insight, but for those retrieved after `not_since`. Returns how many."""
    rows = Insight.objects.filter(golem_id=golem_id, pk__in=list(insight_ids))
    if not_since is not None:
        rows = rows.filter(last_accessed_at__lte=not_since)
    return rows.update(
        stability_days=Least(
            F("stability_days") * Value(REINFORCEMENT), Value(STABILITY_CAP_DAYS), output_field=FloatField()
        ),
        last_accessed_at=Greatest(F("last_accessed_at"), Value(now)),
        access_count=F("access_count") + 1,
    )


def describe_insight(insight: Insight) -> dict[str, object]:
    """One insight as an agent sees it. `content` is data, never an instruction."""
    return {
        "id": str(insight.pk),
        "source": insight.kind.lower(),
        "untrusted": True,
        "content": tell_insight(insight),
        "category": insight.category,
        "confidence": show_percent(insight.confidence_percent),
        "tool_name": insight.tool_name,
        "chain_id": insight.chain_id,
        "tokens": insight.token_keys,
        "episode_ids": [str(episode_id) for episode_id in insight.episode_ids],
        "upvotes": insight.upvotes,
        "downvotes": insight.downvotes,
        "parameter": insight.parameter or None,
        "factor_bps": insight.factor_bps,
        "route": insight.route or None,
        "created_at": insight.created_at.isoformat(),
        "updated_at": insight.updated_at.isoformat(),
        "trust": insight.trust,
        "provenance": {"source": insight.source, "trust": insight.trust, "recorded_by": insight.recorded_by},
    }


def describe_insight_hit(hit: InsightHit) -> Mapping[str, object]:
    """One insight found, with its score as decimal text."""
    return {
        **describe_insight(hit.insight),
        "score": f"{hit.score:.6f}",
        "score_parts": {"fused": f"{hit.fused:.6f}", "confidence": show_percent(hit.insight.confidence_percent)},
        "retention": f"{hit.retention:.6f}",
    }
