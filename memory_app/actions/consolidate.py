"""Consolidate: clusters of like outcomes become insights, and enough of them a heuristic that tightens slippage.

Deterministic, without a language model. Only verified outcomes of the runtime count, so nothing an agent wrote or
a chain said in words can tune. A heuristic moves by at most a tenth every four hours, needs five episodes, and
never asks for more slippage than the agent did. Seed: facts 12 (CONSOLIDATE, TUNE); decisions, "Memory".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet

from archetypes_app.models import Golem
from memory_app.errors import MemoryOwnerUnknown
from memory_app.insights import FIRST_PERCENT, confirm, contradict
from memory_app.models import Episode, Insight
from memory_app.models.insight import LEAST_EPISODES_TO_TUNE, LEAST_FACTOR_BPS, InsightCategory, Kind, Tunable
from memory_app.models.provenance import Source, Trust
from tools_app.core import audit_log
from tools_app.core.hashing import hash_canonical
from tools_app.core.units import BPS

MOST_EPISODES = 100
LEAST_CLUSTER = 3
CYCLE = timedelta(hours=4)
LARGEST_SHIFT_BPS = 1_000
_LOOK_BACK = timedelta(days=30)
_MOST_BEHIND = 100
_AS_PREDICTED = "as_predicted"
_MOVED = "moved"
# The sentences `reflect` writes for a revert; only their cause counts here, never the contract's own words.
_CAUSES = {
    "The price moved further than the slippage bound allowed.": (_MOVED, InsightCategory.SLIPPAGE),
    "The transaction was mined after its deadline.": ("late", InsightCategory.GAS_TIMING),
    "The route had too little liquidity.": ("shallow", InsightCategory.LIQUIDITY_DEPTH),
}


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What one cycle did."""

    episodes_processed: int = 0
    clusters_found: int = 0
    insights_created: int = 0
    insights_reinforced: int = 0
    insights_contradicted: int = 0
    heuristics_tuned: int = 0


@dataclass(frozen=True, slots=True)
class _Subject:
    """What the episodes of one cluster share."""

    tool_name: str
    chain_id: int | None
    token_keys: tuple[str, ...]
    pattern: str
    category: InsightCategory

    def identify(self, pattern: str) -> str:
        return hash_canonical(
            {
                "tool_name": self.tool_name,
                "chain_id": self.chain_id,
                "token_keys": list(self.token_keys),
                "pattern": pattern,
            }
        )


@dataclass(slots=True)
class _Tally:
    created: int = 0
    reinforced: int = 0
    contradicted: int = 0
    tuned: int = 0


def list_golems_to_consolidate(*, now: datetime) -> list[UUID]:
    """Golems with enough new verified episodes for a cluster."""
    rows = _candidates(now).values_list("golem_id", flat=True).distinct()
    return [golem_id for golem_id in rows if _candidates(now).filter(golem_id=golem_id).count() >= LEAST_CLUSTER]


def consolidate(
    *,
    golem_id: UUID,
    now: datetime,
    max_episodes: int = MOST_EPISODES,
    min_cluster_size: int = LEAST_CLUSTER,
    dry_run: bool = False,
    actor: str = "system:memory",
) -> Consolidation:
    """One cycle over the golem's newest verified episodes no cycle has used, in one transaction.

    At most 100 episodes, clusters of at least 3; smaller ones wait for their like, up to 30 days. With `dry_run`
    everything is rolled back. Safe to run twice: an episode is used once. Raises MemoryOwnerUnknown.
    """
    tally = _Tally()
    with transaction.atomic():
        # The golem's row puts two cycles in one order.
        if not Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk").first():
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        rows = _candidates(now).filter(golem_id=golem_id).order_by("-occurred_at", "pk")
        episodes = list(rows.defer("search", "search_text")[: min(max_episodes, MOST_EPISODES)])
        size = max(min_cluster_size, LEAST_CLUSTER)
        clusters = {subject: members for subject, members in _cluster(episodes).items() if len(members) >= size}
        for subject, members in clusters.items():
            _learn(golem_id, subject, members, tally, now)
        used = [episode.pk for members in clusters.values() for episode in members]
        Episode.objects.filter(pk__in=used).update(consolidated_at=now)
        done = Consolidation(
            episodes_processed=len(episodes),
            clusters_found=len(clusters),
            insights_created=tally.created,
            insights_reinforced=tally.reinforced,
            insights_contradicted=tally.contradicted,
            heuristics_tuned=tally.tuned,
        )
        if dry_run:
            transaction.set_rollback(True)
        elif clusters:
            data = {name: str(getattr(done, name)) for name in Consolidation.__slots__}
            audit_log.append(golem_id=golem_id, event="MemoryConsolidated", actor=actor, data=data, now=now)
    return done


def shift_factor(*, factor_bps: int, tighten: bool) -> int:
    """The factor one cycle later: a tenth tighter, or a tenth back towards what was asked; 5,000 to 10,000."""
    step = factor_bps * LARGEST_SHIFT_BPS // BPS
    return max(LEAST_FACTOR_BPS, factor_bps - step) if tighten else min(BPS, factor_bps + step)


