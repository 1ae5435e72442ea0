"""Hook 1: what the owner's cage and the golem's phase allow at all.

The rules are functions of plain values beside this package: `phase_rules`, `holding_rules`, `rebalance_rules`,
drawdown, action gate, contract. Here is what they are asked about and in which order. Loading and deciding are apart,
so that deciding can be measured and mutated by itself. What borrows must state its collateral ratio; a plan that does
not is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from permits_app.hook_rejection import Reject
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.spending import AllowlistMode
from permits_app.permits.other_chain_holdings import ChainNotCounted, Elsewhere, Unread, look_elsewhere, name_chain
from permits_app.safety.action_gate import judge_gate
from permits_app.safety.assets import (
    NO_POSITION,
    RAISING,
    Portfolio,
    add_elsewhere,
    find_protocol,
    find_wrapped_native,
    list_moved,
    read_portfolio,
)
from permits_app.safety.bridge_rules import judge_crossing
from permits_app.safety.cage_contract import judge_contract
from permits_app.safety.call_records import UnderWay
from permits_app.safety.calldata_rules import judge_calldata
from permits_app.safety.chain_facts import preload_chain_facts
from permits_app.safety.changed_safe_rule import judge_agreed_safe
from permits_app.safety.decode_token_calls import list_recipients
from permits_app.safety.drawdown import Fall, fall_of, judge_fall, record_value
from permits_app.safety.holding_rules import (
    judge_asset_count,
    judge_asset_list,
    judge_collateral,
    judge_concentration,
    judge_dependence,
    judge_failures,
    judge_position,
    judge_range,
    judge_share,
)
from permits_app.safety.hook import Allow, HookCall, Verdict
from permits_app.safety.load_call_records import records_of
from permits_app.safety.phase_rules import judge_halt, judge_layer, judge_phase
from permits_app.safety.predicted_holdings import Dependent
from permits_app.safety.profile_rules import judge_profile
from permits_app.safety.rebalance_rules import judge_rebalances
from permits_app.safety.received_rules import judge_received
from permits_app.safety.risk_tier_of_call import returns_to_golem
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.errors import Recovery
from tools_app.core.units import BPS
from tools_app.portfolio.holdings import Holdings as Held
from tools_app.portfolio.holdings import measure_holdings
from tools_app.portfolio.issuer_and_bridge_risk import (
    DependenceKind,
    Failure,
    depends_of_protocol,
    depends_of_token,
    list_failures,
)
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import LEAVING, ActionClass, Category, Phase, RiskLayer
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.tooldef import is_rescue
from tools_app.toolkit.views import NATIVE

_BORROWING = frozenset({Category.LENDING, Category.DERIVATIVES})


@dataclass(frozen=True, slots=True)
class CageRows:
    """What hook 1 reads of the database. `predictions` newest first, only where the action gate is on."""

    fall: Fall = Fall()
    rebalances: Sequence[datetime] = ()
    predictions: Sequence[bool] = ()
    is_conservative: bool = False


@dataclass(frozen=True, slots=True)
class CageReads:
    """What hook 1 reads of the chain. `is_known` is off without a chain or an account.

    `with_others` is the portfolio as it will be once what is under way has happened; None when nothing is.
    """

    is_known: bool = False
    wrapped_native: str | None = None
    portfolio: Portfolio | None = None
    price_missing: PriceUnavailable | PriceStale | None = None
    fall: Fall | None = None
    with_others: Portfolio | None = None
    unread: tuple[Unread, ...] = ()
    """Other chains of the golem that cannot be counted now."""
    failed: tuple[Failure, ...] = ()
    """Issuers and bridges that failed what is held."""


class PolicyCageHook:
    """Phase, risk layer, drawdown, approved assets, rebalances, action gate, position and concentration."""

    name = "policy_cage"

    def check(self, call: HookCall) -> Verdict:
        """Allow, or Reject with the first rule that does not hold."""
        refusal = judge_standing(call)
        if refusal is not None:
            return refusal
        rows = load_rows(call)
        refusal = judge_rows(call, rows) or judge_calldata(call) or judge_agreed_safe(call) or judge_contract(call)
        refusal = refusal or judge_received(call) or judge_crossing(call)
        if refusal is None and call.plan is not None and call.action_class in RAISING:
            holdings = load_holdings(call)
            refusal = judge_holdings(call, rows, holdings)
            if refusal is None:
                refusal = judge_with_others(call, rows, holdings)
                if refusal is not None and call.records is not None:
                    call.records.portfolio = holdings.with_others
        return refusal or _agree(call)

    def decide(self, call: HookCall, rows: CageRows, holdings: CageReads | None) -> Verdict:
        """The same answer from what was loaded before; reads nothing."""
        refusal = judge_standing(call) or judge_rows(call, rows)
        if refusal is None and call.plan is not None and call.action_class in RAISING:
            refusal = judge_holdings(call, rows, holdings or CageReads())
            refusal = refusal or judge_with_others(call, rows, holdings or CageReads())
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


def load_holdings(call: HookCall) -> CageReads:
    """What the chain says the golem holds. Records it against the high-water mark when every held asset has a price."""
    plan, chain, account = call.plan, call.chain, call.view.address
    if plan is None or chain is None or account is None:
        return CageReads()
    wrapped = find_wrapped_native(chain)
    # An asset that is not approved, or one too many, is refused without reading a balance.
    if judge_approved(call, wrapped) is not None:
        return CageReads(is_known=True, wrapped_native=wrapped)
    records = records_of(call)
    under_way = records.under_way
    elsewhere = _look_elsewhere(call, chain)
    if elsewhere.unread:
        return CageReads(is_known=True, wrapped_native=wrapped, unread=elsewhere.unread)
    preload_chain_facts(call, with_portfolio=True, hints=elsewhere.choose(tuple(records.positions)))
    try:
        held = _read_held(call, plan, chain, account, under_way, elsewhere)
        portfolio = _foresee(call, plan, chain, held, elsewhere=elsewhere)
        with_others = _foresee(call, plan, chain, held, under_way, elsewhere=elsewhere) if under_way else None
    except (PriceUnavailable, PriceStale) as error:
        return CageReads(is_known=True, wrapped_native=wrapped, price_missing=error)
    if call.records is not None:
        call.records.portfolio = portfolio
    fall = None
    if portfolio.is_complete:
        fall = record_value(
            golem_id=call.golem.pk,
            value_micro_usd=max(0, portfolio.total_before),
            most_bps=call.cage.max_drawdown_bps,
            now=call.now,
            known=records.mark,
            account=account,
        )
    return CageReads(
        is_known=True,
        wrapped_native=wrapped,
        portfolio=portfolio,
        fall=fall,
        with_others=with_others,
        failed=list_failures([held, *(each.holdings for each in elsewhere.looks)]),
    )


def measure_portfolio(call: HookCall, plan: TxPlan, chain: ChainReader, account: str) -> Portfolio:
    """What the golem holds and would hold after `plan`. Raises PriceUnavailable, PriceStale, what a node raises."""
    elsewhere = _look_elsewhere(call, chain)
    if elsewhere.unread:
        raise ChainNotCounted("; ".join(map(str, elsewhere.unread)))
    return _foresee(call, plan, chain, _read_held(call, plan, chain, account, (), elsewhere), elsewhere=elsewhere)


def _look_elsewhere(call: HookCall, chain: ChainReader) -> Elsewhere:
    return look_elsewhere(
        golem=call.view, own_chain_id=chain.chain_id, own=chain, now=call.now, own_permit_id=call.own_permit_id
    )


def _read_held(
    call: HookCall,
    plan: TxPlan,
    chain: ChainReader,
    account: str,
    under_way: Sequence[UnderWay],
    elsewhere: Elsewhere,
) -> Held:
    hints = elsewhere.choose(tuple(records_of(call).positions))
    return measure_holdings(chain=chain, account=account, tokens=list_moved(plan, under_way), hints=hints)


def _foresee(
    call: HookCall,
    plan: TxPlan,
    chain: ChainReader,
    held: Held,
    under_way: Sequence[UnderWay] = (),
    *,
    elsewhere: Elsewhere,
) -> Portfolio:
    portfolio = read_portfolio(
        chain=chain,
        account=call.view.address or "",
        base_asset=call.view.base_asset,
        plan=plan,
        enters_position=enters_position(call),
        position_id=str(call.params.get("position_id", "")),
        under_way=under_way,
        holdings=held,
    )
    return add_elsewhere(portfolio, [each.holdings for each in elsewhere.looks], chain=chain)


def judge_standing(call: HookCall) -> Reject | None:
    """The rules that need nothing but the golem itself."""
    phase = Phase(call.golem.phase)
    return (
        judge_halt(is_halted=call.golem.is_halted, reason=call.golem.halt_reason)
        or judge_phase(
            phase=phase,
            action_class=call.action_class,
            returns_to_golem=returns_to_golem(call),
            is_rescue=is_rescue(call.tool),
        )
        or judge_layer(phase=phase, layer=call.tool.risk_layer, action_class=call.action_class)
    )


def judge_rows(call: HookCall, rows: CageRows) -> Reject | None:
    """The rules that need rows of the past and no balance."""
    return (
        judge_profile(call, is_conservative=rows.is_conservative)
        or _judge_collateral(call)
        or _judge_range(call)
        or _judge_fall(call, rows.fall)
        or _judge_rebalances(call, rows.rebalances)
    )


def judge_holdings(call: HookCall, rows: CageRows, holdings: CageReads) -> Reject | None:
    """The rules over what the golem holds and would hold."""
    if not holdings.is_known:
        return Reject(
            rule="policy_cage.unknown",
            reason="there is no chain or no account to measure the portfolio on",
            observed="no chain or no account",
            limit="a portfolio that can be read",
            would_pass="the same action once the golem has a wallet on a chain this server reaches",
        )
    refusal = judge_approved(call, holdings.wrapped_native)
    if refusal is not None:
        return refusal
    if holdings.unread:
        first = holdings.unread[0]
        return Reject(
            rule="policy_cage.chain_not_counted",
            reason=f"what the golem holds on {name_chain(first.chain_id)} cannot be counted: {first.detail}",
            observed="; ".join(map(str, holdings.unread)),
            limit="every chain of the golem read",
            would_pass="the same action once the chain's node answers again, or a decrease or close now",
            error=ChainNotCounted,
            data={"recovery": Recovery.WAIT, "chain_id": first.chain_id, "cause": first.code},
        )
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
    fall = _judge_fall(call, holdings.fall or rows.fall)
    failed = _judge_failures(call, holdings)
    if failed is not None:
        return failed
    return _judge_assets(call, holdings.portfolio) or fall or _judge_shares(call, rows, holdings.portfolio)


def _judge_failures(call: HookCall, holdings: CageReads) -> Reject | None:
    """Nothing more is put where an issuer or a bridge failed what is there. The base asset may be bought."""
    if call.plan is None or holdings.portfolio is None or not holdings.failed:
        return None
    entered = set(depends_of_protocol(find_protocol(call.plan)))
    for token in (flow.token for flow in call.plan.receives if flow.token.address != holdings.portfolio.base_asset):
        entered |= depends_of_token(call.plan.chain_id, token.address)
    return judge_failures(failures=holdings.failed, entered=frozenset(entered))


RETRY_AFTER_SECONDS = 5
"""So long, at least, until what is under way has ended: a block or two, and the look at its receipt."""


def judge_with_others(call: HookCall, rows: CageRows, holdings: CageReads) -> Reject | None:
    """The same shares with what other permits are about to change: of two at once, not both pass one limit.

    The refusal names the permits it waits for. What was started later than this one is none of them.
    """
    if holdings.with_others is None:
        return None
    refusal = _judge_assets(call, holdings.with_others) or _judge_shares(call, rows, holdings.with_others)
    if refusal is None:
        return None
    return replace(
        refusal,
        reason=f"with what is under way already, {refusal.reason}",
        would_pass=f"{refusal.would_pass}; or this one, once the outcome of what is under way is seen",
        data={
            **refusal.data,
            "recovery": Recovery.WAIT,
            "retry_after_seconds": RETRY_AFTER_SECONDS,
            "waits_for": [each.permit_id for each in records_of(call).under_way],
        },
    )


def _judge_assets(call: HookCall, portfolio: Portfolio) -> Reject | None:
    if call.limits.allowlist_mode == AllowlistMode.STRICT:
        return None
    return judge_asset_count(count=portfolio.count_assets(), most=call.cage.max_assets)


def _judge_shares(call: HookCall, rows: CageRows, portfolio: Portfolio) -> Reject | None:
    total, most_bps = portfolio.total_before, call.cage.max_position_bps
    shares = (
        judge_share(
            share=share, symbol=portfolio.names.get(share.asset, share.asset), total_micro_usd=total, most_bps=most_bps
        )
        for share in portfolio.shares
    )
    return (
        _judge_gate(call, rows, portfolio)
        or judge_position(value_micro_usd=portfolio.position_after, total_micro_usd=total, most_bps=most_bps)
        or next((refusal for refusal in shares if refusal is not None), None)
        or _judge_foreseen_collateral(call, portfolio)
        or judge_concentration(portfolio=portfolio, most_bps=call.cage.max_concentration_bps)
        or judge_dependences(call, portfolio.depending, total_micro_usd=total)
    )


def judge_dependences(call: HookCall, depending: Iterable[Dependent], *, total_micro_usd: int) -> Reject | None:
    """Each issuer, bridge and oracle on which more depends than before keeps to the owner's share of its kind."""
    most = {
        DependenceKind.ISSUER: call.cage.max_issuer_bps,
        DependenceKind.BRIDGE: call.cage.max_bridge_bps,
        DependenceKind.ORACLE: call.cage.max_oracle_bps,
    }
    found = (
        judge_dependence(dependent=each, total_micro_usd=total_micro_usd, most_bps=share)
        for each in depending
        # The whole portfolio is no limit, though a loan may bring more than that to one place.
        if (share := most[DependenceKind(each.kind)]) < BPS
    )
    return next((refusal for refusal in found if refusal is not None), None)


