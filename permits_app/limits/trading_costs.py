"""What trading costs a golem within 24 hours: fees, slippage and price impact together, by pair and by venue.

One small loss fits every other limit, and so does the next one. A trade costs what leaves less the least that comes
back, both at the feeds; once its outcome is known, what it really lost counts instead. Gas has a budget of its own.
Hook 3 asks the rule early; the ledger asks it again under the lock of the limits row, and only that answer counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol
from uuid import UUID

from permits_app.errors import TradingCostsExceeded
from permits_app.hook_rejection import Reject
from permits_app.limits.reserved_parts import SPEND
from permits_app.limits.valuation import PlanValue
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.errors import Recovery
from tools_app.core.prepared_statements import Filled, Prepared
from tools_app.core.units import BPS, format_micro_usd
from tools_app.portfolio.holdings import value_of
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan

_DAY: Final = timedelta(hours=24)
# Also a part of what the safety chain reads at once (`safety/load_call_records.py`); four columns, one row. What is
# held counts however old it is; a reversal takes off what it reverses.
COSTS_SQL: Final = """
SELECT COALESCE(SUM(cost_micro_usd), 0) AS total,
       COALESCE(SUM(cost_micro_usd) FILTER (WHERE pair = %(pair)s), 0) AS of_pair,
       COALESCE(SUM(cost_micro_usd) FILTER (WHERE venue = %(venue)s), 0) AS of_venue,
       MIN(counted_at) FILTER (WHERE counted_at > %(day_start)s AND state <> 'REVERSED') AS oldest
  FROM permits_app_spendentry
 WHERE state <> 'RELEASED' AND cost_micro_usd <> 0 AND permit_id IS DISTINCT FROM %(excluded)s AND id = ANY(ARRAY(
           SELECT id FROM permits_app_spendentry WHERE golem_id = %(golem)s AND state <> 'RELEASED'
              AND counted_at > %(day_start)s AND counted_at < 'infinity'
           UNION SELECT id FROM permits_app_spendentry WHERE golem_id = %(golem)s AND state = 'RESERVED'
       ))
"""
_COSTS: Final = Prepared("read_trading_costs", COSTS_SQL)


class CostCeilings(Protocol):
    """The columns of SpendingLimits this rule reads, in micro-USD per 24 hours."""

    trading_costs_per_day_micro_usd: int
    trading_costs_per_pair_micro_usd: int
    trading_costs_per_venue_micro_usd: int


@dataclass(frozen=True, slots=True)
class TradeCost:
    """The worst one trade may cost, in micro-USD. `pair` names its chain and tokens, `venue` where it trades."""

    micro_usd: int
    pair: str
    venue: str


@dataclass(frozen=True, slots=True)
class CostsUsed:
    """Micro-USD that trades cost or may still cost in the 24 hours that end now: all of them, those of one pair and
    those at one venue. The oldest of them is free again at `resets_at`.
    """

    day_micro_usd: int = 0
    pair_micro_usd: int = 0
    venue_micro_usd: int = 0
    resets_at: datetime | None = None


def is_trade(plan: TxPlan | None) -> bool:
    """Whether something leaves and something else comes back, the golem's own and no position."""
    return plan is not None and bool(plan.spends and plan.receives) and not plan.changes and not plan.principals


def measure_trade(*, plan: TxPlan | None, value: PlanValue, venue: str, chain: ChainReader | None) -> TradeCost | None:
    """The worst cost of `plan`; None where it is no trade, or there is no chain to ask for prices.

    `value` is what the plan can spend at worst. A token that comes back and has no feed is taken at what the plan says
    of slippage and price impact.
    """
    if plan is None or chain is None or not is_trade(plan):
        return None
    spent = sum(part.micro_usd for part in value.parts if part.role == SPEND)
    try:
        back = sum(value_of(flow.bound, flow.token, chain.price(flow.token)) for flow in plan.receives)
    except (PriceStale, PriceUnavailable):
        back = spent - spent * min(BPS, (plan.slippage_bps or 0) + (plan.price_impact_bps or 0)) // BPS
    return TradeCost(max(0, spent - back), name_pair(plan), venue)


