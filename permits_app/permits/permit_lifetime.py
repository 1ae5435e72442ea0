"""Computes how long a permit lives: its seconds or heartbeat ticks, or the time that owners have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from django.conf import settings

from archetypes_app.models import Golem
from permits_app.models import ActionPermit
from permits_app.permits.plan_store import read_stated_end
from tools_app.core.clock import AHEAD

MOST_TTL_SECONDS: Final = 3_600
PERMIT_TICKS: Final = 3
"""Heartbeat ticks of its golem that a permit outlives at most."""


def born_by(now: datetime) -> dict[str, datetime]:
    """The latest `created_at` and `expires_at` that a permit may have at `now`.

    One beyond them was made before a clock was set back, and would outlive its seconds by the jump: it is over.
    """
    return {"latest": now + AHEAD, "furthest": now + timedelta(seconds=MOST_TTL_SECONDS) + AHEAD}


def is_from_the_future(*, created_at: datetime, expires_at: datetime, now: datetime) -> bool:
    """Whether a clock was set back since a permit was made."""
    times = born_by(now)
    return created_at > times["latest"] or expires_at > times["furthest"]


def life_of(*, golem: Golem, awaits_owner: bool = False) -> timedelta:
    """How long a new permit lives in its first state: its TTL, or the time owners have to decide."""
    if awaits_owner:
        return timedelta(hours=settings.GOLEM_APPROVAL_HOURS)
    return timedelta(seconds=golem.permit_ttl_seconds)


def cut_to_signed(permit: ActionPermit, ends: datetime) -> datetime:
    """`ends`, or the end of what the owners of its Safe signed, where that is earlier."""
    signed = read_stated_end(permit)
    return min(ends, datetime.fromtimestamp(signed, UTC)) if signed else ends
