"""Hook 1: what the owner's cage and the golem's phase allow at all.

Each rule is a function of plain values with an id of its own. A decrease or close is never stopped here by anything
but the phase table and a halt, so a golem can always get out. Drawdown and collateral need figures this server does
not record yet and are not judged. Seed: 002, "PolicyCageHook"; 001, "Phase-based gating"; decisions, "PolicyCage".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db.models.functions import Coalesce

from archetypes_app.errors import GolemHalted
from archetypes_app.phases import is_allowed
from permits_app.errors import PhaseBlocked, TokenNotAllowed
from permits_app.models import ActionPermit
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import AllowlistMode
from permits_app.safety.assets import Portfolio, find_wrapped_native, read_portfolio
from permits_app.safety.figures import format_bps
from permits_app.safety.hook import Allow, HookCall, Reject, Verdict
from permits_app.safety.profile_rules import judge_profile
from permits_app.safety.token_calls import list_recipients
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.units import BPS, format_micro_usd
from tools_app.toolkit.enums import ActionClass, Category, Phase, RiskLayer
from tools_app.toolkit.views import NATIVE, TokenMeta

DAY = timedelta(hours=24)

_LEAVING = frozenset({ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION})
_RAISING = frozenset({ActionClass.NEW_POSITION, ActionClass.INCREASE_POSITION, ActionClass.REBALANCE})
_LATE_PHASES = frozenset({Phase.DEFENSIVE, Phase.SURVIVAL, Phase.TERMINAL})
# A swap changes what is held and a transfer gives it away; everything else puts value into a venue.
_NO_POSITION = frozenset({Category.TRADING, Category.WALLET})
_DONE_OR_UNDER_WAY = (PermitStatus.COMMITTING, PermitStatus.UNKNOWN, PermitStatus.COMMITTED)


class PolicyCageHook:
    """Phase, risk layer, approved assets, rebalances, position and concentration."""

    name = "policy_cage"

    def check(self, call: HookCall) -> Verdict:
        """Allow, or Reject with the first rule that does not hold."""
        phase = Phase(call.golem.phase)
        refusal = (
            judge_halt(is_halted=call.golem.is_halted, reason=call.golem.halt_reason)
            or judge_phase(phase=phase, action_class=call.action_class)
            or judge_layer(phase=phase, layer=call.tool.risk_layer, action_class=call.action_class)
            or _judge_rebalances(call)
            or _judge_assets(call)
            or judge_profile(call)
        )
        return refusal or Allow(note=f"{call.action_class.value.lower()} is allowed in {phase.value.lower()}")


def judge_halt(*, is_halted: bool, reason: str) -> Reject | None:
    """A halted golem does nothing."""
    if not is_halted:
        return None
    return Reject(
        rule="policy_cage.halted",
        reason="this golem is halted; only its owner can resume it",
        observed=reason,
        error=GolemHalted,
    )


def judge_phase(*, phase: Phase, action_class: ActionClass) -> Reject | None:
    """The phase table."""
    if is_allowed(phase, action_class):
        return None
    allowed = ", ".join(each.value for each in ActionClass if is_allowed(phase, each))
    return Reject(
        rule="policy_cage.phase",
        reason=f"{action_class.value} is not allowed in phase {phase.value}; allowed: {allowed}",
        observed=f"{action_class.value} in phase {phase.value}",
        limit=allowed,
        would_pass=allowed,
        error=PhaseBlocked,
    )


def judge_layer(*, phase: Phase, layer: RiskLayer, action_class: ActionClass) -> Reject | None:
    """Tools of layer 3 are for golems with life to spare; leaving a position is never stopped by its layer."""
    if layer is not RiskLayer.UNBOUNDED or phase not in _LATE_PHASES or action_class in _LEAVING:
        return None
    return Reject(
        rule="policy_cage.risk_layer",
        reason=f"tools of risk layer 3 are blocked in phase {phase.value}",
        observed=f"layer {int(layer)} in phase {phase.value}",
        limit=f"layer {int(RiskLayer.BOUNDED)}",
        would_pass="a tool of layer 1 or 2, or an action that decreases or closes a position",
        error=PhaseBlocked,
    )


def judge_asset_list(*, arriving: Iterable[TokenMeta], approved: frozenset[str]) -> Reject | None:
    """A token that would come to be held is not an approved asset. `approved` are EIP-55 addresses."""
    for token in arriving:
        if token.address not in approved:
            return Reject(
                rule="policy_cage.approved_asset",
                reason=f"{token.symbol or token.address} is not an approved asset of this golem",
                observed=f"{token.symbol} {token.address}",
                limit=f"{len(approved)} approved assets",
                would_pass="an approved asset, or after the owner approves this one",
                error=TokenNotAllowed,
                data={"token": token.address},
            )
    return None


def judge_asset_count(*, count: int, most: int) -> Reject | None:
    """More assets than the cage has room for."""
    if count <= most:
        return None
    return Reject(
        rule="policy_cage.max_assets",
        reason=f"{count} assets; the cage allows {most}",
        observed=f"{count} assets",
        limit=f"{most} assets",
        would_pass="fewer assets: one has to be sold, or taken off the list, first",
    )


def judge_rebalances(
    *, times: Sequence[datetime], now: datetime, interval_seconds: int, most_per_day: int
) -> Reject | None:
    """Too soon after the last rebalance, or too many within 24 h. `times` are those of the last 24 h, any order."""
    within = sorted(time for time in times if time > now - DAY)
    if within:
        free_at = within[-1] + timedelta(seconds=interval_seconds)
        if now < free_at:
            return Reject(
                rule="policy_cage.rebalance_interval",
                reason=f"rebalances are at least {interval_seconds} s apart",
                observed=f"{int((now - within[-1]).total_seconds())} s since the last one",
                limit=f"{interval_seconds} s",
                resets_at=free_at.isoformat(),
                would_pass=f"the same action from {free_at.isoformat()} on",
            )
    if len(within) >= most_per_day:
        # The window frees a place when the oldest of the last `most_per_day` is a day old.
        resets_at = (within[-most_per_day] + DAY).isoformat() if most_per_day else ""
        return Reject(
            rule="policy_cage.rebalances_per_day",
            reason=f"{len(within)} rebalances within 24 h; at most {most_per_day} are allowed",
            observed=f"{len(within)} rebalances within 24 h",
            limit=f"{most_per_day} rebalances in 24 h",
            remaining="0 rebalances",
            resets_at=resets_at,
        )
    return None


def judge_position(*, value_micro_usd: int, total_micro_usd: int, most_bps: int) -> Reject | None:
    """One venue position would be too large a share of what the golem holds."""
    if value_micro_usd * BPS <= most_bps * total_micro_usd:
        return None
    most = total_micro_usd * most_bps // BPS
    return Reject(
        rule="policy_cage.max_position",
        reason=(
            f"a position of {format_micro_usd(value_micro_usd)} would be"
            f" {_share(value_micro_usd, total_micro_usd)} of the portfolio of {format_micro_usd(total_micro_usd)}"
        ),
        observed=_share(value_micro_usd, total_micro_usd),
        limit=format_bps(most_bps),
        would_pass=f"a position of at most {format_micro_usd(most)}",
    )


def judge_concentration(*, portfolio: Portfolio, most_bps: int) -> Reject | None:
    """An asset other than the base asset would be too large a share, and larger than before."""
    total_before, total_after = portfolio.total_before, portfolio.total_after
    for asset, value in portfolio.after.items():
        if asset == portfolio.base_asset or value * BPS <= most_bps * total_after:
            continue
        # Shares compared by cross-multiplication, so that nothing is rounded.
        held = portfolio.before.get(asset, 0)
        if total_before and value * total_before <= held * total_after:
            continue
        symbol = portfolio.names.get(asset, asset)
        return Reject(
            rule="policy_cage.max_concentration",
            reason=(
                f"{symbol} would be {_share(value, total_after)} of the portfolio of {format_micro_usd(total_after)},"
                f" up from {_share(held, total_before)}"
            ),
            observed=_share(value, total_after),
            limit=format_bps(most_bps),
            remaining=format_micro_usd(max(0, total_after * most_bps // BPS - held)),
            would_pass=f"{symbol} worth at most {format_micro_usd(total_after * most_bps // BPS)} in all",
            data={"asset": asset},
        )
    return None


def _judge_rebalances(call: HookCall) -> Reject | None:
    if call.action_class is not ActionClass.REBALANCE:
        return None
    done = ActionPermit.objects.filter(
        golem_id=call.golem.pk,
        action_class=ActionClass.REBALANCE.value,
        status__in=[str(status) for status in _DONE_OR_UNDER_WAY],
    )
    if call.own_permit_id is not None:
        done = done.exclude(pk=call.own_permit_id)
    times = done.annotate(at=Coalesce("finished_at", "committing_at", "created_at")).filter(at__gt=call.now - DAY)
    return judge_rebalances(
        times=list(times.values_list("at", flat=True)),
        now=call.now,
        interval_seconds=call.cage.min_rebalance_interval_seconds,
        most_per_day=call.cage.max_rebalances_per_day,
    )


def _judge_assets(call: HookCall) -> Reject | None:
    plan, chain, account = call.plan, call.chain, call.view.address
    if plan is None or call.action_class not in _RAISING:
        return None
    if chain is None or account is None:
        return Reject(rule="policy_cage.unknown", reason="there is no chain or no account to measure the portfolio on")
    if call.limits.allowlist_mode == AllowlistMode.STRICT:
        approved = _approved_assets(call.allowlist, find_wrapped_native(chain))
        listed = judge_asset_list(arriving=(flow.token for flow in plan.receives), approved=approved)
        refusal = listed or judge_asset_count(count=len(approved - {NATIVE}), most=call.cage.max_assets)
        if refusal is not None:
            return refusal
    try:
        portfolio = read_portfolio(
            chain=chain,
            account=account,
            base_asset=call.view.base_asset,
            plan=plan,
            enters_position=enters_position(call),
            position_id=_position_id(call),
        )
    except (PriceUnavailable, PriceStale) as error:
        return Reject(
            rule="policy_cage.price_missing",
            reason=f"the share of the portfolio cannot be computed: {error.detail}",
            error=type(error),
            data=error.data,
        )
    if call.limits.allowlist_mode != AllowlistMode.STRICT:
        held = sum(1 for value in portfolio.after.values() if value)
        refusal = judge_asset_count(count=held, most=call.cage.max_assets)
        if refusal is not None:
            return refusal
    return judge_position(
        value_micro_usd=portfolio.position_after,
        total_micro_usd=portfolio.total_before,
        most_bps=call.cage.max_position_bps,
    ) or judge_concentration(portfolio=portfolio, most_bps=call.cage.max_concentration_bps)


def enters_position(call: HookCall) -> bool:
    """Whether a call puts value into a venue and keeps it: it pays nobody else, and is no swap and no transfer."""
    if call.plan is None or call.tool.category in _NO_POSITION:
        return False
    return bool(call.plan.spends) and all(each == call.view.address for each in list_recipients(call.plan))


def _position_id(call: HookCall) -> int | None:
    text = str(call.params.get("position_id", ""))
    return int(text) if text.isdecimal() and len(text) <= 78 else None


def _approved_assets(allowlist: frozenset[tuple[str, str]], wrapped_native: str | None) -> frozenset[str]:
    approved = {address for kind, address in allowlist if kind == AllowlistKind.TOKEN}
    if wrapped_native in approved:
        approved.add(NATIVE)
    return frozenset(approved)


def _share(value: int, total: int) -> str:
    return format_bps(-(-value * BPS // total)) if total else "all of it"
