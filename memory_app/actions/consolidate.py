"""Consolidate: clusters of like outcomes become insights, and enough of them a heuristic that tunes.

Deterministic, without a language model. Only verified outcomes of the runtime count, so nothing an agent wrote or
a chain said in words can tune. A heuristic moves by at most a tenth every four hours, needs five episodes, and
never asks for more slippage than the agent did. Of swaps through different pools it learns the route that filled
nearest to its predictions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet

from archetypes_app.models import Golem
from archetypes_app.models.tick import ROUGH
from memory_app.actions.snapshot_heuristics import snapshot_heuristics
from memory_app.categories import choose_category, choose_stability
from memory_app.errors import MemoryOwnerUnknown
from memory_app.heuristic_adjustment import MOST_BEHIND, Subject, Tuned, prefer_route, tune
from memory_app.insight_events import announce_insight
from memory_app.insights import FIRST_PERCENT, confirm, contradict, lock_insight
from memory_app.models import Episode, Insight
from memory_app.models.insight import LEAST_EPISODES_TO_TUNE, Kind, Tunable
from memory_app.models.provenance import Source, Trust
from memory_app.reflection import MINED_LATE, PRICE_MOVED, TOO_SHALLOW
from memory_app.route_learning import choose_route, read_fill
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted

MOST_EPISODES = 100
LEAST_CLUSTER = 3
_LOOK_BACK = timedelta(days=30)
_AS_PREDICTED = "as_predicted"
_MOVED = "moved"
_LATE = "late"
# The sentences `reflect` writes for a revert; only their cause counts here, never the contract's own words.
_CAUSES = {PRICE_MOVED: _MOVED, MINED_LATE: _LATE, TOO_SHALLOW: "shallow"}


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
class _Cluster:
    """What the episodes of one cluster share. What happens in a rough market says nothing of a calm one, nor the other
    way round.
    """

    subject: Subject
    pattern: str
    is_rough: bool = False

    @property
    def identity(self) -> str:
        """Of the insight that is drawn from it."""
        return self.subject.identify(f"{self.pattern} while rough" if self.is_rough else self.pattern)


@dataclass(slots=True)
class _Tally:
    created: int = 0
    reinforced: int = 0
    contradicted: int = 0
    tuned: int = 0


def list_golems_to_consolidate(*, now: datetime) -> list[UUID]:
    """Golems with memory switched on and enough new verified episodes for a cluster."""
    counted = _candidates(now).order_by().values("golem_id").annotate(many=Count("pk")).filter(many__gte=LEAST_CLUSTER)
    # Only those with enough are looked up among the golems.
    found = Golem.objects.filter(pk__in=list(counted.values_list("golem_id", flat=True)), is_memory_enabled=True)
    return list(found.order_by("pk").values_list("pk", flat=True))


@retry_aborted
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
        clusters = {found: members for found, members in _cluster(episodes).items() if len(members) >= size}
        used = [episode.pk for members in clusters.values() for episode in members]
        # Before the insights they make: rows are locked in one order, and what is learnt is told at once.
        Episode.objects.filter(pk__in=used).update(consolidated_at=now)
        for found, members in clusters.items():
            _learn(golem_id, found, members, tally, now)
        # Once all are written: whichever came last would else lose to the one that came before, however many it has.
        for found in clusters:
            tally.contradicted += _contradict_opposite(golem_id, found, clusters, now)
        for subject in dict.fromkeys(found.subject for found in clusters):
            tally.tuned += len(learn_routes(golem_id=golem_id, subject=subject, now=now))
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
            counts = {name: getattr(done, name) for name in Consolidation.__slots__}
            event_bus.emit(
                golem_id=golem_id,
                event=Event(EventType.GRIMOIRE_CONSOLIDATED, {"counts": counts, "examined": len(episodes)}),
                now=now,
            )
            if tally.tuned:
                snapshot_heuristics(golem_id=golem_id, actor=actor, reason="consolidation", now=now)
    return done


def learn_routes(*, golem_id: UUID, subject: Subject, now: datetime) -> list[Tuned]:
    """Move the route heuristics of `subject`, one for each token it starts from. Joins the caller's transaction."""
    tokens = list(subject.token_keys)
    rows = _verified(now).filter(
        golem_id=golem_id,
        tool_name=subject.tool_name,
        chain_id=subject.chain_id,
        token_keys__contains=tokens,
        token_keys__contained_by=tokens,
        prediction__details__route_name__isnull=False,
    )
    columns = ("pk", "prediction", "outcome", "reflection")
    episodes = list(rows.order_by("-occurred_at", "pk").values_list(*columns)[:MOST_EPISODES])
    moved = []
    for token in tokens:
        read = (
            read_fill(episode_id=pk, token_in=token, prediction=prediction, outcome=outcome, reflection=reflection)
            for pk, prediction, outcome, reflection in episodes
        )
        fills = [fill for fill in read if fill is not None]
        if fills:
            tuned = prefer_route(
                golem_id=golem_id,
                subject=subject,
                token_in=token,
                preference=choose_route(fills),
                episode_ids=[fill.episode_id for fill in fills],
                now=now,
            )
            moved += [tuned] if tuned else []
    return moved


