"""Forgetting, as pure functions: R = exp(-t/S), t days since the last access, S the stability in days.

Floats are right here: retention orders memories, it is no money.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from enum import StrEnum


class Importance(StrEnum):
    """How much a memory matters, which sets how slowly it fades."""

    BASE = "BASE"
    NOTABLE = "NOTABLE"
    MEV = "MEV"
    CRITICAL = "CRITICAL"
    EMERGENCY = "EMERGENCY"


STABILITY_DAYS: dict[Importance, float] = {
    Importance.BASE: 7.0,
    Importance.NOTABLE: 30.0,
    Importance.MEV: 90.0,
    Importance.CRITICAL: 90.0,
    Importance.EMERGENCY: 180.0,
}
STABILITY_CAP_DAYS = 365.0
REINFORCEMENT = 1.5
ARCHIVE_BELOW = 0.05
INSIGHT_FLOOR = 0.1
STABILITIES_UNTIL_ARCHIVED = -math.log(ARCHIVE_BELOW)

_SECONDS_PER_DAY = 86_400.0


def days_between(earlier: datetime, later: datetime) -> float:
    """Days from `earlier` to `later`; never negative, so a clock that stepped back makes nothing stronger."""
    return max(0.0, (later - earlier).total_seconds() / _SECONDS_PER_DAY)


def compute_retention(*, days_since_access: float, stability_days: float, floor: float = 0.0) -> float:
    """R in (0, 1], never under `floor`. Raises ValueError on a negative time or a stability that is not positive."""
    if days_since_access < 0 or stability_days <= 0:
        raise ValueError("time since access must not be negative and stability must be positive")
    return max(floor, math.exp(-days_since_access / stability_days))


def retention_at(*, last_accessed_at: datetime, stability_days: float, now: datetime, floor: float = 0.0) -> float:
    """R of a memory at `now`."""
    return compute_retention(
        days_since_access=days_between(last_accessed_at, now), stability_days=stability_days, floor=floor
    )


def reinforce(stability_days: float) -> float:
    """The stability after one retrieval: half as much again, at most a year."""
    return min(STABILITY_CAP_DAYS, stability_days * REINFORCEMENT)


def archived_from(*, last_accessed_at: datetime, stability_days: float) -> datetime:
    """When an episode that nobody retrieves again will have faded to the archive."""
    return last_accessed_at + timedelta(days=stability_days * STABILITIES_UNTIL_ARCHIVED)
