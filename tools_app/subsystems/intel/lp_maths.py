"""Liquidity in a range over time: what a unit of it is worth, volatility, and a past replayed trade by trade. Pure.

Prices are token1 per token0 in base units, amounts base units of token1. Computed with floats: these are estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import fmean, pstdev

from tools_app.portfolio.pool_history import Trade
from tools_app.toolkit.markets import FEE_DENOMINATOR

HOUR_SECONDS = 3_600
DECAY = 0.94


@dataclass(frozen=True, slots=True)
class PriceRange:
    """Between two prices."""

    low: float
    high: float

    def holds(self, price: float) -> bool:
        """Whether liquidity earns at this price."""
        return self.low <= price < self.high

    def worth(self, price: float) -> float:
        """One unit of liquidity in base units of token1."""
        root = min(max(sqrt(price), sqrt(self.low)), sqrt(self.high))
        return price * (1 / root - 1 / sqrt(self.high)) + root - sqrt(self.low)

    def hold_worth(self, start: float, price: float) -> float:
        """What was put in at `start` for one unit, held apart, at another price."""
        root = min(max(sqrt(start), sqrt(self.low)), sqrt(self.high))
        return price * (1 / root - 1 / sqrt(self.high)) + root - sqrt(self.low)


def range_around(price: float, width: float) -> PriceRange:
    """`width` is the part by which the price may fall; it may rise by the same factor."""
    return PriceRange(price * (1 - width), price / (1 - width))


def hourly_prices(trades: Sequence[Trade]) -> list[float]:
    """The last price of each hour from the first trade on; an hour without a trade has that of the hour before."""
    found: list[float] = []
    for each in trades:
        hour = (each.time - trades[0].time) // HOUR_SECONDS
        price = each.price.numerator / each.price.denominator
        while len(found) <= hour:
            found.append(found[-1] if found else price)
        found[hour] = price
    return found


def hourly_volatility(prices: Sequence[float]) -> float:
    """EWMA (0.94) of squared log returns of an hour, as a standard deviation."""
    variance: float | None = None
    for before, after in zip(prices, prices[1:], strict=False):
        squared = log(after / before) ** 2
        variance = squared if variance is None else DECAY * variance + (1 - DECAY) * squared
    return sqrt(variance or 0.0)


@dataclass(frozen=True, slots=True)
class StrategyReplay:
    """What one strategy would have come to. Amounts are base units of token1; shares are parts of one."""

    fees: float
    il: float
    rebalances: int
    gas: float
    end: float
    held: float
    in_range: float
    sharpe: float | None
    max_drawdown: float


@dataclass(frozen=True, slots=True)
class RangeStrategy:
    """A range around the price at the start; one that rebalances moves it once the price left it by `threshold`."""

    name: str
    width: float
    rebalances: bool
    threshold: float = 0.0


def replay(
    trades: Sequence[Trade],
    strategy: RangeStrategy,
    *,
    amount: float,
    fee: int,
    pool_liquidity: float,
    gas: float,
) -> StrategyReplay:
    """Every trade of a past with the position in the pool: its share of each fee while in range, and its moves.

    The pool's liquidity is taken as it is now, beside the position's. A move costs `gas` and, so that it is not free of
    the price of swapping, half of the fee of the pool on half of what is there.
    """
    start = trades[0].price.numerator / trades[0].price.denominator
    place = range_around(start, strategy.width)
    liquidity = amount / place.worth(start)
    first = place
    first_liquidity = liquidity
    fees = paid_gas = 0.0
    moves = inside = 0
    values: dict[int, float] = {}
    price = start
    for each in trades:
        before, price = price, each.price.numerator / each.price.denominator
        if place.holds(before) and place.holds(price):
            inside += 1
        if place.holds(price):
            volume = each.in1 + each.in0 * price
            fees += volume * fee / FEE_DENOMINATOR * liquidity / (liquidity + pool_liquidity)
        elif strategy.rebalances and _is_beyond(place, price, strategy.threshold):
            worth = liquidity * place.worth(price)
            cost = gas + worth / 2 * fee / FEE_DENOMINATOR / 2
            if worth > cost:
                place = range_around(price, strategy.width)
                liquidity = (worth - cost) / place.worth(price)
                paid_gas += cost
                moves += 1
        values[(each.time - trades[0].time) // 86_400] = liquidity * place.worth(price) + fees
    end = liquidity * place.worth(price) + fees
    held = first_liquidity * first.hold_worth(start, price)
    course = [amount, *values.values()]
    return StrategyReplay(
        fees=fees,
        il=liquidity * place.worth(price) + paid_gas - held,
        rebalances=moves,
        gas=paid_gas,
        end=end,
        held=held,
        in_range=inside / len(trades),
        sharpe=_sharpe(course),
        max_drawdown=_drawdown(course),
    )


def _is_beyond(place: PriceRange, price: float, threshold: float) -> bool:
    return price < place.low * (1 - threshold) or price >= place.high * (1 + threshold)


def _sharpe(course: Sequence[float]) -> float | None:
    """Mean over deviation of daily returns, by the root of a year's days; None for fewer than ten days."""
    returns = [after / before - 1 for before, after in zip(course, course[1:], strict=False) if before > 0]
    spread = pstdev(returns) if len(returns) >= 10 else 0.0
    return fmean(returns) / spread * sqrt(365) if spread > 0 else None


def _drawdown(course: Sequence[float]) -> float:
    top, worst = 0.0, 0.0
    for value in course:
        top = max(top, value)
        worst = max(worst, 1 - value / top if top > 0 else 0.0)
    return worst
