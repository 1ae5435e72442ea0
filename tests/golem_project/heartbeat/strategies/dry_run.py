"""Runs strategies over a course of prices without a chain: what they would have traded, and what made the end. Pure.

Trades are done at the price with a stated cost; debts and gas are left out. What the wallet is worth at the end is what
it was worth at first, and what prices did, less what trading cost, to the micro-dollar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from golem_project.heartbeat.liquidity_plan import RuleWish
from golem_project.heartbeat.observation import ObservedToken
from golem_project.heartbeat.strategies.catalog import plan_strategies
from golem_project.heartbeat.strategies.strategy import RuleStrategy, Sight
from tools_app.core.units import BPS
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.views import FeedPrice, TokenMeta

COST_BPS: Final = 30
"""What a trade is taken to cost of what it sells: fee, slippage and price impact."""
MOST_ACTIONS: Final = 8
"""Of one tick, as the heartbeat's own bound is set."""
_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class PricesAt:
    """Micro-USD of one whole token by symbol, at a moment."""

    at: datetime
    micro_usd: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DryTrade:
    """One trade: symbols, base units, and what it cost in micro-USD."""

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
    """What came of it. `values` are what the wallet was worth after each tick, in micro-USD."""

    start_micro_usd: int
    market_micro_usd: int
    costs_micro_usd: int
    values: tuple[tuple[datetime, int], ...]
    trades: tuple[DryTrade, ...]
    held: Mapping[str, int]

    @property
    def end_micro_usd(self) -> int:
        """What it was worth after the last tick."""
        return self.values[-1][1] if self.values else self.start_micro_usd

    @property
    def adds_up(self) -> bool:
        """Whether the parts make the end."""
        return self.end_micro_usd == self.start_micro_usd + self.market_micro_usd - self.costs_micro_usd


def run_dry(
    *,
    strategies: Sequence[RuleStrategy],
    prices: Sequence[PricesAt],
    tokens: Sequence[TokenMeta],
    wallet: Mapping[str, int],
    cost_bps: int = COST_BPS,
) -> DryRun:
    """Tick once at each of `prices`. `wallet` is base units by symbol."""
    held = {each.symbol: wallet.get(each.symbol, 0) for each in tokens}
    done: dict[str, datetime] = {}
    trades: list[DryTrade] = []
    values: list[tuple[datetime, int]] = []
    start = market = costs = 0
    for number, point in enumerate(prices):
        before = _weigh(_observe(tokens, held, point))
        if number:
            market += before - values[-1][1]
        else:
            start = before
        for _ in range(MOST_ACTIONS):
            sight = Sight(
                now=point.at, account="", phase=Phase.THRIVING, tokens=_observe(tokens, held, point), last_done=done
            )
            wish = next(iter(plan_strategies(strategies, sight)), None)
            trade = _trade(wish, sight, held, cost_bps) if wish is not None else None
            if trade is None:
                break
            done = {**done, trade.key: point.at}
            trades.append(trade)
            costs += trade.cost_micro_usd
        values.append((point.at, _weigh(_observe(tokens, held, point))))
    return DryRun(start, market, costs, tuple(values), tuple(trades), held)


def _trade(wish: RuleWish, sight: Sight, held: dict[str, int], cost_bps: int) -> DryTrade | None:
    """Carry a swap out in `held`; None for what is no swap, or brings nothing."""
    sold, bought = (sight.token(str(wish.params.get(name, ""))) for name in ("token_in", "token_out"))
    if sold is None or bought is None:
        return None
    raw = int(wish.params["amount"])
    given = replace(sold, raw=raw).micro_usd or 0
    raw_bought = bought.raw_worth(given * (BPS - cost_bps) // BPS) or 0
    if not 0 < raw <= held[sold.token.symbol] or not raw_bought:
        return None
    before = _weigh(sight.tokens)
    held[sold.token.symbol] -= raw
    held[bought.token.symbol] += raw_bought
    after = _weigh(tuple(replace(each, raw=held[each.token.symbol]) for each in sight.tokens))
    return DryTrade(
        at=sight.now,
        key=wish.key,
        sold=sold.token.symbol,
        bought=bought.token.symbol,
        raw_sold=raw,
        raw_bought=raw_bought,
        cost_micro_usd=before - after,
        reason=wish.reason,
    )


def _observe(tokens: Sequence[TokenMeta], held: Mapping[str, int], point: PricesAt) -> tuple[ObservedToken, ...]:
    return tuple(
        ObservedToken(each, held[each.symbol], FeedPrice("", point.micro_usd[each.symbol], _DECIMALS, 0, 0, 0))
        for each in tokens
    )


def _weigh(tokens: Sequence[ObservedToken]) -> int:
    return sum(each.micro_usd or 0 for each in tokens)
