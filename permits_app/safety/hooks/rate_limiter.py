"""Hook 4: how many writes a golem may make within an hour. Seed: 002, "RateLimiter"; decisions, "Profiles"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from archetypes_app.profiles import writes_per_hour_cap
from permits_app import ledger
from permits_app.errors import RateLimited
from permits_app.safety.hook import Allow, HookCall, Reject, Verdict
from permits_app.safety.repetition import (
    Breaker,
    BreakerState,
    PastCall,
    fold_breaker,
    is_venue_tried,
    judge_breaker,
    judge_loop,
    list_recent_calls,
    list_venue_outcomes,
    warn_same_tool,
)
from permits_app.sealing import hash_action
from permits_app.usage import Usage


@dataclass(frozen=True, slots=True)
class RateFacts:
    """What hook 4 reads: writes of the hour, the last calls newest first, and how the venue did of late."""

    usage: Usage
    cap: int | None
    action_hash: str = ""
    earlier: Sequence[PastCall] = ()
    breaker: Breaker = Breaker(BreakerState.CLOSED)
    is_venue_tried: bool = False


class RateLimiter:
    """Writes per hour, the loop guard, and the circuit breaker of the venue."""

    name = "rate_limiter"

    def check(self, call: HookCall) -> Verdict:
        """Allow, with a warning when one tool is called almost alone; or Reject until it may be tried again."""
        return self.decide(call, load_facts(call))

    def decide(self, call: HookCall, facts: RateFacts) -> Verdict:
        """The same answer from what was loaded before; reads nothing."""
        writes = facts.usage.writes_last_hour
        most = most_writes_per_hour(configured=call.limits.writes_per_hour, cap=facts.cap)
        refusal = (
            judge_rate(writes=writes, most=most, resets_at=facts.usage.hour_resets_at)
            or judge_loop(earlier=facts.earlier, action_hash=facts.action_hash, action_class=call.action_class)
            or judge_breaker(
                breaker=facts.breaker,
                venue=call.tool.venue,
                is_tried=facts.is_venue_tried,
                action_class=call.action_class,
            )  # fmt: skip
        )
        if refusal is not None:
            return refusal
        warning = warn_same_tool(earlier=facts.earlier, tool_name=call.tool.name)
        return Allow(note="; ".join(filter(None, (f"write {writes + 1} of {most} within the hour", warning))))


def load_facts(call: HookCall) -> RateFacts:
    """Read what hook 4 judges; the venue only for a transaction."""
    usage = ledger.read_usage(
        golem_id=call.golem.pk,
        api_key_id=call.api_key_id,
        heartbeat_tick=call.golem.heartbeat_tick,
        now=call.now,
        exclude_permit_id=call.own_permit_id,
    )
    breaker, is_tried = Breaker(BreakerState.CLOSED), False
    if call.plan is not None:
        golem_id, venue, chain_id = call.golem.pk, call.tool.venue, call.plan.chain_id
        outcomes = list_venue_outcomes(golem_id=golem_id, venue=venue, chain_id=chain_id, now=call.now)
        breaker = fold_breaker(outcomes=outcomes, now=call.now)
        if breaker.state is BreakerState.HALF_OPEN:
            is_tried = is_venue_tried(
                golem_id=golem_id, venue=venue, chain_id=chain_id, exclude_permit_id=call.own_permit_id
            )
    return RateFacts(
        usage=usage,
        cap=writes_per_hour_cap(call.golem),
        action_hash=hash_action(golem_id=call.golem.pk, tool_name=call.tool.name, params=call.params),
        earlier=list_recent_calls(golem_id=call.golem.pk, now=call.now, exclude_permit_id=call.own_permit_id),
        breaker=breaker,
        is_venue_tried=is_tried,
    )


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
