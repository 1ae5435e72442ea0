"""Hook 1: what the owner's cage and the golem's phase allow at all.

Each rule is a function of plain values with an id of its own; loading and deciding are apart, so that deciding can be
measured and mutated by itself. A decrease or close is never stopped here by anything but the phase table and a halt,
so a golem can always get out. What borrows must state its collateral ratio; a plan that does not is refused.
Seed: 002, "PolicyCageHook"; 001, "Phase-based gating"; decisions, "PolicyCage".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from archetypes_app.errors import GolemHalted
from archetypes_app.phases import is_allowed
from permits_app.errors import PhaseBlocked, TokenNotAllowed
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.spending import AllowlistMode
from permits_app.safety.action_gate import judge_gate
from permits_app.safety.assets import Portfolio, find_wrapped_native, read_portfolio
from permits_app.safety.cage_contract import judge_contract
from permits_app.safety.chain_facts import preload_chain_facts
from permits_app.safety.drawdown import Fall, fall_of, judge_fall, record_value
from permits_app.safety.figures import format_bps
from permits_app.safety.hook import Allow, HookCall, Reject, Verdict
from permits_app.safety.profile_rules import judge_profile
from permits_app.safety.record_reader import records_of
from permits_app.safety.token_calls import list_recipients
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.units import BPS, format_micro_usd
from tools_app.toolkit.enums import ActionClass, Category, Phase, RiskLayer
from tools_app.toolkit.views import NATIVE, TokenMeta

DAY = timedelta(hours=24)

_LEAVING = frozenset({ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION})
_RAISING = frozenset({ActionClass.NEW_POSITION, ActionClass.INCREASE_POSITION, ActionClass.REBALANCE})
_LATE_PHASES = frozenset({Phase.DEFENSIVE, Phase.SURVIVAL, Phase.TERMINAL})
_BORROWING = frozenset({Category.LENDING, Category.DERIVATIVES})
# A swap changes what is held and a transfer gives it away; everything else puts value into a venue.
_NO_POSITION = frozenset({Category.TRADING, Category.WALLET})


@dataclass(frozen=True, slots=True)
class CageRows:
    """What hook 1 reads of the database. `predictions` newest first, only where the action gate is on."""

    fall: Fall = Fall()
    rebalances: Sequence[datetime] = ()
    predictions: Sequence[bool] = ()
    is_conservative: bool = False


@dataclass(frozen=True, slots=True)
class Holdings:
    """What hook 1 reads of the chain. `is_known` is off without a chain or an account."""

    is_known: bool = False
    wrapped_native: str | None = None
    portfolio: Portfolio | None = None
    price_missing: PriceUnavailable | PriceStale | None = None
    fall: Fall | None = None


class PolicyCageHook:
    """Phase, risk layer, drawdown, approved assets, rebalances, action gate, position and concentration."""

    name = "policy_cage"

    def check(self, call: HookCall) -> Verdict:
        """Allow, or Reject with the first rule that does not hold."""
        refusal = judge_standing(call)
        if refusal is not None:
            return refusal
        rows = load_rows(call)
        refusal = judge_rows(call, rows) or judge_contract(call)
        if refusal is None and call.plan is not None and call.action_class in _RAISING:
            refusal = judge_holdings(call, rows, load_holdings(call))
        return refusal or _agree(call)

    def decide(self, call: HookCall, rows: CageRows, holdings: Holdings | None) -> Verdict:
        """The same answer from what was loaded before; reads nothing."""
        refusal = judge_standing(call) or judge_rows(call, rows)
        if refusal is None and call.plan is not None and call.action_class in _RAISING:
            refusal = judge_holdings(call, rows, holdings or Holdings())
        return refusal or _agree(call)


def load_rows(call: HookCall) -> CageRows:
    """What hook 1 judges, of what the run has read."""
    records = records_of(call)
    return CageRows(
        fall=fall_of(records.mark),
        rebalances=records.rebalances,
        predictions=records.predictions,
        is_conservative=records.is_conservative,
    )


def load_holdings(call: HookCall) -> Holdings:
    """What the chain says the golem holds. Records it against the high-water mark when every held asset has a price."""
    plan, chain, account = call.plan, call.chain, call.view.address
    if plan is None or chain is None or account is None:
        return Holdings()
    wrapped = find_wrapped_native(chain)
    # An asset that is not approved, or one too many, is refused without reading a balance.
    if _judge_approved(call, wrapped) is not None:
        return Holdings(is_known=True, wrapped_native=wrapped)
    preload_chain_facts(call, with_portfolio=True)
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
        return Holdings(is_known=True, wrapped_native=wrapped, price_missing=error)
    fall = None
    if portfolio.is_complete:
        fall = record_value(
            golem_id=call.golem.pk, value_micro_usd=portfolio.total_before,
            most_bps=call.cage.max_drawdown_bps, now=call.now, known=records_of(call).mark,
        )  # fmt: skip
    return Holdings(is_known=True, wrapped_native=wrapped, portfolio=portfolio, fall=fall)


def judge_standing(call: HookCall) -> Reject | None:
    """The rules that need nothing but the golem itself."""
    phase = Phase(call.golem.phase)
    return (
        judge_halt(is_halted=call.golem.is_halted, reason=call.golem.halt_reason)
        or judge_phase(phase=phase, action_class=call.action_class)
        or judge_layer(phase=phase, layer=call.tool.risk_layer, action_class=call.action_class)
    )


def judge_rows(call: HookCall, rows: CageRows) -> Reject | None:
    """The rules that need rows of the past and no balance."""
    return (
        judge_profile(call, is_conservative=rows.is_conservative)
        or _judge_collateral(call)
        or _judge_fall(call, rows.fall)
        or _judge_rebalances(call, rows.rebalances)
    )


def judge_holdings(call: HookCall, rows: CageRows, holdings: Holdings) -> Reject | None:
    """The rules over what the golem holds and would hold."""
    if not holdings.is_known:
        return Reject(
            rule="policy_cage.unknown",
            reason="there is no chain or no account to measure the portfolio on",
            observed="no chain or no account",
            limit="a portfolio that can be read",
            would_pass="the same action once the golem has a wallet on a chain this server reaches",
        )
    refusal = _judge_approved(call, holdings.wrapped_native)
    if refusal is not None:
        return refusal
    if holdings.price_missing is not None or holdings.portfolio is None:
        missing = holdings.price_missing
        return Reject(
            rule="policy_cage.price_missing",
            reason=f"the share of the portfolio cannot be computed: {missing.detail if missing else 'no balances'}",
            observed=missing.code if missing else "no balances",
            limit="a fresh price of every token that moves",
            would_pass="the same action once the price feed answers again",
            error=type(missing) if missing else None,
            data=missing.data if missing else {},
        )
    portfolio = holdings.portfolio
    if call.limits.allowlist_mode != AllowlistMode.STRICT:
        held = sum(1 for value in portfolio.after.values() if value)
        refusal = judge_asset_count(count=held, most=call.cage.max_assets)
    return (
        refusal
        or _judge_fall(call, holdings.fall or rows.fall)
        or _judge_gate(call, rows, portfolio)
        or judge_position(
            value_micro_usd=portfolio.position_after,
            total_micro_usd=portfolio.total_before,
            most_bps=call.cage.max_position_bps,
        )
        or judge_concentration(portfolio=portfolio, most_bps=call.cage.max_concentration_bps)
    )


def judge_halt(*, is_halted: bool, reason: str) -> Reject | None:
    """A halted golem does nothing."""
    if not is_halted:
        return None
    return Reject(
        rule="policy_cage.halted",
        reason="this golem is halted; only its owner can resume it",
        observed=reason or "halted",
        limit="a golem that runs",
        would_pass="the same action once its owner resumed it",
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
            would_pass=f"the same action from {resets_at} on" if resets_at else "nothing while the limit is 0",
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


def judge_collateral(*, ratio_bps: int | None, least_bps: int, borrows: bool) -> Reject | None:
    """Collateral over debt below the cage's least, or not told by a plan that borrows."""
    if ratio_bps is None and not borrows:
        return None
    if ratio_bps is not None and ratio_bps >= least_bps:
        return None
    known = ratio_bps is not None
    return Reject(
        rule="policy_cage.collateral_ratio" if known else "policy_cage.collateral_unknown",
        reason=(
            f"collateral would be {format_bps(ratio_bps or 0)} of the debt; the cage asks for {format_bps(least_bps)}"
            if known
            else "the plan borrows and does not say how much collateral would stand behind the debt"
        ),
        observed=format_bps(ratio_bps or 0) if known else "no collateral ratio",
        limit=f"at least {format_bps(least_bps)}",
        would_pass=f"less debt or more collateral: at least {format_bps(least_bps)}",
    )


