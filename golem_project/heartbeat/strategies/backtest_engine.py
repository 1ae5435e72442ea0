"""Runs strategies over a course of prices without a chain: what they would have traded, and what made the end. Pure.

Trades are done at the price with a stated cost, and gas at what it costs now. What the account is worth at the end is
what it was worth at first, and what prices did and places paid, less what trading and gas cost, to the micro-dollar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from golem_project.heartbeat.liquidity_plan import RuleWish, plan_liquidity
from golem_project.heartbeat.liquidity_rule import LiquidityRule
from golem_project.heartbeat.strategies.backtest_account import DryAccount
from golem_project.heartbeat.strategies.backtest_market import DryLoan, PricesAt
from golem_project.heartbeat.strategies.catalog import (
    find_rotation,
    leave_out_stopped,
    list_stopped,
    order_by_risk,
    plan_strategies,
)
from golem_project.heartbeat.strategies.strategy import RuleStrategy, Sight
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.views import TokenMeta
from tools_app.toolkit.yields import YieldOffer

COST_BPS: Final = 30
"""What a trade is taken to cost of what it sells: fee, slippage and price impact."""
MOST_ACTIONS: Final = 8
"""Of one tick, as the heartbeat's own bound is set."""


@dataclass(frozen=True, slots=True)
class DryTrade:
    """One action: what was given and got, by name and in base units, and what it cost in micro-USD with its gas."""

    at: datetime
    key: str
    sold: str
    bought: str
    raw_sold: int
    raw_bought: int
    cost_micro_usd: int
    reason: str


@dataclass(frozen=True, slots=True)
class DryRun:
    """What came of it. `values` are what the account was worth after each tick, in micro-USD, and `untouched` what it
    would have been worth had nobody acted. `liquidated` names loans whose cover fell under their debt, and when first.
    """

    start_micro_usd: int
    market_micro_usd: int
    earned_micro_usd: int
    costs_micro_usd: int
    values: tuple[tuple[datetime, int], ...]
    untouched: tuple[tuple[datetime, int], ...]
    trades: tuple[DryTrade, ...]
    held: Mapping[str, int]
    liquidated: Mapping[str, datetime]

    @property
    def end_micro_usd(self) -> int:
        """What it was worth after the last tick."""
        return self.values[-1][1] if self.values else self.start_micro_usd

    @property
    def untouched_micro_usd(self) -> int:
        """What it would have been worth then had nobody acted."""
        return self.untouched[-1][1] if self.untouched else self.start_micro_usd

    @property
    def adds_up(self) -> bool:
        """Whether the parts make the end."""
        parts = self.start_micro_usd + self.market_micro_usd + self.earned_micro_usd - self.costs_micro_usd
        return self.end_micro_usd == parts


def run_dry(
    *,
    strategies: Sequence[RuleStrategy],
    prices: Sequence[PricesAt],
    tokens: Sequence[TokenMeta],
    wallet: Mapping[str, int],
    rule: LiquidityRule | None = None,
    loans: Sequence[DryLoan] = (),
    offers: Sequence[YieldOffer] = (),
    lent: Mapping[tuple[str, str], int] | None = None,
    gas_wei: int = 0,
    cost_bps: int = COST_BPS,
) -> DryRun:
    """Tick once at each of `prices`. `wallet` is base units by symbol, `lent` by protocol and place."""
    account = DryAccount(
        tokens=tokens,
        held={each.symbol: wallet.get(each.symbol, 0) for each in tokens},
        rotation=find_rotation(strategies),
        offers=offers,
        lent=dict(lent or {}),
        loans=[DryLoan(each.held, each.legs) for each in loans],
        rule=rule,
        gas_wei=gas_wei,
        cost_bps=cost_bps,
    )
    beside = deepcopy(account)
    done: dict[str, datetime] = {}
    trades: list[DryTrade] = []
    values: list[tuple[datetime, int]] = []
    untouched: list[tuple[datetime, int]] = []
    liquidated: dict[str, datetime] = {}
    start = market = earned = costs = 0
    for number, point in enumerate(prices):
        if number:
            paid = account.pass_time(prices[number - 1], point)
            beside.pass_time(prices[number - 1], point)
            earned += paid
            market += account.worth(point) - paid - values[-1][1]
        else:
            start = account.worth(point)
        for label in account.list_liquidated(point):
            liquidated.setdefault(label, point.at)
        for _ in range(MOST_ACTIONS):
            trade = _act(account, strategies, point, done)
            if trade is None:
                break
            done = {**done, trade.key: point.at}
            trades.append(trade)
            costs += trade.cost_micro_usd
        values.append((point.at, account.worth(point)))
        untouched.append((point.at, beside.worth(point)))
    return DryRun(
        start, market, earned, costs, tuple(values), tuple(untouched), tuple(trades), account.held, liquidated
    )


def _act(
    account: DryAccount, strategies: Sequence[RuleStrategy], point: PricesAt, done: Mapping[str, datetime]
) -> DryTrade | None:
    """The first wish that can be carried out."""
    sight = account.look(point, done)
    for wish in _list_wishes(account, strategies, sight, point):
        before = account.worth(point)
        told = account.carry_out(wish, sight, point)
        if told is not None:
            sold, raw_sold, bought, raw_bought = told
            cost = before - account.worth(point)
            return DryTrade(point.at, wish.key, sold, bought, raw_sold, raw_bought, cost, wish.reason)
    return None


def _list_wishes(
    account: DryAccount, strategies: Sequence[RuleStrategy], sight: Sight, point: PricesAt
) -> tuple[RuleWish, ...]:
    """Those of the strategies and of the rule of liquidity, by risk, as a tick lists them."""
    wishes = plan_strategies(strategies, sight)
    if account.rule is None:
        return wishes
    of_rule = plan_liquidity(observation=account.observe(point), rule=account.rule, phase=Phase.THRIVING)
    return order_by_risk((*wishes, *leave_out_stopped(of_rule, list_stopped(strategies, sight))))