def name_pair(plan: TxPlan) -> str:
    """`31337:0xA…/0xB…`, the tokens in order of their addresses; of more than two a digest."""
    tokens = sorted({flow.token.address for flow in (*plan.spends, *plan.receives)})
    if len(tokens) > 2:
        return f"{plan.chain_id}:{hashlib.sha256('/'.join(tokens).encode()).hexdigest()[:32]}"
    return f"{plan.chain_id}:{'/'.join(tokens)}"


def fill_costs(*, golem_id: UUID, trade: TradeCost, now: datetime, exclude_permit_id: UUID | None = None) -> Filled:
    """The statement that reads what is used up of the budgets that `trade` counts in."""
    return _COSTS.fill(
        golem=golem_id, pair=trade.pair, venue=trade.venue, excluded=exclude_permit_id, day_start=now - _DAY
    )


def read_costs(*, golem_id: UUID, now: datetime) -> CostsUsed:
    """What all trades of `golem_id` cost in the 24 hours that end `now`."""
    (row,) = fill_costs(golem_id=golem_id, trade=TradeCost(0, "", ""), now=now).fetch()
    used = read_cost_columns(row)
    return CostsUsed(day_micro_usd=used.day_micro_usd, resets_at=used.resets_at)


def read_cost_columns(row: Sequence[Any]) -> CostsUsed:  # Any: columns of SQL, typed by their place
    """The four columns of COSTS_SQL as a value."""
    total, of_pair, of_venue, oldest = row
    return CostsUsed(
        max(0, int(total)), max(0, int(of_pair)), max(0, int(of_venue)), oldest + _DAY if oldest is not None else None
    )


def judge_costs(*, limits: CostCeilings, used: CostsUsed, trade: TradeCost | None, is_held: bool) -> Reject | None:
    """The first budget that `trade` would exceed, or None when it fits all of them or costs nothing.

    `used` is without this trade. `is_held` is off for what only gets a golem out: it counts, and is refused by none.
    """
    if trade is None or not trade.micro_usd or not is_held:
        return None
    for rule, words, taken, most in (
        ("trading_costs_per_day", "", used.day_micro_usd, limits.trading_costs_per_day_micro_usd),
        ("trading_costs_per_pair", " for this pair", used.pair_micro_usd, limits.trading_costs_per_pair_micro_usd),
        (
            "trading_costs_per_venue",
            f" at {trade.venue}",
            used.venue_micro_usd,
            limits.trading_costs_per_venue_micro_usd,
        ),
    ):
        if taken + trade.micro_usd > most:
            return _refuse(rule, words, taken, most, trade.micro_usd, used.resets_at)
    return None


def _refuse(rule: str, words: str, taken: int, most: int, cost: int, resets_at: datetime | None) -> Reject:
    remaining = max(0, most - taken)
    worst, limit, left = map(format_micro_usd, (cost, most, remaining))
    recovery = Recovery.FIX_PARAMS if remaining else Recovery.WAIT if resets_at and most else Recovery.ASK_OWNER
    return Reject(
        rule=f"spending_limiter.{rule}",
        reason=f"fees, slippage and price impact of this trade could cost {worst}; trades may cost {limit} in 24 hours"
        f"{words}, and {left} of it remains",
        observed=worst,
        limit=limit,
        remaining=left,
        resets_at=resets_at.isoformat() if resets_at else "",
        would_pass=f"a trade that may cost at most {left}: a smaller amount or less slippage_bps"
        if remaining
        else "no trade that costs anything until some of the budget is free again; getting out always passes",
        error=TradingCostsExceeded,
        data={"recovery": recovery},
    )
