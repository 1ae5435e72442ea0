"""Summarises what the index keeps for somebody: contracts, since when, what is missing, how much."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db.models import Count, Max

from tools_app.history.log_expiry import log_days_of
from tools_app.models.history import FollowedChain, LogGap, LogSource, LogWish

MOST_GAPS: Final = 200
"""Of so many gaps in all a page tells; the newest first."""


@dataclass(frozen=True, slots=True)
class FollowedContract:
    """One contract. `known_since` is from when on nothing of it is missing; `shared_with` others want it too."""

    source: LogSource
    because: str
    known_since: datetime
    gaps: tuple[LogGap, ...]
    shared_with: int

    @property
    def open_gaps(self) -> tuple[LogGap, ...]:
        """Those that are still filled, newest first."""
        return tuple(gap for gap in self.gaps if not gap.closed_because)


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything that is followed for somebody, and the followers of its chains."""

    contracts: tuple[FollowedContract, ...]
    chains: tuple[FollowedChain, ...]
    most_contracts: int
    most_logs: int
    questions_a_minute: int
    log_days: int
    hour_days: int


def look_over(wanted_by: Collection[str]) -> Overview:
    """What is followed for a golem: `wanted_by` are its id and its account. Six questions, however much it is."""
    wishes = LogWish.objects.filter(wanted_by__in=wanted_by).select_related("source").order_by("source__added_at", "pk")
    by_source: dict[int, LogWish] = {}
    for wish in wishes:
        by_source.setdefault(wish.source_id, wish)
    gaps = _list_gaps(by_source)
    others = dict(
        LogWish.objects.filter(source__in=by_source)
        .exclude(wanted_by__in=wanted_by)
        .values_list("source_id")
        .annotate(Count("pk"))
    )
    # Of all gaps: the list below is cut.
    known = dict(LogGap.objects.filter(source__in=by_source).values_list("source_id").annotate(Max("until_time")))
    chains = {wish.source.chain_id for wish in by_source.values()}
    return Overview(
        contracts=tuple(
            FollowedContract(
                source=wish.source,
                because=wish.because,
                known_since=known.get(source_id, wish.source.kept_from),
                gaps=tuple(gaps.get(source_id, ())),
                shared_with=others.get(source_id, 0),
            )
            for source_id, wish in by_source.items()
        ),
        chains=tuple(FollowedChain.objects.filter(pk__in=chains).order_by("pk")),
        most_contracts=settings.GOLEM_HISTORY_MOST_CONTRACTS_PER_GOLEM,
        most_logs=settings.GOLEM_HISTORY_MOST_LOGS_PER_CONTRACT,
        questions_a_minute=settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE,
        log_days=log_days_of(wanted_by),
        hour_days=settings.GOLEM_HISTORY_HOUR_DAYS,
    )


def _list_gaps(sources: Mapping[int, LogWish]) -> dict[int, list[LogGap]]:
    found: dict[int, list[LogGap]] = {}
    for gap in LogGap.objects.filter(source__in=sources).order_by("-to_block", "pk")[:MOST_GAPS]:
        found.setdefault(gap.source_id, []).append(gap)
    return found
