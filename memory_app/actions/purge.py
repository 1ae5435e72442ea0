"""Purge: delete memories for good, on an owner's request with a reason. What is left is their hash in the audit log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from memory_app.models import Directive, DreamJournal, Episode, Execution, Insight, Strategy
from tools_app.core import audit_log, event_bus
from tools_app.core.errors import InvalidParams
from tools_app.core.events import Event, EventType
from tools_app.core.hashing import hash_canonical
from tools_app.core.transaction_retry import retry_aborted

_MOST_HASHES = 200


@dataclass(frozen=True, slots=True)
class Purge:
    """How many rows of each kind are gone."""

    episodes: int = 0
    insights: int = 0
    strategies: int = 0
    executions: int = 0
    directives: int = 0
    dreams: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return sum(getattr(self, name) for name in self.__slots__)


@retry_aborted
def purge_memories(
    *,
    golem_id: UUID,
    actor: str,
    reason: str,
    now: datetime,
    episode_ids: Iterable[UUID] = (),
    insight_ids: Iterable[UUID] = (),
) -> Purge:
    """Delete these episodes and insights of one golem, with what insights say of them. Raises InvalidParams.

    An insight whose episodes are all gone goes too; another one loses the ids. Ids of other golems count as unknown.
    """
    _check_reason(reason)
    with transaction.atomic():
        _lock_golem(golem_id)
        rows = Episode.objects.filter(golem_id=golem_id, pk__in=list(episode_ids)).order_by("pk")
        episodes = list(rows.select_for_update(no_key=True, of=("self",)).values_list("pk", "content_hash"))
        gone = {pk for pk, _ in episodes}
        insights = set(Insight.objects.filter(golem_id=golem_id, pk__in=list(insight_ids)).values_list("pk", flat=True))
        for row in Insight.objects.filter(golem_id=golem_id, episode_ids__overlap=list(gone)).select_for_update(
            no_key=True
        ):
            left = [episode_id for episode_id in row.episode_ids if episode_id not in gone]
            # The database lets no heuristic stand on fewer than five episodes.
            if not left or (row.kind == "HEURISTIC" and len(left) < 5):
                insights.add(row.pk)
            else:
                Insight.objects.filter(pk=row.pk).update(episode_ids=left)
        Insight.objects.filter(golem_id=golem_id, pk__in=insights).delete()
        Insight.objects.filter(golem_id=golem_id, cause_id__in=gone | insights).delete()
        Insight.objects.filter(golem_id=golem_id, effect_id__in=gone | insights).delete()
        Episode.objects.filter(golem_id=golem_id, pk__in=gone).delete()
        done = Purge(episodes=len(gone), insights=len(insights))
        if done.total:
            _announce(golem_id, done, actor, reason, [content for _, content in episodes], now)
    return done


@retry_aborted
def purge_everything(*, golem_id: UUID, actor: str, reason: str, now: datetime) -> Purge:
    """Delete the whole memory of one golem in one transaction: every store and every journal. Raises InvalidParams."""
    _check_reason(reason)
    with transaction.atomic():
        _lock_golem(golem_id)
        hashes = list(Episode.objects.filter(golem_id=golem_id).values_list("content_hash", flat=True))
        done = Purge(
            executions=Execution.objects.filter(golem_id=golem_id).delete()[0],
            episodes=_delete_episodes(golem_id),
            insights=Insight.objects.filter(golem_id=golem_id).delete()[0],
            directives=Directive.objects.filter(golem_id=golem_id).delete()[0],
            strategies=Strategy.objects.filter(golem_id=golem_id).delete()[0],
            dreams=DreamJournal.objects.filter(golem_id=golem_id).delete()[0],
        )
        if done.total:
            _announce(golem_id, done, actor, reason, hashes, now)
    return done


def _lock_golem(golem_id: UUID) -> None:
    list(Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk"))


def _delete_episodes(golem_id: UUID) -> int:
    count = Episode.objects.filter(golem_id=golem_id).count()
    Episode.objects.filter(golem_id=golem_id).delete()
    return count


def _check_reason(reason: str) -> None:
    if not reason.strip():
        raise InvalidParams("a purge needs a reason", fields={"reason": "why these memories go"})


def _announce(golem_id: UUID, done: Purge, actor: str, reason: str, hashes: list[str], now: datetime) -> None:
    counts = {name: getattr(done, name) for name in Purge.__slots__ if getattr(done, name)}
    audit_log.append(
        golem_id=golem_id,
        event="MemoryPurged",
        actor=actor,
        data={
            "counts": {name: str(count) for name, count in counts.items()},
            "reason": reason[:500],
            "content_hashes": hashes[:_MOST_HASHES],
            "content_hash_of_all": hash_canonical({"hashes": sorted(hashes)}),
        },
        now=now,
    )
    event_bus.emit(
        golem_id=golem_id,
        event=Event(EventType.GRIMOIRE_PURGED, {"change": "purged", "counts": counts, "reason": reason[:500]}),
        now=now,
    )
