"""A draft of the policy tried on what the golem asked for: which decisions would flip, and what they were worth.

The rules are the hooks' own, fed with the plan each decision was about and with what the draft itself would have let
through before: limits per transaction, tick, session and day, pace, slippage, impact, allowlist, rebalances and the
collateral ratio a plan states. Position, concentration, number of assets and drawdown need the holdings of that moment,
which are not kept: a refusal by one of them, or by any rule that no limit decides, stays as it was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from archetypes_app.models import Golem
from archetypes_app.models.tick import HeartbeatTick
from permits_app.approvals.policy_state import (
    CAGE_COLUMNS,
    LIMIT_COLUMNS,
    PolicyState,
    name_entry,
    read_policy_state,
    split_entry,
)
from permits_app.models import ActionPermit, DeniedCall, PolicyCage, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import AllowlistMode
from permits_app.plan_store import decode_plan
from permits_app.safety.holding_rules import judge_collateral
from permits_app.safety.hook import Reject
from permits_app.safety.hooks.allowlist_guard import find_unlisted
from permits_app.safety.hooks.rate_limiter import judge_rate
from permits_app.safety.hooks.spending_limiter import judge_price_impact, judge_slippage
from permits_app.safety.rebalance_rules import judge_rebalances
from permits_app.safety.spend_rules import judge_spend
from permits_app.usage import Usage
from tools_app.admin.display import format_usd
from tools_app.admin.tokens import list_tokens
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan

DAY: Final = timedelta(hours=24)
HOUR: Final = timedelta(hours=1)
LAST_DECISIONS: Final = 100
SUGGESTION_DAYS: Final = 7

_WROTE: Final = (PermitStatus.COMMITTED, PermitStatus.REVERTED, PermitStatus.UNKNOWN, PermitStatus.COMMITTING)
_BY_POLICY: Final = ("spending_limiter.per_", "spending_limiter.slippage", "spending_limiter.price_impact",
                     "allowlist_guard.", "rate_limiter.per_hour", "policy_cage.rebalance",
                     "policy_cage.collateral_ratio")  # fmt: skip
NOT_REPLAYED: Final = ("position", "concentration", "number of assets", "drawdown", "action gate", "phase")
"""What a draft's back-test cannot judge, by name: the holdings, predictions and phase of that moment are not kept."""


@dataclass(frozen=True, slots=True)
class PastDecision:
    """One decision as it was: allowed, or refused by `rule`."""

    at: datetime
    what: str
    key_id: Any
    plan: TxPlan
    account: str
    value_micro_usd: int
    counts_per_day: bool
    rule: str
    held_until: datetime | None
    is_rebalance: bool = False
    tick: int = 0


@dataclass(frozen=True, slots=True)
class ReplayLine:
    """One decision under the draft. `flips` when it is the other way round."""

    at: datetime
    what: str
    worth: str
    value_micro_usd: int
    was: str
    becomes: str
    flips: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """All of them, oldest first."""

    lines: tuple[ReplayLine, ...]

    @property
    def left_out(self) -> str:
        """What it cannot judge, by name."""
        return ", ".join(NOT_REPLAYED)

    @property
    def flipped(self) -> tuple[ReplayLine, ...]:
        """Those that would be decided otherwise."""
        return tuple(line for line in self.lines if line.flips)

    @property
    def flipped_worth(self) -> str:
        """What they were worth together, in dollars."""
        return format_usd(sum(line.value_micro_usd for line in self.flipped))


@dataclass(frozen=True, slots=True)
class SuggestedValue:
    """One part of the least policy, beside what holds now."""

    row: str
    name: str
    least: str
    now: str


def replay_permits(*, golem: Golem, policy: PolicyState, last: int = LAST_DECISIONS) -> Replay:
    """Try `policy` on the golem's last decisions."""
    limits, cage = make_limits(policy), make_cage(policy)
    allowed: list[PastDecision] = []
    lines = []
    for past in list_decisions(golem=golem, last=last):
        refusal = _refuse(past, limits, cage, policy, allowed)
        if not refusal:
            allowed.append(past)
        lines.append(
            ReplayLine(
                at=past.at,
                what=past.what,
                worth=format_usd(past.value_micro_usd),
                value_micro_usd=past.value_micro_usd,
                was=past.rule or "allowed",
                becomes=refusal or "allowed",
                flips=bool(past.rule) != bool(refusal),
            )  # fmt: skip
        )
    return Replay(tuple(lines))