def _candidates(now: datetime) -> QuerySet[Episode]:
    return _verified(now).filter(consolidated_at__isnull=True)


def _verified(now: datetime) -> QuerySet[Episode]:
    return Episode.objects.filter(
        archived_at__isnull=True,
        is_quarantined=False,
        source=Source.RUNTIME,
        trust=Trust.VERIFIED,
        permit_id__isnull=False,
        occurred_at__gt=now - _LOOK_BACK,
    )


def _cluster(episodes: Iterable[Episode]) -> dict[_Cluster, list[Episode]]:
    clusters: dict[_Cluster, list[Episode]] = defaultdict(list)
    for episode in episodes:
        found = _read_pattern(episode)
        if found is not None:
            is_rough = episode.outcome.get("regime") in ROUGH
            clusters[_Cluster(subject_of(episode), found, is_rough)].append(episode)
    return clusters


def subject_of(episode: Episode) -> Subject:
    """What an episode is about."""
    return Subject(episode.tool_name, episode.chain_id, tuple(sorted(set(episode.token_keys))))


def _read_pattern(episode: Episode) -> str | None:
    verdict = episode.reflection.get("verdict")
    if verdict == "as_predicted":
        return _AS_PREDICTED
    if verdict == "diverged":
        return _MOVED
    if verdict == "reverted":
        causes = episode.reflection.get("why") or [""]
        return _CAUSES.get(causes[0], "refused")
    return None


def _learn(golem_id: UUID, cluster: _Cluster, members: list[Episode], tally: _Tally, now: datetime) -> None:
    subject = cluster.subject
    identity = cluster.identity
    row = lock_insight(golem_id=golem_id, identity_hash=identity)
    is_new = row is None
    if row is None:
        row = Insight(
            golem_id=golem_id,
            stability_days=choose_stability(members),
            tool_name=subject.tool_name,
            chain_id=subject.chain_id,
            token_keys=list(subject.token_keys),
            confidence_percent=FIRST_PERCENT,
            recorded_by="system:memory",
            trust=Trust.VERIFIED,
            identity_hash=identity,
            kind=Kind.INSIGHT if cluster.pattern == _AS_PREDICTED else Kind.WARNING,
        )
        tally.created += 1
    else:
        row.confidence_percent = confirm(row.confidence_percent)
        row.upvotes += 1
        row.stability_days = max(row.stability_days, choose_stability(members))
        tally.reinforced += 1
    row.category = choose_category(members)
    new_ids = [episode.pk for episode in members]
    row.episode_ids = [*new_ids, *(known for known in row.episode_ids if known not in set(new_ids))][:MOST_BEHIND]
    row.last_accessed_at = now
    row.recorded_block = max((episode.block_number or 0 for episode in members), default=0) or None
    row.text, row.embedding = _word(cluster, members, len(row.episode_ids)), None
    row.save()
    announce_insight(row, change="written" if is_new else "confirmed", now=now)
    tally.tuned += _tune(golem_id, cluster, row, now)


