"""sleepwalker-observer: watches its owner's golems every five minutes, keeps what it saw, publishes what holds.

OBSERVE counts rows (`observer_measures.py`); REFLECT turns a count into a statement with a confidence; PUBLISH
stores it where it is sure enough, at most a hundred an hour, with the episodes behind it and a recipe to count again;
what surprised it is left to the dreams of memory (DREAM). It only reads; what speaks against what should hold is an
alert too.
Emits grimoire:artifact and heartbeat:alert.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction

from archetypes_app.models import Artifact, Golem, Heartbeat
from archetypes_app.models.artifact import LEAST_CONFIDENCE_PERCENT
from archetypes_app.ownership import list_owned_golems
from archetypes_app.publishing import LEAST_ROWS, MOST_SOURCES, PublishedStatement, has_room, publish, rate_confidence
from golem_project.heartbeat.duties.alerting import RuleAlert, floor_to_window, tell_alerts
from golem_project.heartbeat.duties.observer_measures import MEASURES, Counted, Measure
from memory_app.actions.publish_artifact import NAMED_EPISODES, count_named
from memory_app.actions.store_episode import store_episode
from memory_app.decay import Importance
from memory_app.provenance import Provenance
from tools_app.core.clock import AHEAD
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import BPS

OBSERVER: Final = "sleepwalker-observer"
ACTOR: Final = f"system:{OBSERVER}"
_SAY_AGAIN_POINTS: Final = 5
_SAY_AGAIN_AFTER: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ObservedCount:
    """A count of one subject: `support` of the rows bear the measure out."""

    measure: Measure
    subject: str
    rows: tuple[Counted, ...]

    @property
    def total(self) -> int:
        return len(self.rows)

    @property
    def support(self) -> int:
        return sum(row.holds for row in self.rows)

    @property
    def is_adverse(self) -> bool:
        """Whether most rows speak against what should hold."""
        return 2 * self.support < self.total

    @property
    def confidence_percent(self) -> int:
        """How likely the next row is like most of these, in percent."""
        return rate_confidence(self.support, self.total)

    @property
    def statement(self) -> str:
        return self.measure.word(self.subject, self.support, self.total)


def walk_asleep(*, now: datetime, limit: int = 50) -> int:
    """Let every observer whose heartbeat is on look once in five minutes; returns how many artifacts they published."""
    start = floor_to_window(now)
    window = timedelta(seconds=settings.GOLEM_HEARTBEAT_ALERT_WINDOW_SECONDS)
    due = Heartbeat.objects.select_related("golem__owner").filter(
        is_on=True, golem__archetype__name=OBSERVER, golem__halted_at__isnull=True
    )
    unseen = due.exclude(observed_at__gte=start, observed_at__lt=start + window)[:limit]
    return sum(one_by_one(unseen, lambda heartbeat: _walk(heartbeat, now), what="the sleepwalker of"))


def _walk(heartbeat: Heartbeat, now: datetime) -> int:
    # Whoever moves the mark does the work.
    seen = Heartbeat.objects.filter(pk=heartbeat.pk, observed_at=heartbeat.observed_at)
    return _look_around(heartbeat.golem, now) if seen.update(observed_at=now) else 0


def find_all(golem: Golem, *, now: datetime) -> list[ObservedCount]:
    """OBSERVE: what there are enough rows of, the surest first."""
    golem_ids = list(list_owned_golems(golem.owner).exclude(pk=golem.pk).values_list("pk", flat=True))
    found = [
        ObservedCount(measure, subject, tuple(rows))
        for measure in MEASURES.values()
        for subject, rows in measure.group(golem_ids=golem_ids, now=now).items()
        if len(rows) >= LEAST_ROWS
    ]
    return sorted(found, key=lambda finding: -finding.confidence_percent)


def check_artifact(artifact: Artifact) -> bool | None:
    """Count again what an artifact counted: whether the figures are the same; None when rows are gone meanwhile."""
    recipe = artifact.validation_recipe
    if recipe["measure"] == NAMED_EPISODES:
        return count_named(artifact)
    rows = [row for row in MEASURES[recipe["measure"]].again(recipe["rows"]) if row.subject == artifact.subject]
    if len(rows) != artifact.total:
        return None
    return sum(row.holds for row in rows) == artifact.support


def _look_around(golem: Golem, now: datetime) -> int:
    findings = find_all(golem, now=now)
    published = 0
    for finding in findings:
        episode_id = _keep(golem, finding, now) if golem.is_memory_enabled else None
        sources = [row.episode_id for row in finding.rows if row.episode_id is not None]
        published += _publish(golem, finding, [*([episode_id] if episode_id else []), *sources][:MOST_SOURCES], now)
    adverse = [
        RuleAlert(finding.measure.name, finding.statement, finding.measure.rule)
        for finding in findings
        if finding.is_adverse
    ]
    if adverse:
        _tell_adverse(golem, adverse, now)
    return published


@retry_aborted
def _tell_adverse(golem: Golem, adverse: Sequence[RuleAlert], now: datetime) -> None:
    with transaction.atomic():
        tell_alerts(golem=golem, source=OBSERVER, alerts=adverse, now=now)


def _keep(golem: Golem, finding: ObservedCount, now: datetime) -> UUID:
    """REFLECT: an episode of what was seen beside what the last look had led to expect."""
    last = _last_of(golem, finding, now)
    expected = last.support * BPS // last.total if last is not None else finding.support * BPS // finding.total
    episode = store_episode(
        golem_id=golem.pk,
        permit_id=None,
        tool_name=finding.measure.name,
        action_type=finding.measure.domain.value,
        venue="",
        chain_id=None,
        tokens=[],
        prediction={"share_bps": str(expected)},
        outcome={"share_bps": str(finding.support * BPS // finding.total), "rows": str(finding.total)},
        summary=finding.statement,
        importance=Importance.NOTABLE if finding.is_adverse else Importance.BASE,
        provenance=Provenance(recorded_by=ACTOR),
        now=now,
        use_model=False,
    )
    return UUID(str(episode.pk))


@retry_aborted
def _publish(golem: Golem, finding: ObservedCount, sources: Sequence[UUID], now: datetime) -> bool:
    """PUBLISH, where it is sure, new, has sources, and the hour has room."""
    if finding.confidence_percent < LEAST_CONFIDENCE_PERCENT or not sources:
        return False
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=golem.pk)
        if not _is_news(_last_of(golem, finding, now), finding, now):
            return False
        if not has_room(golem, now=now):
            return False
        statement = PublishedStatement(
            domain=finding.measure.domain,
            subject=finding.subject,
            text=finding.statement,
            support=finding.support,
            total=finding.total,
            sources=sources,
            recipe={
                "measure": finding.measure.name,
                "rule": finding.measure.rule,
                "rows": [row.key for row in finding.rows],
                "expect": {"support": finding.support, "total": finding.total},
            },
        )
        publish(golem=golem, statement=statement, actor=ACTOR, now=now)
    return True


def _is_news(last: Artifact | None, finding: ObservedCount, now: datetime) -> bool:
    if last is None or last.is_adverse != finding.is_adverse or last.published_at <= now - _SAY_AGAIN_AFTER:
        return True
    return abs(last.confidence_percent - finding.confidence_percent) >= _SAY_AGAIN_POINTS


def _last_of(golem: Golem, finding: ObservedCount, now: datetime) -> Artifact | None:
    same = Artifact.objects.filter(
        golem=golem, domain=finding.measure.domain, subject=finding.subject, published_at__lte=now + AHEAD
    )
    return same.filter(validation_recipe__measure=finding.measure.name).order_by("-published_at").first()
