"""Ranks a golem's insights for its situation, by words, by meaning and by forgetting.

One statement reads them, because every tick asks; the vector of the situation is read inside the database, where the
memory worker put it. Changes nothing but to note a situation that has no vector yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.contrib.postgres.search import SearchRank
from django.db.models import F, Subquery
from pgvector.django import CosineDistance

from memory_app.decay import INSIGHT_FLOOR, retention_at
from memory_app.insights import REPORTED_WEIGHT
from memory_app.models import Insight, SituationVector
from memory_app.models.insight import Kind
from memory_app.models.provenance import Trust
from memory_app.retrieval import fuse_ranks, weaken
from memory_app.text_query import AnyWordQuery
from tools_app.core.hashing import hash_canonical

MOST_RECALLED: Final = 5
WARNINGS_KEPT: Final = 2
MOST_REPORTED: Final = 2
"""Places for what was only said: whoever writes much does not write the rest of memory out of sight."""
_MOST_WEIGHED: Final = 200
_LONGEST: Final = 500


@dataclass(frozen=True, slots=True)
class RecalledInsight:
    """One insight that bears on the situation; `text` is data that says who wrote it, never an instruction."""

    pk: UUID
    kind: str
    category: str
    tool_name: str
    chain_id: int | None
    token_keys: tuple[str, ...]
    text: str
    confidence_percent: int
    trust: str
    source: str
    score: float

    @property
    def is_verified(self) -> bool:
        """Read from outcomes, not said by anybody."""
        return self.trust == Trust.VERIFIED

    @property
    def is_warning(self) -> bool:
        return self.kind == Kind.WARNING


def recall(*, golem_id: UUID, situation: str, now: datetime) -> tuple[RecalledInsight, ...]:
    """At most five insights of the golem for `situation` (words), best first: two places are for warnings that outcomes
    gave, at most two for what was only said.
    """
    words = situation[:_LONGEST]
    key = hash_canonical({"situation": words})
    asked = AnyWordQuery(words, config="english")
    near = SituationVector.objects.filter(pk=key).values("embedding")
    known = Insight.objects.filter(golem_id=golem_id, is_quarantined=False, archived_at__isnull=True)
    rows = list(
        known.annotate(words=SearchRank(F("search"), asked), distance=CosineDistance("embedding", Subquery(near)))
        .order_by("-trust", "-confidence_percent", "-pk")
        .defer("search", "embedding", "episode_ids")[:_MOST_WEIGHED]
    )
    if rows and all(row.distance is None for row in rows):
        # Nothing was ever near: the memory worker makes the vector.
        SituationVector.objects.bulk_create(
            [SituationVector(text_hash=key, text=words, created_at=now)], ignore_conflicts=True
        )
    return _choose(_score(rows, now))


def _score(rows: Sequence[Any], now: datetime) -> list[RecalledInsight]:  # Any: a column's value, of any type
    by_words = sorted((row for row in rows if row.words), key=lambda row: (-row.words, str(row.pk)))
    by_meaning = sorted((row for row in rows if row.distance is not None), key=lambda row: (row.distance, str(row.pk)))
    word_ranks = {row.pk: rank for rank, row in enumerate(by_words, start=1)}
    meaning_ranks = {row.pk: rank for rank, row in enumerate(by_meaning, start=1)}
    found = []
    for row in rows:
        fused = fuse_ranks((word_ranks.get(row.pk), meaning_ranks.get(row.pk)))
        believed = (
            fused * (0.5 + row.confidence_percent / 200) * (1 if row.trust == Trust.VERIFIED else REPORTED_WEIGHT)
        )
        retention = retention_at(
            last_accessed_at=row.last_accessed_at, stability_days=row.stability_days, now=now, floor=INSIGHT_FLOOR
        )
        found.append(_describe(row, weaken(believed, retention)))
    return sorted(found, key=lambda each: (-each.score, -each.confidence_percent, str(each.pk)))


def _describe(row: Any, score: float) -> RecalledInsight:  # Any: a row of any model
    return RecalledInsight(
        pk=row.pk,
        kind=row.kind,
        category=row.category,
        tool_name=row.tool_name,
        chain_id=row.chain_id,
        token_keys=tuple(row.token_keys),
        text=row.text,
        confidence_percent=row.confidence_percent,
        trust=row.trust,
        source=row.source,
        score=score,
    )


def _choose(ranked: Sequence[RecalledInsight]) -> tuple[RecalledInsight, ...]:
    verified = [each for each in ranked if each.is_verified]
    warnings = [each for each in verified if each.is_warning][:WARNINGS_KEPT]
    said = [each for each in ranked if not each.is_verified][:MOST_REPORTED]
    others = [each for each in verified[:MOST_RECALLED] if each not in warnings]
    chosen = [*warnings, *others[: MOST_RECALLED - len(warnings) - len(said)], *said]
    return tuple(each for each in ranked if each in chosen)