def suggest_least_policy(*, golem: Golem, now: datetime, days: int = SUGGESTION_DAYS) -> tuple[SuggestedValue, ...]:
    """The least limits and allowlist that would have allowed everything the golem was allowed in the last `days`.

    Empty when nothing was decided in that time.
    """
    since = now - timedelta(days=days)
    past = [each for each in list_decisions(golem=golem, last=1_000) if each.at >= since and not each.rule]
    if not past:
        return ()
    state = read_policy_state(golem)
    least = {
        "per_transaction_micro_usd": max(each.value_micro_usd for each in past),
        "per_day_micro_usd": max(_sum_day(past[:at], each.at) + _day_value(each) for at, each in enumerate(past)),
        "per_session_micro_usd": _most_by_key(past),
        "writes_per_hour": max(
            sum(each.at - HOUR < other.at <= each.at for other in past[: at + 1]) for at, each in enumerate(past)
        ),
        "max_slippage_bps": max((each.plan.slippage_bps or 0) for each in past),
        "max_price_impact_bps": max((each.plan.price_impact_bps or 0) for each in past),
    }
    found = [SuggestedValue("limits", name, str(value), state["limits"][name]) for name, value in least.items()]
    used = {entry for each in past for entry in _entries_of(each, state)}
    unused = sorted(set(state["allowlist"]) - used)
    return (*found, *(SuggestedValue("allowlist", key, "", state["allowlist"][key] or key) for key in unused))


def suggestion_as_changes(suggestion: Sequence[SuggestedValue]) -> list[dict[str, Any]]:
    """The suggestion as changes of a policy."""
    return [
        {"row": each.row, "name": each.name, "after": each.least if each.row == "limits" else None}
        for each in suggestion
    ]


def list_decisions(*, golem: Golem, last: int) -> list[PastDecision]:
    """The golem's last `last` decisions about transactions, allowed and refused, oldest first."""
    permits = ActionPermit.objects.filter(golem=golem, is_local=False, halt_epoch__isnull=True)
    rows = permits.select_related("spend_entry").order_by("-created_at")[:last]
    denied = list(DeniedCall.objects.filter(golem=golem).order_by("-denied_at")[:last])
    ticks = _list_ticks(golem, denied)
    found = [*(_of_permit(row) for row in rows), *(_of_denial(row, ticks) for row in denied)]
    return sorted(found, key=lambda each: each.at)[-last:]


def make_limits(policy: PolicyState) -> SpendingLimits:
    """Limits of a draft, never saved."""
    row = SpendingLimits()
    for field in row._meta.concrete_fields:
        if field.name in LIMIT_COLUMNS:
            setattr(row, field.name, field.to_python(policy["limits"][field.name]))
    return row


def make_cage(policy: PolicyState) -> PolicyCage:
    """The cage of a draft, never saved."""
    row = PolicyCage()
    for field in row._meta.concrete_fields:
        if field.name in CAGE_COLUMNS:
            setattr(row, field.name, field.to_python(policy["cage"][field.name]))
    return row


def _refuse(
    past: PastDecision, limits: SpendingLimits, cage: PolicyCage, policy: PolicyState, before: list[PastDecision]
) -> str:
    """The rule of the draft, or the old one no limit decides, that refuses; empty when it is allowed."""
    if past.rule and not past.rule.startswith(_BY_POLICY):
        return past.rule
    if limits.allowlist_mode == AllowlistMode.STRICT:
        listed = frozenset(
            (kind, address)
            for chain_id, kind, address in map(split_entry, policy["allowlist"])
            if chain_id == past.plan.chain_id
        )
        unlisted = find_unlisted(
            plan=past.plan, account=past.account, allowlist=listed, wrapped_native=_wrapped(past.plan.chain_id)
        )
        if unlisted:
            return f"allowlist_guard.{str(unlisted[0].kind).lower()}"
    usage = _usage(past, before)
    verdicts: tuple[Reject | None, ...] = (
        _judge_cage(past, cage, before),
        judge_slippage(plan=past.plan, most_bps=limits.max_slippage_bps),
        judge_price_impact(plan=past.plan, most_bps=limits.max_price_impact_bps),
        judge_spend(
            limits=limits, usage=usage, amount_micro_usd=past.value_micro_usd, counts_per_day=past.counts_per_day
        ),
        judge_rate(writes=usage.writes_last_hour, most=limits.writes_per_hour, resets_at=None),
    )
    return next((verdict.rule for verdict in verdicts if verdict is not None), "")


