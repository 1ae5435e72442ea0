"""A golem's life in plain values: wishes that meet a policy through the hooks' own rules, and the rows that are left.

What the wishes find (holdings, prices) is given; what they leave behind (sums, writes, rebalances, the mark) is kept
here the way the ledger and the mark keep it, so that a replay can be held against having really lived the draft.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from permits_app.backtest.judge_past_decision import KeptValue, PolicyDraft
from permits_app.backtest.past_decisions import LimitClaim, PastDecision
from permits_app.hook_rejection import Reject
from permits_app.limits.trading_costs import CostsUsed, TradeCost, name_pair
from permits_app.limits.usage import Usage
from permits_app.models.spending import AllowlistMode
from permits_app.safety import hook_chain
from permits_app.safety.action_gate import GATE_WINDOW
from permits_app.safety.assets import RAISING, Portfolio
from permits_app.safety.call_records import Mark, PastCall, Records
from permits_app.safety.drawdown import fall_of, move_mark
from permits_app.safety.hook_chain import LoadedRules
from permits_app.safety.hook_inputs_json import decode_facts, encode_facts
from permits_app.safety.hooks.policy_cage import (
    CageReads,
    CageRows,
    judge_approved,
    judge_rows,
    judge_standing,
)
from permits_app.safety.hooks.rate_limiter import RateFacts
from permits_app.safety.hooks.spending_limiter import SpendFacts
from permits_app.safety.load_call_records import asks_predictions
from tests.evm.world import CHAIN_ID
from tests.permits_app.safety.calls import ACCOUNT, NOW, ROUTER, USDC, WBTC, WETH, plain_call
from tools_app.toolkit.enums import ActionClass, Phase
from tools_app.toolkit.plan import Call, TokenFlow, TxPlan

DAY, HOUR = timedelta(hours=24), timedelta(hours=1)
KEYS = (UUID(int=1), UUID(int=2))
OTHER_ROUTER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
LISTED = {
    f"{CHAIN_ID}:{kind}:{address}": ""
    for kind, address in (
        ("TOKEN", USDC.address),
        ("TOKEN", WETH.address),
        ("TOKEN", WBTC.address),
        ("CONTRACT", ROUTER),
        ("CONTRACT", OTHER_ROUTER),
    )
}
OPEN = {
    "limits": {
        "per_transaction_micro_usd": str(10**12),
        "per_tick_micro_usd": str(10**12),
        "per_session_micro_usd": str(10**12),
        "per_day_micro_usd": str(10**12),
        "hot_lane_micro_usd": str(10**12),
        "trading_costs_per_day_micro_usd": str(10**12),
        "trading_costs_per_pair_micro_usd": str(10**12),
        "trading_costs_per_venue_micro_usd": str(10**12),
        "writes_per_hour": "1000",
        "most_alike_calls": "20",
        "max_slippage_bps": "1000",
        "max_price_impact_bps": "1000",
        "allowlist_mode": str(AllowlistMode.STRICT),
    },
    "cage": {
        "max_assets": "10",
        "max_position_bps": "10000",
        "max_concentration_bps": "10000",
        "max_drawdown_bps": "5000",
        "min_rebalance_interval_seconds": "0",
        "max_rebalances_per_day": "1000",
        "min_collateral_ratio_bps": "10500",
        "is_action_gate_on": "False",
        "allows_arbitrary_calldata": "False",
    },
    "allowlist": LISTED,
}


def tighten(policy: Mapping[str, Any] = OPEN, **values: object) -> dict[str, Any]:
    """`policy` with columns changed, whichever row they are in."""
    return {
        **policy,
        **{
            row: {**policy[row], **{name: str(value) for name, value in values.items() if name in policy[row]}}
            for row in ("limits", "cage")
        },
    }


@dataclass(frozen=True, slots=True)
class Wish:
    """What a golem asks for, `after` the one before, and what it holds then: micro-USD of WETH and of USDC."""

    after: timedelta = timedelta(minutes=10)
    action_class: ActionClass = ActionClass.NEW_POSITION
    amount: int = 1_000_000
    cost: int = 5_000
    key: int = 0
    tick: int = 0
    slippage_bps: int = 50
    impact_bps: int = 10
    collateral_bps: int | None = None
    weth: int = 1_000_000
    usdc: int = 9_000_000
    position: int = 0
    router: str = ROUTER
    buys_wbtc: bool = False
    is_conservative: bool = False
    alike: int = 0
    phase: Phase = Phase.THRIVING

    @property
    def plan(self) -> TxPlan:
        return TxPlan(
            chain_id=CHAIN_ID,
            calls=(Call(to=self.router, data=b"\x01\x02\x03\x04", value=0, label="swap"),),
            spends=(TokenFlow(USDC, expected=self.amount, bound=self.amount),),
            receives=(TokenFlow(WBTC if self.buys_wbtc else WETH, expected=1, bound=1),),
            recipients=(ACCOUNT,),
            slippage_bps=self.slippage_bps,
            price_impact_bps=self.impact_bps,
            collateral_ratio_bps=self.collateral_bps,
        )

    @property
    def trade(self) -> TradeCost:
        return TradeCost(self.cost, name_pair(self.plan), "uniswap")

    @property
    def portfolio(self) -> Portfolio:
        moved = min(self.amount, self.usdc)
        arrives = WBTC.address if self.buys_wbtc else WETH.address
        before = {WETH.address: self.weth, USDC.address: self.usdc, WBTC.address: 0}
        after = {**before, USDC.address: self.usdc - moved}
        after[arrives] += moved
        return Portfolio(before, after, {WETH.address: "WETH"}, USDC.address, self.position)


@dataclass(slots=True)
class _Read:
    """A source of records that has read already."""

    known: Records | None
    portfolio: Portfolio | None
    trade: TradeCost | None

    def read(self) -> Records:
        assert self.known is not None
        return self.known


class Life:
    """One golem under one policy."""

    def __init__(self, policy: Mapping[str, Any], *, predictions: Sequence[bool] = ()) -> None:
        self.draft = PolicyDraft(policy)
        self.predictions = predictions
        self.decisions: list[PastDecision] = []
        self.mark: Mark | None = None

    def live(self, wishes: Sequence[Wish]) -> list[str]:
        """The rule that refused each wish, empty where none did."""
        now = self.decisions[-1].at if self.decisions else NOW
        for wish in wishes:
            now += wish.after
            self.decisions.append(self._decide(wish, now))
        return [past.rule for past in self.decisions]

    def _decide(self, wish: Wish, now: datetime) -> PastDecision:
        draft, portfolio = self.draft, wish.portfolio
        call = plain_call(
            wish.plan,
            action_class=wish.action_class,
            limits=draft.limits,
            cage=draft.cage,
            allowlist=draft.allowlist_on(CHAIN_ID),
            api_key_id=KEYS[wish.key],
            now=now,
        )
        call = replace(call, alike_hash="0xa")
        call.golem.phase, call.golem.heartbeat_tick = str(wish.phase), wish.tick
        call = replace(call, value=KeptValue(kept_micro_usd=wish.amount))
        is_rebalance = wish.action_class is ActionClass.REBALANCE
        records = Records(
            usage=self._usage(wish, now),
            costs=self._costs(wish, now),
            mark=self.mark,
            is_conservative=wish.is_conservative,
            rebalances=self._rebalances(now) if is_rebalance else (),
            predictions=self.predictions[:GATE_WINDOW] if asks_predictions(call) else (),
            earlier=tuple(PastCall("swap", str(number), now, "0xa") for number in range(wish.alike)),
        )
        rows = CageRows(fall_of(records.mark), records.rebalances, records.predictions, records.is_conservative)
        is_held = wish.action_class in RAISING
        asks = is_held and (judge_standing(call) or judge_rows(call, rows) or judge_approved(call, None)) is None
        before, fall = self.mark, None
        if asks:
            self.mark = move_mark(
                mark=before or Mark(portfolio.total_before, now),
                value_micro_usd=portfolio.total_before,
                most_bps=draft.cage.max_drawdown_bps,
                now=now,
            )
            fall = fall_of(self.mark)
        verdict = hook_chain.decide(
            call,
            LoadedRules(
                rows=rows,
                holdings=CageReads(is_known=True, portfolio=portfolio if is_held else None, fall=fall),
                spend=SpendFacts(prices={}, usage=records.usage, trade=wish.trade, costs=records.costs),
                rate=RateFacts(
                    usage=records.usage,
                    cap=20 if wish.is_conservative else None,
                    is_venue_tried=False,
                    alike=(now,) * wish.alike,
                ),
            ),
        )
        facts = encode_facts(replace(call, records=_Read(records, portfolio if is_held else None, wish.trade)))
        kept = json.loads(json.dumps(facts))
        return PastDecision(
            id=len(self.decisions),
            at=now,
            tool_name=call.tool.name,
            action_type="swap",
            venue="uniswap",
            action_class=wish.action_class,
            key_id=KEYS[wish.key],
            account=ACCOUNT,
            plan=wish.plan,
            value_micro_usd=wish.amount,
            rule=verdict.rule if isinstance(verdict, Reject) else "",
            claim=LimitClaim(wish.amount),
            facts=decode_facts(kept, at=now),
            rebalanced_at=frozenset({now}),
        )

    def _usage(self, wish: Wish, now: datetime) -> Usage:
        held = [past for past in self.decisions if past.is_allowed]
        return Usage(
            tick_micro_usd=sum(
                past.value_micro_usd
                for past in held
                if wish.tick and past.facts is not None and past.facts.tick == wish.tick
            ),
            session_micro_usd=sum(past.value_micro_usd for past in held if past.key_id == KEYS[wish.key]),
            day_micro_usd=sum(past.value_micro_usd for past in held if _counts(past) and past.at > now - DAY),
            writes_last_hour=sum(past.at > now - HOUR for past in held),
        )

    def _costs(self, wish: Wish, now: datetime) -> CostsUsed:
        held = [past.facts.trade for past in self.decisions if past.is_allowed and past.facts and past.at > now - DAY]
        trades = [trade for trade in held if trade is not None]
        return CostsUsed(
            sum(trade.micro_usd for trade in trades),
            sum(trade.micro_usd for trade in trades if trade.pair == wish.trade.pair),
            sum(trade.micro_usd for trade in trades if trade.venue == wish.trade.venue),
        )

    def _rebalances(self, now: datetime) -> tuple[datetime, ...]:
        return tuple(
            past.at
            for past in self.decisions
            if past.is_allowed and past.action_class is ActionClass.REBALANCE and past.at > now - DAY
        )


def _counts(past: PastDecision) -> bool:
    return past.action_class not in (ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION)