def borrows(call: HookCall) -> bool:
    """Whether a call may leave a debt behind: a tool of layer 3 that lends or leverages, and leaves no position.

    What rebalances and speaks of no position, such as a loan within one transaction, may change none: hook 5 measures.
    """
    is_leverage = call.tool.risk_layer is RiskLayer.UNBOUNDED and call.tool.category in _BORROWING
    if call.plan is None or not is_leverage or call.action_class in LEAVING:
        return False
    return bool(call.plan.changes) or call.action_class is not ActionClass.REBALANCE


def _agree(call: HookCall) -> Allow:
    return Allow(note=f"{call.action_class.value.lower()} is allowed in {call.golem.phase.lower()}")


def _judge_fall(call: HookCall, fall: Fall) -> Reject | None:
    return judge_fall(fall=fall, action_class=call.action_class, most_bps=call.cage.max_drawdown_bps, now=call.now)


def _judge_collateral(call: HookCall) -> Reject | None:
    if call.plan is None or call.action_class in LEAVING:
        return None
    return judge_collateral(
        ratio_bps=call.plan.collateral_ratio_bps,
        least_bps=call.cage.min_collateral_ratio_bps,
        borrows=borrows(call),
    )


def _judge_range(call: HookCall) -> Reject | None:
    if call.plan is None or call.action_class in LEAVING:
        return None
    return judge_range(call.plan, least_ticks=call.cage.min_range_ticks)


