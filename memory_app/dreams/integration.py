"""Integration: what counterfactuals of like episodes say together becomes a hypothesis, a link and a moved heuristic.

A heuristic is written or moved only where five episodes agree, by a tenth at most, through the same door as everything
else that tunes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median_low
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from memory_app.actions.consolidate import subject_of
from memory_app.actions.link_memories import link_memories
from memory_app.actions.snapshot_heuristics import snapshot_heuristics
from memory_app.dreams.counterfactuals import Imagined
from memory_app.errors import MemoryOwnerUnknown
from memory_app.heuristic_adjustment import Subject, Tuned, prefer_route, tune
from memory_app.insight_events import announce_insight
from memory_app.insights import FIRST_PERCENT, confirm_row, lock_insight
from memory_app.models import Episode, Insight
from memory_app.models.insight import (
    LARGEST_ROUTE_COST_BPS,
    LEAST_EPISODES_TO_TUNE,
    InsightCategory,
    Kind,
    Tunable,
)
from memory_app.models.provenance import Source, Trust
from memory_app.provenance import Provenance
from memory_app.reflection import NOTABLE_ERROR_BPS
from memory_app.route_learning import Preference
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import BPS

RECORDED_BY = "system:dream"
_CATEGORIES = {
    "slippage_bps": InsightCategory.SLIPPAGE,
    "deadline": InsightCategory.GAS_TIMING,
    "amount": InsightCategory.LIQUIDITY_DEPTH,
    "route": InsightCategory.ROUTE_SELECTION,
}
_LEAST_FOR_HYPOTHESIS = 2


@dataclass(frozen=True, slots=True)
class Dreamt:
    """One episode and what was imagined of it; the first is the action as it was."""

    episode: Episode
    imagined: tuple[Imagined, ...]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What several counterfactuals say together. Of a route, `direction` is its name and `token_in` its start."""

    subject: Subject
    parameter: str
    direction: str
    episodes: tuple[UUID, ...]
    agreeing: tuple[UUID, ...]
    text: str
    token_in: str = ""
    cost_bps: int = 0

    @property
    def is_supported(self) -> bool:
        """Whether it holds in four of five cases."""
        return len(self.agreeing) * 5 >= len(self.episodes) * 4


def form_hypotheses(dreamt: Iterable[Dreamt]) -> list[Hypothesis]:
    """What variations of at least two like episodes have in common; pure."""
    groups: dict[tuple[Subject, str, str], list[tuple[UUID, bool]]] = defaultdict(list)
    routes: dict[tuple[Subject, str, str], list[tuple[UUID, int]]] = defaultdict(list)
    for each in dreamt:
        if not each.imagined:
            continue
        was = each.imagined[0]
        for imagined in each.imagined[1:]:
            for parameter, value in imagined.changed.items():
                if parameter == "route":
                    key = (subject_of(each.episode), str(value), str(each.episode.params.get("token_in", "")).lower())
                    routes[key].append((each.episode.pk, _gain_bps(was, imagined)))
                    continue
                asked = int(each.episode.params[parameter])
                direction = "less" if int(value) < asked else "more"
                # Less must still pass; more must rescue what failed.
                agrees = imagined.succeeded and (direction == "less" or not was.succeeded)
                groups[subject_of(each.episode), parameter, direction].append((each.episode.pk, agrees))
    found = []
    for (subject, parameter, direction), cases in groups.items():
        if len(cases) < _LEAST_FOR_HYPOTHESIS:
            continue
        agreeing = tuple(pk for pk, agrees in cases if agrees)
        factor = "half" if direction == "less" else "twice"
        text = (
            f"{subject.name}: with {factor} the {parameter} {len(agreeing)} of {len(cases)} replayed actions would "
            f"have {'gone through all the same' if direction == 'less' else 'gone through where they failed'}"
        )
        found.append(Hypothesis(subject, parameter, direction, tuple(pk for pk, _ in cases), agreeing, text))
    return found + [
        _compare_routes(*key, gains) for key, gains in routes.items() if len(gains) >= _LEAST_FOR_HYPOTHESIS
    ]


def _compare_routes(subject: Subject, route: str, token_in: str, gains: Sequence[tuple[UUID, int]]) -> Hypothesis:
    agreeing = tuple(pk for pk, gain in gains if gain > NOTABLE_ERROR_BPS)
    text = (
        f"{subject.name}: from {token_in} the route {route} would have kept nearer to its quote than the one taken in "
        f"{len(agreeing)} of {len(gains)} replayed actions"
    )
    cost = min(LARGEST_ROUTE_COST_BPS, max(0, median_low([gain for _, gain in gains])))
    return Hypothesis(subject, "route", route, tuple(pk for pk, _ in gains), agreeing, text, token_in, cost)


def _gain_bps(was: Imagined, other: Imagined) -> int:
    """How much less the other route fell short of what its own plan promised; a route that fails gains nothing."""
    if not other.succeeded:
        return -BPS
    return _shortfall_bps(was) - _shortfall_bps(other)


