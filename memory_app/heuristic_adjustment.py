"""Moves a heuristic within fixed bounds: a tenth of itself in four hours at most, on five episodes at least. Back
towards what is asked for it goes at once, on any outcome that does not fit (`belief.py`).

Slippage only ever gets tighter than what was asked (5,000 to 10,000 of 10,000); a deadline may get shorter or longer by
half; a route may cost 100 bps more than the best quote at most. Everything a heuristic says comes from verified
outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from memory_app.heuristic_confidence import Belief, age_of
from memory_app.insight_events import announce_insight
from memory_app.insights import lock_insight
from memory_app.models import Episode, Insight
from memory_app.models.insight import (
    LARGEST_DEADLINE_FACTOR_BPS,
    LARGEST_ROUTE_COST_BPS,
    LEAST_EPISODES_TO_TUNE,
    LEAST_FACTOR_BPS,
    LEAST_PERCENT_TO_TUNE,
    InsightCategory,
    Kind,
    Tunable,
)
from memory_app.route_learning import Preference
from tools_app.core.hashing import hash_canonical
from tools_app.core.units import BPS

CYCLE = timedelta(hours=4)
LARGEST_SHIFT_BPS = 1_000
MOST_BEHIND = 100
_WORDS = {
    Tunable.SLIPPAGE: "ask for {}% of the slippage that was asked for",
    Tunable.DEADLINE: "allow {}% of the deadline that was asked for",
}
_CATEGORIES = {Tunable.SLIPPAGE: InsightCategory.SLIPPAGE, Tunable.DEADLINE: InsightCategory.GAS_TIMING}


@dataclass(frozen=True, slots=True)
class Subject:
    """What like episodes share: the same tool on the same chain with the same tokens."""

    tool_name: str
    chain_id: int | None
    token_keys: tuple[str, ...]

    def identify(self, pattern: str) -> str:
        """The identity of what is said about this subject."""
        return hash_canonical(
            {
                "tool_name": self.tool_name,
                "chain_id": self.chain_id,
                "token_keys": list(self.token_keys),
                "pattern": pattern,
            }
        )

    @property
    def name(self) -> str:
        """In words."""
        tokens = f" with {'/'.join(self.token_keys)}" if self.token_keys else ""
        chain = f" on chain {self.chain_id}" if self.chain_id is not None else ""
        return f"{self.tool_name}{tokens}{chain}"


@dataclass(frozen=True, slots=True)
class Tuned:
    """One heuristic before and after: factors, or what a route may cost; before is 10,000 (or 0) for a new one."""

    insight_id: UUID
    subject: str
    parameter: str
    before_bps: int
    after_bps: int


def shift_factor(*, factor_bps: int, tighten: bool) -> int:
    """The slippage factor one cycle later: a tenth tighter, or a tenth back towards what was asked; 5,000 to 10,000."""
    step = factor_bps * LARGEST_SHIFT_BPS // BPS
    return max(LEAST_FACTOR_BPS, factor_bps - step) if tighten else min(BPS, factor_bps + step)


def shift_deadline(*, factor_bps: int, lengthen: bool) -> int:
    """The deadline factor one cycle later: a tenth longer up to 15,000, or a tenth back towards what was asked."""
    step = factor_bps * LARGEST_SHIFT_BPS // BPS
    return min(LARGEST_DEADLINE_FACTOR_BPS, factor_bps + step) if lengthen else max(BPS, factor_bps - step)


def tune(
    *,
    golem_id: UUID,
    subject: Subject,
    parameter: Tunable,
    episode_ids: list[UUID],
    advance: bool,
    now: datetime,
    recorded_by: str = "system:memory",
) -> Tuned | None:
    """Move (or make) the heuristic of `subject`; None when it must wait or there is nothing to undo.

    `advance` means the evidence speaks for it: slippage tighter, deadline longer; else it goes back and is doubted.
    To advance it waits for five episodes, four hours, and an episode newer than its last move; to go back for the last
    alone. A heuristic that its owner archived
    stays so. Joins the caller's transaction, which holds the golem's row; emits grimoire:heuristic.
    """
    identity = subject.identify(f"tune {'slippage' if parameter is Tunable.SLIPPAGE else parameter.value}")
    row = lock_insight(golem_id=golem_id, identity_hash=identity)
    if (advance and len(episode_ids) < LEAST_EPISODES_TO_TUNE) or (row is None and not advance):
        return None
    news = _list_news(row, episode_ids, now, is_back=not advance) if row is not None else []
    if row is not None and not news:
        return None
    is_new = row is None
    if row is None:
        row = Insight(
            golem_id=golem_id,
            category=_CATEGORIES[parameter],
            kind=Kind.HEURISTIC,
            tool_name=subject.tool_name,
            chain_id=subject.chain_id,
            token_keys=list(subject.token_keys),
            confidence_percent=0,
            recorded_by=recorded_by,
            identity_hash=identity,
            parameter=parameter,
        )
        believe(row, Belief().confirmed())
    else:
        known = Belief.of(row).faded(age_of(row.tuned_at, now=now))
        # What is mined in time says once a cycle that the time is long enough; what slipped says it by itself.
        against = len(news) if parameter is Tunable.SLIPPAGE else 1
        believe(row, known.confirmed() if advance else known.contradicted(against))
    before = row.factor_bps
    if parameter is Tunable.SLIPPAGE:
        row.factor_bps = shift_factor(factor_bps=before, tighten=advance)
    else:
        row.factor_bps = shift_deadline(factor_bps=before, lengthen=advance)
    # What the database asks for: a heuristic keeps the episodes it was made of beside those that speak against it.
    row.episode_ids = episode_ids if advance else list(dict.fromkeys([*episode_ids, *row.episode_ids]))[:MOST_BEHIND]
    row.tuned_at = row.last_accessed_at = now
    row.text = f"{subject.name}: {_WORDS[parameter].format(row.factor_bps // 100)}"
    row.embedding = None
    row.save()
    announce_insight(row, change="promoted" if is_new else "revised" if advance else "demoted", now=now)
    return Tuned(row.pk, subject.name, parameter.value, before, row.factor_bps)


def believe(row: Insight, belief: Belief) -> None:
    """Write a belief into a heuristic; not saved."""
    row.evidence_for, row.evidence_against = belief.supporting, belief.opposing
    row.confidence_percent = belief.percent


def shift_cost(*, cost_bps: int, wanted_bps: int) -> int:
    """What a route may cost one cycle later, in bps: towards what the fills say, by a tenth (and 1) at most."""
    step = max(1, cost_bps * LARGEST_SHIFT_BPS // BPS)
    return min(LARGEST_ROUTE_COST_BPS, max(cost_bps - step, min(cost_bps + step, wanted_bps)))


def prefer_route(
    *,
    golem_id: UUID,
    subject: Subject,
    token_in: str,
    preference: Preference | None,
    episode_ids: list[UUID],
    now: datetime,
    recorded_by: str = "system:memory",
) -> Tuned | None:
    """Move (or make) the route heuristic of `subject` from `token_in`; None when it must wait or nothing changes.

    Without a `preference`, or with another route, the one in force is doubted; once it no longer tunes, the other
    takes its place. `episode_ids` are those looked at. Waits, joins and emits as `tune` does.
    """
    identity = subject.identify(f"tune route {token_in}")
    row = lock_insight(golem_id=golem_id, identity_hash=identity)
    if row is None and preference is None:
        return None
    news = _list_news(row, episode_ids, now, is_back=False) if row is not None else []
    if row is not None and not news:
        return None
    if row is None:
        row = Insight(
            golem_id=golem_id,
            category=InsightCategory.ROUTE_SELECTION,
            kind=Kind.HEURISTIC,
            tool_name=subject.tool_name,
            chain_id=subject.chain_id,
            token_keys=list(subject.token_keys),
            recorded_by=recorded_by,
            identity_hash=identity,
            parameter=Tunable.ROUTE,
            route_from=token_in,
        )
    in_force, _, cost = row.route.partition("@")
    before = after = int(cost or 0)
    change = "revised"
    known_belief = Belief.of(row).faded(age_of(row.tuned_at, now=now)) if in_force else Belief()
    if preference is not None and preference.route == in_force:
        believe(row, known_belief.confirmed())
        after = shift_cost(cost_bps=before, wanted_bps=preference.cost_bps)
    else:
        change = "demoted"
        believe(row, known_belief.contradicted() if in_force else known_belief)
        if preference is not None and row.confidence_percent < LEAST_PERCENT_TO_TUNE:
            change, in_force, after = "promoted", preference.route, preference.cost_bps
            believe(row, Belief().confirmed())
    row.route = f"{in_force}@{after}"
    if preference is not None and preference.route == in_force:
        row.route_most_amount = preference.most_amount
    known = episode_ids if change == "demoted" or preference is None else preference.episode_ids
    row.episode_ids = list(dict.fromkeys([*known, *(row.episode_ids if change == "demoted" else ())]))[:MOST_BEHIND]
    row.tuned_at = row.last_accessed_at = now
    row.text = f"{subject.name}: from {token_in} prefer the route {in_force} while it costs at most {after} bps more"
    row.embedding = None
    row.save()
    announce_insight(row, change=change, now=now)
    return Tuned(row.pk, subject.name, Tunable.ROUTE.value, before, after)


def _list_news(row: Insight, episode_ids: list[UUID], now: datetime, *, is_back: bool) -> list[UUID]:
    """The episodes a heuristic may be moved by now; none where it has to stay or to wait."""
    if row.archived_at is not None or row.is_pinned or row.is_quarantined:
        return []
    if row.tuned_at is None:
        return episode_ids
    # A clock that went back counts as inside the cycle.
    if now < row.tuned_at + CYCLE and not is_back:
        return []
    unseen = set(episode_ids) - set(row.episode_ids)
    return list(Episode.objects.filter(pk__in=unseen).values_list("pk", flat=True))