def borrows(call: HookCall) -> bool:
    """Whether a call may leave a debt behind: a tool of layer 3 that lends or leverages, and leaves no position."""
    is_leverage = call.tool.risk_layer is RiskLayer.UNBOUNDED and call.tool.category in _BORROWING
    return call.plan is not None and is_leverage and call.action_class not in _LEAVING


def _agree(call: HookCall) -> Allow:
    return Allow(note=f"{call.action_class.value.lower()} is allowed in {call.golem.phase.lower()}")


def _judge_fall(call: HookCall, fall: Fall) -> Reject | None:
    return judge_fall(
        fall=fall, action_class=call.action_class, most_bps=call.cage.max_drawdown_bps, now=call.now
    )  # fmt: skip


def _judge_collateral(call: HookCall) -> Reject | None:
    if call.plan is None or call.action_class in _LEAVING:
        return None
    return judge_collateral(
        ratio_bps=call.plan.collateral_ratio_bps,
        least_bps=call.cage.min_collateral_ratio_bps,
        borrows=borrows(call),
    )


def _judge_gate(call: HookCall, rows: CageRows, portfolio: Portfolio) -> Reject | None:
    if not call.cage.is_action_gate_on:
        return None
    return judge_gate(
        predictions=rows.predictions,
        action_class=call.action_class,
        layer=call.tool.risk_layer,
        size_micro_usd=portfolio.position_after or call.value.spend_micro_usd,
        total_micro_usd=portfolio.total_before,
        positions=portfolio.positions,
    )


def _judge_approved(call: HookCall, wrapped_native: str | None) -> Reject | None:
    if call.plan is None or call.limits.allowlist_mode != AllowlistMode.STRICT:
        return None
    approved = _approved_assets(call.allowlist, wrapped_native)
    listed = judge_asset_list(arriving=(flow.token for flow in call.plan.receives), approved=approved)
    return listed or judge_asset_count(count=len(approved - {NATIVE}), most=call.cage.max_assets)


def _judge_rebalances(call: HookCall, times: Sequence[datetime]) -> Reject | None:
    if call.action_class is not ActionClass.REBALANCE:
        return None
    return judge_rebalances(
        times=times,
        now=call.now,
        interval_seconds=call.cage.min_rebalance_interval_seconds,
        most_per_day=call.cage.max_rebalances_per_day,
    )


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
