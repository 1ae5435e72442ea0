"""Finds episodes that an agent tagged for dreams; they are replayed together so that they last."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q

from memory_app.models import Episode

MOST_TAGS: Final = 5
MOST_OF_A_TAG: Final = 10
_MOST_READ: Final = 200


def list_tagged(
    *, golem_id: UUID, now: datetime, look_back: timedelta, again_after: timedelta
) -> list[tuple[str, list[UUID]]]:
    """(tag, episodes) of the golem that no dream replayed lately, the tags used last first, newest episodes first."""
    rows = (
        Episode.objects.filter(
            Q(dreamt_at__isnull=True) | Q(dreamt_at__lt=now - again_after),
            golem_id=golem_id,
            archived_at__isnull=True,
            is_quarantined=False,
            occurred_at__gt=now - look_back,
        )
        .exclude(dream_tag="")
        .order_by("-occurred_at", "pk")
    )
    groups: dict[str, list[UUID]] = defaultdict(list)
    for pk, tag in rows.values_list("pk", "dream_tag")[:_MOST_READ]:
        if len(groups[tag]) < MOST_OF_A_TAG:
            groups[tag].append(pk)
    return list(groups.items())[:MOST_TAGS]