def _shortfall_bps(run: Imagined) -> int:
    if not run.succeeded:
        return BPS
    short = [
        (int(promised) - int(run.deltas.get(token, "0"))) * BPS // int(promised)
        for token, promised in run.promised.items()
        if int(promised) > 0
    ]
    return max(short, default=0)


@retry_aborted
def integrate(*, golem_id: UUID, hypotheses: Sequence[Hypothesis], now: datetime) -> list[dict[str, object]]:
    """Write each hypothesis as an insight with a link to an episode, and move heuristics where enough agree.

    One transaction under the golem's row. Answers JSON-ready entries of the journal. Raises MemoryOwnerUnknown.
    """
    entries = []
    with transaction.atomic():
        if not Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk").first():
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        moved = False
        for hypothesis in hypotheses:
            insight = _write(golem_id, hypothesis, now)
            tuned = _tune(golem_id, hypothesis, now)
            moved = moved or tuned is not None
            entries.append(
                {
                    "hypothesis": hypothesis.text,
                    "insight_id": str(insight.pk),
                    "is_supported": hypothesis.is_supported,
                    "episode_ids": [str(pk) for pk in hypothesis.episodes],
                    "heuristic": tuned,
                }
            )
        if moved:
            snapshot_heuristics(golem_id=golem_id, actor=RECORDED_BY, reason="dream", now=now)
    return entries


def _write(golem_id: UUID, hypothesis: Hypothesis, now: datetime) -> Insight:
    identity = hypothesis.subject.identify(
        f"dream {hypothesis.parameter} {hypothesis.direction} {hypothesis.token_in}".rstrip()
    )
    row = lock_insight(golem_id=golem_id, identity_hash=identity)
    is_new = row is None
    if row is None:
        row = Insight(
            golem_id=golem_id,
            kind=Kind.INSIGHT,
            tool_name=hypothesis.subject.tool_name,
            chain_id=hypothesis.subject.chain_id,
            token_keys=list(hypothesis.subject.token_keys),
            confidence_percent=FIRST_PERCENT,
            identity_hash=identity,
            recorded_by=RECORDED_BY,
            source=Source.RUNTIME,
            trust=Trust.REPORTED,
            category=_CATEGORIES.get(hypothesis.parameter, InsightCategory.GENERAL),
        )
    else:
        row.confidence_percent = confirm_row(row)
        row.upvotes += 1
    row.text, row.embedding, row.last_accessed_at = hypothesis.text, None, now
    row.episode_ids = list(dict.fromkeys([*hypothesis.episodes, *row.episode_ids]))[:100]
    row.save()
    announce_insight(row, change="dreamt" if is_new else "confirmed", now=now)
    if hypothesis.agreeing:
        link_memories(
            golem_id=golem_id,
            cause_id=hypothesis.agreeing[0],
            effect_id=row.pk,
            reason="a dream imagined it",
            provenance=Provenance(RECORDED_BY, Source.RUNTIME, Trust.REPORTED),
            now=now,
        )
    return row


def _tune(golem_id: UUID, hypothesis: Hypothesis, now: datetime) -> dict[str, object] | None:
    if hypothesis.parameter == "route":
        return _tune_route(golem_id, hypothesis, now)
    supports = {("slippage_bps", "less"): Tunable.SLIPPAGE, ("deadline", "more"): Tunable.DEADLINE}
    parameter = supports.get((hypothesis.parameter, hypothesis.direction))
    if parameter is None or len(hypothesis.episodes) < LEAST_EPISODES_TO_TUNE:
        return None
    tuned = tune(
        golem_id=golem_id,
        subject=hypothesis.subject,
        parameter=parameter,
        episode_ids=list(hypothesis.episodes),
        advance=hypothesis.is_supported,
        now=now,
        recorded_by=RECORDED_BY,
    )
    return _describe_tuned(tuned)


def _tune_route(golem_id: UUID, hypothesis: Hypothesis, now: datetime) -> dict[str, object] | None:
    enough = len(hypothesis.agreeing) >= LEAST_EPISODES_TO_TUNE and hypothesis.is_supported
    if not enough or not hypothesis.token_in:
        return None
    preference = Preference(hypothesis.direction, hypothesis.cost_bps, hypothesis.agreeing)
    tuned = prefer_route(
        golem_id=golem_id,
        subject=hypothesis.subject,
        token_in=hypothesis.token_in,
        preference=preference,
        episode_ids=list(hypothesis.episodes),
        now=now,
        recorded_by=RECORDED_BY,
    )
    return _describe_tuned(tuned)


def _describe_tuned(tuned: Tuned | None) -> dict[str, object] | None:
    if tuned is None:
        return None
    return {
        "insight_id": str(tuned.insight_id),
        "parameter": tuned.parameter,
        "before_bps": tuned.before_bps,
        "after_bps": tuned.after_bps,
    }