def _contradict_opposite(
    golem_id: UUID, cluster: _Cluster, clusters: Mapping[_Cluster, Sequence[Episode]], now: datetime
) -> int:
    """Lower what says the contrary of `cluster`, unless as many episodes of the same cycle speak for it."""
    if cluster.pattern not in (_AS_PREDICTED, _MOVED):
        return 0
    opposite = replace(cluster, pattern=_MOVED if cluster.pattern == _AS_PREDICTED else _AS_PREDICTED)
    if len(clusters.get(opposite, ())) >= len(clusters[cluster]):
        return 0
    return _contradict(golem_id, opposite.identity, now)


def _contradict(golem_id: UUID, identity: str, now: datetime) -> int:
    row = lock_insight(golem_id=golem_id, identity_hash=identity)
    if row is None:
        return 0
    row.confidence_percent = contradict(row.confidence_percent)
    row.downvotes += 1
    row.save(update_fields=["confidence_percent", "downvotes", "updated_at"])
    announce_insight(row, change="contradicted", now=now)
    return 1


def _tune(golem_id: UUID, cluster: _Cluster, insight: Insight, now: datetime) -> int:
    moves = {
        _AS_PREDICTED: ((Tunable.SLIPPAGE, True), (Tunable.DEADLINE, False)),
        _MOVED: ((Tunable.SLIPPAGE, False),),
        _LATE: ((Tunable.DEADLINE, True),),
    }.get(cluster.pattern, ())
    return sum(
        tune(
            golem_id=golem_id,
            subject=cluster.subject,
            parameter=parameter,
            episode_ids=list(insight.episode_ids),
            advance=advance,
            now=now,
        )
        is not None
        for parameter, advance in moves
    )


def retune(
    *, golem_id: UUID, tool_name: str = "", tokens: Iterable[str] = (), chain_id: int | None = None, now: datetime
) -> list[Tuned]:
    """Move the heuristics that insights already drawn speak for, as far as one cycle may. Joins the transaction.

    An insight without an episode newer than the heuristic's last move changes nothing.
    """
    wanted = sorted({token.lower() for token in tokens})
    rows = Insight.objects.filter(
        golem_id=golem_id,
        source=Source.RUNTIME,
        archived_at__isnull=True,
        is_quarantined=False,
        kind__in=[Kind.INSIGHT, Kind.WARNING],
        episode_ids__len__gte=LEAST_EPISODES_TO_TUNE,
    )
    rows = rows.filter(tool_name=tool_name) if tool_name else rows
    rows = rows.filter(chain_id=chain_id) if chain_id is not None else rows
    found = []
    for row in rows.order_by("pk"):
        if wanted and sorted(row.token_keys) != wanted:
            continue
        subject = Subject(row.tool_name, row.chain_id, tuple(sorted(set(row.token_keys))))
        for pattern, parameter, advance in (
            (_AS_PREDICTED, Tunable.SLIPPAGE, True),
            (_MOVED, Tunable.SLIPPAGE, False),
            (_LATE, Tunable.DEADLINE, True),
        ):
            if _is_of(row, subject, pattern):
                moved = tune(
                    golem_id=golem_id,
                    subject=subject,
                    parameter=parameter,
                    episode_ids=list(row.episode_ids),
                    advance=advance,
                    now=now,
                )
                found += [moved] if moved else []
        if _is_of(row, subject, _AS_PREDICTED) or _is_of(row, subject, _MOVED):
            found += learn_routes(golem_id=golem_id, subject=subject, now=now)
    return found


def _is_of(row: Insight, subject: Subject, pattern: str) -> bool:
    return row.identity_hash in {_Cluster(subject, pattern, is_rough).identity for is_rough in (False, True)}


def _word(cluster: _Cluster, members: list[Episode], behind: int) -> str:
    worst = max((episode.prediction_error_bps or 0) for episode in members)
    sentences = {
        _AS_PREDICTED: f"went as predicted; at most {worst} bps off",
        _MOVED: f"the price moved between preview and execution, by up to {worst} bps",
        _LATE: "transactions were mined after their deadline",
        "shallow": "the route had too little liquidity",
        "refused": "the contract refused for a reason that is not known here",
    }
    when = " while the market was rough" if cluster.is_rough else ""
    return f"{cluster.subject.name}: {sentences[cluster.pattern]}{when} ({behind} episodes)"
