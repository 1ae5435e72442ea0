"""How long a permit lives: its seconds or its heartbeat ticks, whichever end first, or the time owners have."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.conf import settings

from archetypes_app.models import Golem

PERMIT_TICKS: Final = 3
"""Heartbeat ticks of its golem that a permit outlives at most."""


def life_of(*, golem: Golem, awaits_owner: bool = False) -> timedelta:
    """How long a new permit lives in its first state: its TTL, or the time owners have to decide."""
    if awaits_owner:
        return timedelta(hours=settings.GOLEM_APPROVAL_HOURS)
    return timedelta(seconds=golem.permit_ttl_seconds)