def _candidates(now: datetime) -> QuerySet[Episode]:
    return Episode.objects.filter(
        consolidated_at__isnull=True,
        archived_at__isnull=True,
        is_quarantined=False,
        source=Source.RUNTIME,
        trust=Trust.VERIFIED,
        permit_id__isnull=False,
        occurred_at__gt=now - _LOOK_BACK,
    )


def _cluster(episodes: Iterable[Episode]) -> dict[_Subject, list[Episode]]:
    clusters: dict[_Subject, list[Episode]] = defaultdict(list)
    for episode in episodes:
        found = _read_pattern(episode)
        if found is not None:
            subject = _Subject(episode.tool_name, episode.chain_id, tuple(sorted(set(episode.token_keys))), *found)
            clusters[subject].append(episode)
    return clusters


def _read_pattern(episode: Episode) -> tuple[str, InsightCategory] | None:
    verdict = episode.reflection.get("verdict")
    if verdict == "as_predicted":
        return _AS_PREDICTED, InsightCategory.SLIPPAGE
    if verdict == "diverged":
        return _MOVED, InsightCategory.SLIPPAGE
    if verdict == "reverted":
        causes = episode.reflection.get("why") or [""]
        return _CAUSES.get(causes[0], ("refused", InsightCategory.GENERAL))
    return None


def _learn(golem_id: UUID, subject: _Subject, members: list[Episode], tally: _Tally, now: datetime) -> None:
    identity = subject.identify(subject.pattern)
    row = Insight.objects.filter(golem_id=golem_id, identity_hash=identity).first()
    if row is None:
        row = Insight(
            golem_id=golem_id, category=subject.category, tool_name=subject.tool_name, chain_id=subject.chain_id,
            token_keys=list(subject.token_keys), confidence_percent=FIRST_PERCENT, recorded_by="system:memory",
            identity_hash=identity, kind=Kind.INSIGHT if subject.pattern == _AS_PREDICTED else Kind.WARNING,
        )  # fmt: skip
        tally.created += 1
    else:
        row.confidence_percent = confirm(row.confidence_percent)
        row.upvotes += 1
        tally.reinforced += 1
    new_ids = [episode.pk for episode in members]
    row.episode_ids = [*new_ids, *(known for known in row.episode_ids if known not in set(new_ids))][:_MOST_BEHIND]
    row.last_accessed_at = now
    row.text, row.embedding = _word(subject, members, len(row.episode_ids)), None
    row.save()
    if subject.pattern in (_AS_PREDICTED, _MOVED):
        opposite = _MOVED if subject.pattern == _AS_PREDICTED else _AS_PREDICTED
        tally.contradicted += _contradict(golem_id, subject.identify(opposite))
        tally.tuned += _tune(golem_id, subject, row, now)


def _contradict(golem_id: UUID, identity: str) -> int:
    row = Insight.objects.filter(golem_id=golem_id, identity_hash=identity).first()
    if row is None:
        return 0
    row.confidence_percent = contradict(row.confidence_percent)
    row.downvotes = F("downvotes") + 1
    row.save(update_fields=["confidence_percent", "downvotes", "updated_at"])
    return 1


def _tune(golem_id: UUID, subject: _Subject, insight: Insight, now: datetime) -> int:
    identity = subject.identify("tune slippage")
    row = Insight.objects.select_for_update().filter(golem_id=golem_id, identity_hash=identity).first()
    tighten = subject.pattern == _AS_PREDICTED
    if len(insight.episode_ids) < LEAST_EPISODES_TO_TUNE or (row is None and not tighten):
        return 0
    # A clock that went back counts as inside the cycle.
    if row is not None and row.tuned_at is not None and now < row.tuned_at + CYCLE:
        return 0
    if row is None:
        row = Insight(
            golem_id=golem_id, category=InsightCategory.SLIPPAGE, kind=Kind.HEURISTIC, tool_name=subject.tool_name,
            chain_id=subject.chain_id, token_keys=list(subject.token_keys), confidence_percent=FIRST_PERCENT,
            recorded_by="system:memory", identity_hash=identity, parameter=Tunable.SLIPPAGE,
        )  # fmt: skip
    else:
        row.confidence_percent = confirm(row.confidence_percent) if tighten else contradict(row.confidence_percent)
    row.factor_bps = shift_factor(factor_bps=row.factor_bps, tighten=tighten)
    row.episode_ids = insight.episode_ids
    row.tuned_at = row.last_accessed_at = now
    row.text = f"{_name(subject)}: ask for {row.factor_bps // 100}% of the slippage that was asked for"
    row.embedding = None
    row.save()
    return 1


def _word(subject: _Subject, members: list[Episode], behind: int) -> str:
    worst = max((episode.prediction_error_bps or 0) for episode in members)
    sentences = {
        _AS_PREDICTED: f"went as predicted; at most {worst} bps off",
        _MOVED: f"the price moved between preview and execution, by up to {worst} bps",
        "late": "transactions were mined after their deadline",
        "shallow": "the route had too little liquidity",
        "refused": "the contract refused for a reason that is not known here",
    }
    return f"{_name(subject)}: {sentences[subject.pattern]} ({behind} episodes)"


def _name(subject: _Subject) -> str:
    tokens = f" with {'/'.join(subject.token_keys)}" if subject.token_keys else ""
    chain = f" on chain {subject.chain_id}" if subject.chain_id is not None else ""
    return f"{subject.tool_name}{tokens}{chain}"
