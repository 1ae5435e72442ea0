"""publish_artifact: a statement of an agent over episodes of its own, under the rules that a sleepwalker is held to.

How sure it is follows from the episodes that it names for and against, and from nothing that the agent says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Artifact, Golem
from archetypes_app.models.artifact import LEAST_CONFIDENCE_PERCENT
from archetypes_app.publishing import LEAST_ROWS, PublishedStatement, PublishingPaused, has_room, publish
from memory_app.models import Episode
from tools_app.core.errors import InvalidParams
from tools_app.core.transaction_retry import retry_aborted

NAMED_EPISODES: Final = "named_episodes"
"""The recipe of what an agent publishes: which of its own episodes it names for it, and which against it."""


@dataclass(frozen=True, slots=True)
class ArtifactDraft:
    """What an agent would publish: episodes that bear it out, and those that speak against it."""

    domain: str
    subject: str
    text: str
    bears_out: Sequence[UUID]
    speaks_against: Sequence[UUID]


def check_draft(*, golem_id: UUID, draft: ArtifactDraft) -> PublishedStatement:
    """The statement it would become. Raises InvalidParams."""
    named = (*draft.bears_out, *draft.speaks_against)
    if len(set(named)) < len(named):
        raise InvalidParams("an episode is named twice", fields={"bears_out": "each episode once"})
    if len(named) < LEAST_ROWS:
        raise InvalidParams(
            f"{len(named)} episodes say nothing yet; at least {LEAST_ROWS} do",
            fields={"bears_out": f"at least {LEAST_ROWS} episodes with those that speak against it"},
        )
    known = set(Episode.objects.filter(golem_id=golem_id, pk__in=named).values_list("pk", flat=True))
    unknown = [str(each) for each in named if each not in known]
    if unknown:
        raise InvalidParams(
            "a statement rests on episodes of this golem", fields={"bears_out": f"unknown {unknown[0]}"}
        )
    statement = PublishedStatement(
        domain=draft.domain,
        subject=draft.subject,
        text=draft.text,
        support=len(draft.bears_out),
        total=len(named),
        sources=named,
        recipe={
            "measure": NAMED_EPISODES,
            "rule": "the golem's own episodes that its agent names for it and against it",
            "rows": [str(each) for each in named],
            "against": [str(each) for each in draft.speaks_against],
            "expect": {"support": len(draft.bears_out), "total": len(named)},
        },
    )
    if statement.is_adverse:
        raise InvalidParams(
            "more episodes speak against it than for it: publish what they bear out",
            fields={"against": "fewer than bear it out"},
        )
    if statement.confidence_percent < LEAST_CONFIDENCE_PERCENT:
        raise InvalidParams(
            f"it is {statement.confidence_percent}% sure, and {LEAST_CONFIDENCE_PERCENT}% is the least",
            fields={"bears_out": "more episodes that bear it out"},
        )
    return statement


@retry_aborted
def publish_artifact(*, golem_id: UUID, draft: ArtifactDraft, actor: str, now: datetime) -> Artifact:
    """Publish it. Takes the golem's row lock. Raises InvalidParams, PublishingPaused."""
    with transaction.atomic():
        golem = Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=golem_id)
        statement = check_draft(golem_id=golem_id, draft=draft)
        if not has_room(golem, now=now):
            raise PublishingPaused("a hundred publications within an hour are the most")
        return publish(golem=golem, statement=statement, actor=actor, now=now)


def count_named(artifact: Artifact) -> bool | None:
    """Whether every episode that it names is there still and it counted them; None when some are gone."""
    recipe = artifact.validation_recipe
    there = Episode.objects.filter(golem_id=artifact.golem_id, pk__in=recipe["rows"]).count()
    if there != len(recipe["rows"]):
        return None
    return (artifact.support, artifact.total) == (there - len(recipe["against"]), there)
