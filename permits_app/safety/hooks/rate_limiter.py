"""Hook 4: how many writes a golem may make within an hour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from archetypes_app.profiles import cap_writes_per_hour
from permits_app.limits.rate_rules import judge_rate, most_writes_per_hour
from permits_app.limits.usage import Usage
from permits_app.safety.call_records import PastCall
from permits_app.safety.hook import Allow, HookCall, Verdict
from permits_app.safety.load_call_records import records_of
from permits_app.safety.loop_and_breaker_rules import (
    Breaker,
    BreakerState,
    fold_breaker,
    judge_alike,
    judge_breaker,
    judge_loop,
    list_alike,
    warn_same_tool,
)
from permits_app.safety.risk_tier_of_call import returns_to_golem
from tools_app.toolkit.enums import ActionClass


@dataclass(frozen=True, slots=True)
class RateFacts:
    """What hook 4 reads: writes of the hour, the last calls newest first, when those were made that differ from this
    one in numbers only, and how the venue did of late.
    """

    usage: Usage
    cap: int | None
    is_venue_tried: bool
    action_hash: str = ""
    earlier: Sequence[PastCall] = ()
    alike: Sequence[datetime] = ()
    breaker: Breaker = Breaker(BreakerState.CLOSED)


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
            judge_rate(writes=writes, most=most, resets_at=facts.usage.hour_resets_at, action_class=_leaving_as(call))
            or judge_loop(earlier=facts.earlier, action_hash=facts.action_hash, action_class=call.action_class)
            or judge_alike(alike=facts.alike, most=call.limits.most_alike_calls, action_class=call.action_class)
            or judge_breaker(
                breaker=facts.breaker,
                venue=call.tool.venue,
                is_tried=facts.is_venue_tried,
                action_class=call.action_class,
            )
        )
        if refusal is not None:
            return refusal
        warning = warn_same_tool(earlier=facts.earlier, tool_name=call.tool.name)
        return Allow(note="; ".join(filter(None, (f"write {writes + 1} of {most} within the hour", warning))))


def _leaving_as(call: HookCall) -> ActionClass:
    """Leaving is what comes back to the golem; what goes to somebody else is a write like others."""
    return call.action_class if returns_to_golem(call) else ActionClass.NEW_POSITION


def load_facts(call: HookCall) -> RateFacts:
    """What hook 4 judges, of what the run has read; the venue only for a transaction."""
    records = records_of(call)
    breaker = fold_breaker(outcomes=records.outcomes, now=call.now)
    return RateFacts(
        usage=records.usage,
        cap=cap_writes_per_hour(is_conservative=records.is_conservative),
        action_hash=call.action_hash,
        earlier=records.earlier,
        alike=list_alike(earlier=records.earlier, alike_hash=call.alike_hash),
        breaker=breaker,
        is_venue_tried=records.is_venue_tried,
    )
