"""Tells an owner which limits stand in the way of a golem's rules, and how each is mended: before a tick is refused.

What is told when a rule is saved is worked out from figures that are stored; what is told while a rule waits is what
the hook said that refused it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from math import log
from typing import Final

from archetypes_app.models import Golem, Heartbeat
from golem_project.heartbeat.liquidity_rule import LiquidityRule, parse_liquidity_rule
from golem_project.heartbeat.needed_limits import RuleNeeds
from golem_project.heartbeat.refused_wish_backoff import REHEARSED, WishBackoff, is_waiting, read_waits
from golem_project.heartbeat.strategies.catalog import parse_strategies
from golem_project.heartbeat.tick_memory import read_memory
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.models.action_record import ActionRecord, ActionState
from permits_app.permits.latest_action_per_wish import read_latest_actions
from permits_app.safety.format_rule_figures import format_bps
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.units import BPS, apply_bps_up, format_micro_usd

ON_TOP_BPS: Final = 5_000
"""What an action may be judged at beyond what it is meant to be worth: gas and a price that moves, at their worst."""
CENT: Final = 10_000
_WRITES: Final = 3
"""Transactions of one re-centring: close, swap for the missing side, open."""
_MENDED_BY: Final[Mapping[Recovery, str]] = {
    Recovery.ASK_OWNER: "Only you can mend this",
    Recovery.WAIT: "It passes by itself",
    Recovery.FIX_PARAMS: "Change the rule, or the limit",
    Recovery.GIVE_UP: "Change the rule: as it stands it is not carried out",
}


def list_rule_needs(heartbeat: Heartbeat) -> tuple[RuleNeeds, ...]:
    """Of each rule that the heartbeat keeps."""
    try:
        rule = parse_liquidity_rule(heartbeat.liquidity_rule)
        strategies = parse_strategies(heartbeat.strategies)
    except GolemError:
        return ()
    needs = [_of_liquidity(rule)] if rule is not None else []
    return (*needs, *(need for each in strategies if (need := each.tell_needs()) is not None))


def tell_missing(heartbeat: Heartbeat) -> list[str]:
    """A sentence for each limit that stands in the way of a rule, with what mends it; none where all of them hold."""
    golem = heartbeat.golem
    limits = getattr(golem, "spending_limits", None) or SpendingLimits(golem=golem)
    cage = getattr(golem, "policy_cage", None) or PolicyCage(golem=golem)
    total = _read_total(heartbeat)
    needs = list_rule_needs(heartbeat)
    lines = [line for each in needs for line in _compare(each, limits=limits, cage=cage, total_micro_usd=total)]
    return [*_say_wallet(golem, needs), *dict.fromkeys(lines)]


def tell_waiting(heartbeat: Heartbeat, *, now: datetime) -> list[str]:
    """A sentence for each action of a rule that waits after a refusal: why, until when, and what would pass."""
    waits = read_waits(read_memory(heartbeat.state).waits)
    waiting = {key: wait for key, wait in waits.items() if is_waiting(wait, now=now) and wait.code != REHEARSED}
    if not waiting:
        return []
    refused = (ActionState.BLOCKED, ActionState.DEFERRED)
    last = read_latest_actions(golem_id=heartbeat.golem_id, keys=waiting, states=refused)
    return [_say_wait(wait, last[key]) for key, wait in sorted(waiting.items()) if key in last]


def tell_way_out(problem: Mapping[str, object]) -> str:
    """What would pass in place of what was refused and who mends it, in a sentence or two; empty where that is not
    known.
    """
    passes = str(problem.get("would_pass") or "").rstrip(".")
    try:
        mended = _MENDED_BY.get(Recovery(str(problem.get("recovery", ""))), "")
    except ValueError:
        mended = ""
    told = [f"What would pass: {passes}" if passes else "", mended]
    return " ".join(f"{each}." for each in told if each)


def _of_liquidity(rule: LiquidityRule) -> RuleNeeds:
    return RuleNeeds(
        name="the position of liquidity",
        at_once_micro_usd=rule.target_micro_usd,
        # Once more the half that may have to be swapped before it is opened.
        a_tick_micro_usd=rule.target_micro_usd + rule.target_micro_usd // 2,
        writes=_WRITES,
        slippage_bps=rule.slippage_bps,
        position_micro_usd=rule.target_micro_usd,
        range_ticks=_count_ticks(rule.half_width_bps),
    )


def _compare(
    need: RuleNeeds, *, limits: SpendingLimits, cage: PolicyCage, total_micro_usd: int | None
) -> Iterator[str]:
    windows = (
        ("per transaction", limits.per_transaction_micro_usd, need.at_once_micro_usd),
        ("per tick", limits.per_tick_micro_usd, need.a_tick_micro_usd),
        ("per session", limits.per_session_micro_usd, need.a_tick_micro_usd),
        ("per day", limits.per_day_micro_usd, max(need.a_tick_micro_usd, need.a_day_micro_usd)),
    )
    for window, limit, meant in windows:
        worst = apply_bps_up(meant, ON_TOP_BPS)
        if worst <= limit:
            continue
        what = "is refused every time" if meant > limit else "may be refused"
        fits = need.at_once_micro_usd * limit // worst // CENT * CENT
        yield (
            f"{need.name.capitalize()} {what}: it comes to {format_micro_usd(meant)}, to {format_micro_usd(worst)} with"
            f" gas and a moving price at their worst, and the limit {window} is {format_micro_usd(limit)}. Set that"
            f" limit to {format_micro_usd(worst)} or more, or {need.name} to {format_micro_usd(fits)} or less."
        )
    if need.slippage_bps > limits.max_slippage_bps:
        yield (
            f"Slippage of {format_bps(need.slippage_bps)} is asked for {need.name}; your limit of"
            f" {format_bps(limits.max_slippage_bps)} is used in its place."
        )
    if need.writes > limits.writes_per_hour:
        yield (
            f"{need.name.capitalize()} takes {need.writes} transactions in one go and the limit is"
            f" {limits.writes_per_hour} an hour. Set that limit to {need.writes} or more."
        )
    if need.range_ticks is not None and need.range_ticks < cage.min_range_ticks:
        yield (
            f"The range of {need.name} is {need.range_ticks} ticks wide and the least of the cage is"
            f" {cage.min_range_ticks}: it is refused every time. Make the range wider, or set that least lower."
        )
    if total_micro_usd and need.position_micro_usd * BPS > cage.max_position_bps * total_micro_usd:
        most = cage.max_position_bps * total_micro_usd // BPS // CENT * CENT
        share = need.position_micro_usd * BPS // total_micro_usd
        yield (
            f"{need.name.capitalize()} would be {format_bps(share)} of the {format_micro_usd(total_micro_usd)} it"
            f" holds and the cage allows {format_bps(cage.max_position_bps)} in one position. Make it"
            f" {format_micro_usd(most)} or less, or set that share higher."
        )


def _say_wallet(golem: Golem, needs: Iterable[RuleNeeds]) -> list[str]:
    if golem.address or not any(needs):
        return []
    return [f"{golem.name} has no wallet yet: until it has one its rules do nothing."]


def _say_wait(wait: WishBackoff, row: ActionRecord) -> str:
    problem = row.problem if isinstance(row.problem, Mapping) else {}
    reason = str(problem.get("detail") or row.block_reason).rstrip(".")
    again = "" if wait.count < 2 else f", {wait.count} times in a row"
    name = row.action_type.replace("_", " ").capitalize()
    return " ".join(
        part
        for part in (
            f"{name} waits until {wait.until:%Y-%m-%d %H:%M} UTC; it was refused{again}: {reason}.",
            tell_way_out(problem),
        )
        if part
    )


def _read_total(heartbeat: Heartbeat) -> int | None:
    """What the golem was worth at its last look; None before one, or where it could not be told."""
    return read_memory(heartbeat.state).total_micro_usd


def _count_ticks(half_width_bps: int) -> int:
    """Ticks from one end of the range to the other, rounded down."""
    above, below = (log(1 + side * half_width_bps / BPS) for side in (1, -1))
    return int((above - below) / log(1.0001))