def _judge_cage(past: PastDecision, cage: PolicyCage, before: Sequence[PastDecision]) -> Reject | None:
    """The rules of a cage that need nothing but the plan and what was let through before."""
    stated = past.plan.collateral_ratio_bps
    refusal = None
    if stated is not None:
        refusal = judge_collateral(ratio_bps=stated, least_bps=cage.min_collateral_ratio_bps, borrows=True)
    if refusal is not None or not past.is_rebalance:
        return refusal
    times = [each.at for each in before if each.is_rebalance and each.held_until is None]
    return judge_rebalances(
        times=times, now=past.at, interval_seconds=cage.min_rebalance_interval_seconds,
        most_per_day=cage.max_rebalances_per_day,
    )  # fmt: skip


def _usage(past: PastDecision, before: Sequence[PastDecision]) -> Usage:
    held = [each for each in before if each.held_until is None or each.held_until > past.at]
    return Usage(
        tick_micro_usd=sum(each.value_micro_usd for each in held if past.tick and each.tick == past.tick),
        session_micro_usd=sum(each.value_micro_usd for each in held if past.key_id and each.key_id == past.key_id),
        day_micro_usd=_sum_day(held, past.at),
        writes_last_hour=sum(each.at > past.at - HOUR for each in held),
    )


def _sum_day(rows: Sequence[PastDecision], at: datetime) -> int:
    return sum(_day_value(each) for each in rows if each.at > at - DAY)


def _day_value(past: PastDecision) -> int:
    return past.value_micro_usd if past.counts_per_day else 0


def _most_by_key(past: Sequence[PastDecision]) -> int:
    sums: dict[Any, int] = {}
    for each in past:
        sums[each.key_id] = sums.get(each.key_id, 0) + each.value_micro_usd
    return max(sums.values())


def _entries_of(past: PastDecision, state: Mapping[str, Any]) -> set[str]:
    """Entries of the allowlist without which this decision would have been another."""
    used = set()
    for key in state["allowlist"]:
        chain_id, kind, address = split_entry(key)
        if chain_id != past.plan.chain_id:
            continue
        rest = frozenset(
            split_entry(other)[1:] for other in state["allowlist"] if other != key and split_entry(other)[0] == chain_id
        )
        if find_unlisted(plan=past.plan, account=past.account, allowlist=rest, wrapped_native=_wrapped(chain_id)):
            used.add(name_entry(chain_id, kind, address))
    return used


def _list_ticks(golem: Golem, denied: Sequence[DeniedCall]) -> list[tuple[datetime, int]]:
    """When each tick began in which one of `denied` may lie, oldest first; nothing for a golem without a pulse."""
    if not denied:
        return []
    ticks = HeartbeatTick.objects.filter(golem=golem, started_at__lte=denied[0].denied_at).order_by("-started_at")
    return sorted(ticks.values_list("started_at", "number")[:1_000])


def _of_permit(permit: ActionPermit) -> PastDecision:
    entry = getattr(permit, "spend_entry", None)
    is_over = permit.status not in _WROTE and permit.finished_at is not None
    return PastDecision(
        at=permit.created_at,
        what=f"{permit.action_type} at {permit.venue}",
        key_id=permit.api_key_id,
        plan=decode_plan(permit),
        account=permit.account,
        value_micro_usd=permit.value_micro_usd,
        counts_per_day=entry.counts_per_day if entry is not None else True,
        rule="",
        held_until=permit.finished_at if is_over else None,
        is_rebalance=permit.action_class == ActionClass.REBALANCE,
        tick=entry.heartbeat_tick if entry is not None else 0,
    )


def _of_denial(row: DeniedCall, ticks: Sequence[tuple[datetime, int]]) -> PastDecision:
    return PastDecision(
        at=row.denied_at,
        what=f"{row.action_type} at {row.venue}",
        key_id=row.api_key_id,
        plan=decode_plan(row),
        account=row.signer,
        value_micro_usd=row.value_micro_usd,
        counts_per_day=row.counts_per_day,
        rule=row.rule or row.code,
        held_until=None,
        is_rebalance=row.action_class == ActionClass.REBALANCE,
        # A refusal keeps no tick of its own; it fell into the one that had begun.
        tick=ticks[at - 1][1] if (at := bisect_right(ticks, (row.denied_at, 2**62))) else 0,
    )


def _wrapped(chain_id: int) -> str | None:
    network = KNOWN_NETWORKS.get(chain_id)
    wanted = f"W{network.native_symbol}" if network is not None else ""
    return next((token.address for token in list_tokens(chain_id) if token.symbol == wanted), None)
