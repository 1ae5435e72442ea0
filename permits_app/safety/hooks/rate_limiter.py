"""Hook 4: how many writes a golem may make within an hour. Seed: 002, "RateLimiter"; decisions, "Profiles"."""

from __future__ import annotations

from datetime import datetime

from archetypes_app.profiles import writes_per_hour_cap
from permits_app import ledger
from permits_app.errors import RateLimited
from permits_app.safety.hook import Allow, HookCall, Reject, Verdict


class RateLimiter:
    """Writes per hour: permits that are open, being committed, committed, reverted or of unknown outcome."""

    name = "rate_limiter"

    def check(self, call: HookCall) -> Verdict:
        """Allow, or Reject until the oldest write of the hour drops out."""
        usage = ledger.read_usage(
            golem_id=call.golem.pk,
            api_key_id=call.api_key_id,
            heartbeat_tick=call.golem.heartbeat_tick,
            now=call.now,
            exclude_permit_id=call.own_permit_id,
        )
        most = most_writes_per_hour(configured=call.limits.writes_per_hour, cap=writes_per_hour_cap(call.golem))
        refusal = judge_rate(writes=usage.writes_last_hour, most=most, resets_at=usage.hour_resets_at)
        return refusal or Allow(note=f"write {usage.writes_last_hour + 1} of {most} within the hour")


def most_writes_per_hour(*, configured: int, cap: int | None) -> int:
    """The owner's limit, and never more than what a profile caps it at."""
    return configured if cap is None else min(configured, cap)


def judge_rate(*, writes: int, most: int, resets_at: datetime | None) -> Reject | None:
    """Refuse when `writes` within the hour are already as many as there may be."""
    if writes < most:
        return None
    return Reject(
        rule="rate_limiter.per_hour",
        reason=f"{writes} writes within the hour; at most {most} are allowed",
        observed=f"{writes} writes within the hour",
        limit=f"{most} writes an hour",
        remaining="0 writes",
        resets_at=resets_at.isoformat() if resets_at else "",
        would_pass="the same action once a write is older than an hour" if most else "nothing while the limit is 0",
        error=RateLimited,
    )