def _judge_foreseen_collateral(call: HookCall, portfolio: Portfolio) -> Reject | None:
    """What the plan's own changes leave behind its debts, whatever ratio it states."""
    return judge_collateral(
        ratio_bps=portfolio.collateral_bps, least_bps=call.cage.min_collateral_ratio_bps, borrows=False
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


def judge_approved(call: HookCall, wrapped_native: str | None) -> Reject | None:
    if call.plan is None or call.limits.allowlist_mode != AllowlistMode.STRICT:
        return None
    approved = _approved_assets(call.allowlist, wrapped_native)
    listed = judge_asset_list(arriving=(flow.token for flow in call.plan.receives), approved=approved)
    # What stands for a position is no asset by itself: what lies in the position is.
    assets = approved - {NATIVE} - SHELF.claims_on(call.plan.chain_id)
    return listed or judge_asset_count(count=len(assets), most=call.cage.max_assets)


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
    if call.plan is None or call.tool.category in NO_POSITION:
        return False
    return bool(call.plan.spends) and all(each == call.view.address for each in list_recipients(call.plan))


def _approved_assets(allowlist: frozenset[tuple[str, str]], wrapped_native: str | None) -> frozenset[str]:
    approved = {address for kind, address in allowlist if kind == AllowlistKind.TOKEN}
    if wrapped_native in approved:
        approved.add(NATIVE)
    return frozenset(approved)
