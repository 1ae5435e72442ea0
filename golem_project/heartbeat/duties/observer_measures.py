"""Counts rows of an owner's golems for the sleepwalker-observer, in five domains, each by one rule.

A measure finds the rows of a subject and says which of them bear it out; counting the same rows again gives the same
figures, which is the recipe an artifact is published with. It reads only what happened here: no venue's own governance,
no other chain's mempool.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Model, Prefetch

from archetypes_app.models import DecisionCycleRecord
from archetypes_app.models.artifact import Domain
from permits_app.models import ChangeRequest, OutcomeRecord
from permits_app.models.action_record import ActionRecord, ActionState
from permits_app.models.approval import ChangeState

NEAR_FEEDS_BPS: Final = 200
FAIR_FILL_BPS: Final = 10
MOST_ROWS: Final = 200
_DAY: Final = timedelta(days=1)
_DONE: Final = (ActionState.EXECUTED, ActionState.REVERTED, ActionState.BLOCKED)
_DECIDED: Final = (ChangeState.EXECUTED, ChangeState.APPROVED, ChangeState.REJECTED, ChangeState.EXPIRED)


@dataclass(frozen=True, slots=True)
class Counted:
    """One row: its key, what it is about, whether it bears the measure out, and the episode it left, if it did."""

    key: str
    subject: str
    holds: bool
    episode_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """`count` judges rows of `model`, whose golem and time stand at `golem` and `time`. `word` takes the subject, how
    many hold, and of how many.
    """

    name: str
    domain: Domain
    days: int
    rule: str
    model: type[Model]
    count: Callable[[Any], Iterable[Counted]]  # Any: rows of several models
    word: Callable[[str, int, int], str]
    golem: str = "golem_id"
    time: str = "created_at"

    def group(self, *, golem_ids: Sequence[UUID], now: datetime) -> Mapping[str, list[Counted]]:
        """The newest rows of each subject."""
        found: dict[str, list[Counted]] = defaultdict(list)
        since = {f"{self.golem}__in": golem_ids, f"{self.time}__gte": now - self.days * _DAY}
        for row in self.count(self.model._default_manager.filter(**since)):
            if len(found[row.subject]) < MOST_ROWS:
                found[row.subject].append(row)
        return found

    def again(self, keys: Sequence[str]) -> Iterable[Counted]:
        """The same rows by their keys, counted as they are now."""
        return self.count(self.model._default_manager.filter(pk__in=keys))


def _count_looks(rows: Any) -> Iterable[Counted]:  # Any: rows of any model
    for key, probes in rows.order_by("-pk").values_list("pk", "probes")[: 4 * MOST_ROWS]:
        pool, deviation = probes.get("pool"), probes.get("deviation_bps")
        if pool and isinstance(deviation, int):
            yield Counted(str(key), str(pool), deviation <= NEAR_FEEDS_BPS)


def _count_fills(rows: Any) -> Iterable[Counted]:  # Any: rows of any model
    found = rows.filter(permit__action_type="swap", taken_back_at__isnull=True).order_by("-pk")
    for row in found.select_related("permit")[:MOST_ROWS]:
        yield Counted(str(row.pk), row.permit.venue, row.divergence_bps <= FAIR_FILL_BPS, row.episode_id)


def _count_bounds(rows: Any) -> Iterable[Counted]:  # Any: rows of any model
    for row in rows.filter(taken_back_at__isnull=True).order_by("-pk").select_related("permit")[:MOST_ROWS]:
        yield Counted(str(row.pk), row.permit.venue, row.is_verified, row.episode_id)


def _count_actions(rows: Any) -> Iterable[Counted]:  # Any: rows of any model
    found = rows.filter(state__in=[str(each) for each in _DONE]).select_related("golem__archetype", "permit")
    outcomes = Prefetch("permit__outcomes", to_attr="known_outcomes")
    for row in found.prefetch_related(outcomes).order_by("-pk")[:MOST_ROWS]:
        outcome = row.permit.outcome if row.permit is not None else None
        episode_id = outcome.episode_id if outcome is not None else None
        yield Counted(str(row.pk), row.golem.archetype.name, row.state == ActionState.EXECUTED, episode_id)


def _count_requests(rows: Any) -> Iterable[Counted]:  # Any: rows of any model
    agreed = (ChangeState.EXECUTED, ChangeState.APPROVED)
    for row in rows.filter(state__in=[str(each) for each in _DECIDED]).order_by("-created_at")[:MOST_ROWS]:
        yield Counted(str(row.pk), row.kind, row.state in agreed)


MEASURES: Final[Mapping[str, Measure]] = {
    measure.name: measure
    for measure in (
        Measure(
            name="price_near_feeds",
            domain=Domain.LIQUIDITY,
            days=1,
            rule=f"deviation_bps of the decision's probes is at most {NEAR_FEEDS_BPS}",
            model=DecisionCycleRecord,
            count=_count_looks,
            time="decided_at",
            word=lambda subject, holds, of: (
                f"The price of pool {subject} was within {NEAR_FEEDS_BPS} bps of its feeds in {holds} of {of} looks."
            ),
        ),
        Measure(
            name="fills_as_simulated",
            domain=Domain.MEV,
            days=7,
            rule=f"divergence_bps of the swap's outcome is at most {FAIR_FILL_BPS}",
            model=OutcomeRecord,
            count=_count_fills,
            golem="permit__golem_id",
            word=lambda subject, holds, of: (
                f"{holds} of {of} swaps at {subject} came out within {FAIR_FILL_BPS} bps of their simulation; what"
                " somebody took between shows as a worse one."
            ),
        ),
        Measure(
            name="outcomes_in_bounds",
            domain=Domain.PROTOCOL_SAFETY,
            days=30,
            rule="the permit's outcome is verified: every difference stayed inside its bounds",
            model=OutcomeRecord,
            count=_count_bounds,
            golem="permit__golem_id",
            word=lambda subject, holds, of: f"{holds} of {of} actions at {subject} did no more than they were allowed.",
        ),
        Measure(
            name="actions_executed",
            domain=Domain.AGENT_ANALYTICS,
            days=7,
            rule="the action of the tick ended EXECUTED, not REVERTED or BLOCKED",
            model=ActionRecord,
            count=_count_actions,
            word=lambda subject, holds, of: f"{holds} of {of} actions that golems of kind {subject} wanted were done.",
        ),
        Measure(
            name="requests_approved",
            domain=Domain.GOVERNANCE,
            days=30,
            rule="the request was approved, not rejected or timed out",
            model=ChangeRequest,
            count=_count_requests,
            word=lambda subject, holds, of: f"Owners approved {holds} of {of} requests of kind {subject}.",
        ),
    )
}
