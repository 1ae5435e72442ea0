"""The rules of publications: how sure, how dear, how many in an hour; and the one writer of their rows.

Whoever publishes, a sleepwalker by itself or an agent by a tool, is held to the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Artifact, Golem
from archetypes_app.models.artifact import LARGEST_PRICE_MICRO_USD, LEAST_CONFIDENCE_PERCENT, LEAST_PRICE_MICRO_USD
from tools_app.core import audit_log, event_bus
from tools_app.core.clock import AHEAD
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.events import Event, EventType
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted

MOST_ARTIFACTS_AN_HOUR: Final = 100
LEAST_ROWS: Final = 5
MOST_SOURCES: Final = 50


class PublishingPaused(
    GolemError,
    status=429,
    recovery=Recovery.WAIT,
    title="This golem published as much as it may within an hour",
    cleared_by="an hour passes since the oldest of the last hundred publications",
):
    """The golem published as much within the hour as it may."""


@dataclass(frozen=True, slots=True)
class PublishedStatement:
    """What would be published: `support` of `total` rows bear it out, `sources` are the episodes behind it."""

    domain: str
    subject: str
    text: str
    support: int
    total: int
    sources: Sequence[UUID]
    recipe: JsonObject

    @property
    def confidence_percent(self) -> int:
        """See rate_confidence."""
        return rate_confidence(self.support, self.total)

    @property
    def is_adverse(self) -> bool:
        """Whether most rows speak against what should hold."""
        return 2 * self.support < self.total


def rate_confidence(support: int, total: int) -> int:
    """How likely the next row is like most of these (rule of succession), in percent, rounded down."""
    return (max(support, total - support) + 1) * 100 // (total + 2)


def price_of(confidence_percent: int) -> int:
    """Micro-USD from 0.05 dollars at the least confidence to 0.50 at all of it."""
    span, points = LARGEST_PRICE_MICRO_USD - LEAST_PRICE_MICRO_USD, 100 - LEAST_CONFIDENCE_PERCENT
    return LEAST_PRICE_MICRO_USD + span * (confidence_percent - LEAST_CONFIDENCE_PERCENT) // points


def has_room(golem: Golem, *, now: datetime) -> bool:
    """Whether the golem may publish once more within this hour."""
    lately = Artifact.objects.filter(
        golem=golem, published_at__gt=now - timedelta(hours=1), published_at__lte=now + AHEAD
    )
    return lately.count() < MOST_ARTIFACTS_AN_HOUR


@retry_aborted
def publish(*, golem: Golem, statement: PublishedStatement, actor: str, now: datetime) -> Artifact:
    """Store it, audit it and tell it. The caller holds a lock of the golem and has looked whether there is room."""
    with transaction.atomic():
        artifact = Artifact.objects.create(
            golem=golem,
            domain=statement.domain,
            subject=statement.subject,
            statement=statement.text,
            support=statement.support,
            total=statement.total,
            is_adverse=statement.is_adverse,
            confidence_percent=statement.confidence_percent,
            episode_sources=list(dict.fromkeys(statement.sources)),
            validation_recipe=statement.recipe,
            price_micro_usd=price_of(statement.confidence_percent),
            published_at=now,
        )
        facts: dict[str, object] = {
            "artifact_id": str(artifact.pk),
            "domain": artifact.domain,
            "subject": artifact.subject,
            "statement": artifact.statement,
            "confidence_percent": artifact.confidence_percent,
            "is_adverse": artifact.is_adverse,
            "price_micro_usd": str(artifact.price_micro_usd),
        }
        audit_log.append(
            golem_id=golem.pk,
            event="ArtifactPublished",
            actor=actor,
            now=now,
            heartbeat_tick=golem.heartbeat_tick,
            data={name: str(value) for name, value in facts.items()},
        )
        event_bus.emit(
            golem_id=golem.pk,
            event=Event(EventType.GRIMOIRE_ARTIFACT, facts),
            now=now,
            heartbeat_tick=golem.heartbeat_tick,
        )
    return artifact
