"""Computes when a golem ticks next: on its own grid, a little off it, never twice for missed time. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from tools_app.core.units import BPS


@dataclass(frozen=True, slots=True)
class NextTick:
    """When it is due, and how many grid points were left out before it."""

    at: datetime
    missed: int


def plan_next_tick(
    *, golem_id: UUID, heartbeat_tick: int, scheduled_at: datetime, theta_seconds: int, jitter_bps: int, now: datetime
) -> NextTick:
    """The next tick after the one that was due at `scheduled_at` and ends now.

    Counted from the schedule, so that a late tick does not push all later ones; from `now` when the schedule is behind
    or when the clock went back, so that missed time is one tick and not many.
    """
    step = timedelta(seconds=theta_seconds) + _jitter(golem_id, heartbeat_tick, theta_seconds, jitter_bps)
    planned = scheduled_at + step
    if now < planned <= now + step:
        return NextTick(planned, 0)
    behind = (now - planned) // timedelta(seconds=theta_seconds) + 1 if planned <= now else 0
    return NextTick(now + step, max(0, behind))


def first_tick(*, golem_id: UUID, theta_seconds: int, now: datetime) -> datetime:
    """Somewhere within the first interval, so that golems switched on together do not tick together."""
    return now + timedelta(milliseconds=_number(golem_id, 0) % (theta_seconds * 1_000))


def longest_wait(*, most_theta_seconds: int, jitter_bps: int) -> timedelta:
    """No golem waits longer than this: a later time in its row was written by a clock that has gone back since."""
    return timedelta(milliseconds=most_theta_seconds * 1_000 * (BPS + jitter_bps) // BPS)


def _jitter(golem_id: UUID, heartbeat_tick: int, theta_seconds: int, jitter_bps: int) -> timedelta:
    most_ms = theta_seconds * 1_000 * jitter_bps // BPS
    return timedelta(milliseconds=_number(golem_id, heartbeat_tick) % (2 * most_ms + 1) - most_ms)


def _number(golem_id: UUID, heartbeat_tick: int) -> int:
    seed = golem_id.bytes + heartbeat_tick.to_bytes(8, "big")
    return int.from_bytes(blake2b(seed, digest_size=6).digest(), "big")
