"""Counts which reads follow each other, so that the next can be made ahead."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from uuid import UUID

from django.conf import settings

from archetypes_app.models import Golem
from tools_app.models.tool_cooccurrence import learn_cooccurrence
from tools_app.read_ahead import is_predictable
from tools_app.toolkit.registry import REGISTRY


def learn_habits(*, now: datetime) -> int:
    """Count new pairs of reads for each archetype that has golems. Returns the runs learned from."""
    golems: dict[str, list[UUID]] = defaultdict(list)
    for golem_id, archetype in Golem.objects.values_list("pk", "archetype__name"):
        golems[archetype].append(golem_id)
    tools = [tool.name for tool in REGISTRY if is_predictable(tool)]
    return sum(
        learn_cooccurrence(
            archetype=archetype,
            golem_ids=golem_ids,
            tools=tools,
            now=now,
            window_seconds=settings.GOLEM_SPECULATION_SESSION_SECONDS,
            enough_runs=settings.GOLEM_SPECULATION_ENOUGH_RUNS,
        )
        for archetype, golem_ids in golems.items()
    )
