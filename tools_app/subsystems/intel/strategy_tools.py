"""The best range by drawn paths, and strategies on the past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from tools_app.core.units import usd_to_micro
from tools_app.portfolio.pool_history import InsufficientHistory
from tools_app.standards.concentrated import (
    ceil_to_spacing,
    floor_to_spacing,
)
from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.figure_basis import Basis, require, show, tell_basis
from tools_app.subsystems.intel.lp_maths import RangeStrategy, hourly_prices, hourly_volatility, replay
from tools_app.subsystems.intel.lp_snapshot import (
    as_float,
    as_ratio,
    dollars_in_token1,
    fees_a_second,
    find_pair,
    gas_in_token1,
    liquidity_of,
    price_text,
    tick_of,
    usd_of,
)
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Category, TickBudget
from tools_app.toolkit.markets import PoolNotFound
from tools_app.toolkit.params import ChainId, Days, FeeTier, MicroUsdText, Token, check_whole
from tools_app.toolkit.result import UsdAmount

LEAST_HOURS: Final = 24
WIDTHS: Final = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8)
TOLERANCES: Final = {"conservative": 0.95, "moderate": 0.8, "aggressive": 0.6}
_CANDIDATES: Final = 4
_PAST_HOURS: Final = 168
_SEED: Final = 20_260_401
_PATHS: Final = (
    "geometric Brownian motion without drift, an hour a step; volatility EWMA 0.94 of the pool's hourly prices; fees of"
    " the last days by the share of the pool's present liquidity while in range; nothing is rebalanced"
)
_REPLAY: Final = (
    "every trade of the window with the position beside the pool's present liquidity; a move costs gas and half a swap"
)
_READING: Final = "Reading the pool"
_TRADES: Final = "Reading trades"

Tolerance = Annotated[
    Literal["conservative", "moderate", "aggressive"],
    Field(description="How much of the time must be in range: 95, 80 or 60 percent."),
]
Simulations = Annotated[
    int, Field(ge=100, le=50_000, description="How many paths are drawn."), BeforeValidator(check_whole)
]
Widths = Annotated[
    list[Annotated[int, Field(ge=1, le=95, description="Percent by which the price may fall before it leaves.")]],
    Field(min_length=1, max_length=8, description="Widths in percent, at most 8."),
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One width. Rates are percent a year of what is put in; `in_range_probability` is the part of the drawn time."""

    label: str
    width_pct: str
    price_lower: str
    price_upper: str
    tick_lower: int
    tick_upper: int
    fee_apr: str
    il_pct: str
    net_apr: str
    in_range_probability: str


@dataclass(frozen=True, slots=True)
class BestRange:
    """The range with the best median of fees and loss among those that stay in range as much as was asked for.

    `is_within_tolerance` is false where none does: then it is the widest.
    """

    pool: str
    chain_id: int
    optimal_range: Candidate
    is_within_tolerance: bool
    candidate_ranges: tuple[Candidate, ...]
    hourly_volatility_pct: str
    simulations: int
    horizon_days: int
    basis: Basis


@intel.read(
    budget=TickBudget.SLOW,
    category=Category.LP,
    aliases=("uniswap_lp_optimize_range", "optimize_lp_range"),
    snippet=(
        "optimize_range: the width of a liquidity range with the best median of fees and loss over thousands of drawn"
        " price paths, with three others beside it."
    ),
    guidelines=("Volatility of the past is no promise: take a wider range when news is near.",),
)
def intel_optimize_range(
    ctx: ReadContext,
    token0: Token,
    token1: Token,
    amount_usd: MicroUsdText,
    chain_id: ChainId | None = None,
    fee: FeeTier | None = None,
    horizon_days: Days = 30,
    risk_tolerance: Tolerance = "moderate",
    simulations: Simulations = 5_000,
) -> BestRange:
    """Choose the width of a liquidity range by drawing price paths with the pool's own volatility.

    Use before opening a position. Without `fee` the pool of the pair with most in it is taken.
    Does not foresee a drift or news, and does not count what rebalancing would cost.
    """
    look = find_pair(ctx, chain_id, (token0, token1), fee)
    if not look.pool.is_concentrated:
        raise PoolNotFound("this pair has no pool with ranges", token0=look.pool.token0, token1=look.pool.token1)
    ctx.step(_READING)
    ctx.step(_TRADES)
    past = look.past(_PAST_HOURS)
    prices = hourly_prices(past.trades)
    volatility = hourly_volatility(prices)
    if len(prices) < LEAST_HOURS or volatility <= 0:
        raise InsufficientHistory(
            f"prices of {len(prices)} hours are known and the volatility takes {LEAST_HOURS} in which they move",
            known=len(prices),
            needed=LEAST_HOURS,
        )
    ctx.step("Drawing paths")
    # It takes a moment to load, and most processes never draw a path.
    from tools_app.subsystems.intel.range_paths import TriedWidth, try_widths

    start = as_float(look.pool.spot)
    tried = try_widths(
        start,
        WIDTHS,
        hourly_volatility=volatility,
        hours=horizon_days * 24,
        paths=simulations,
        fees_an_hour=fees_a_second(look, past) * 3_600,
        pool_liquidity=liquidity_of(look),
        amount=dollars_in_token1(look, usd_to_micro(amount_usd)),
        seed=_SEED,
    )
    spacing = look.markets.tick_spacing(look.reader, look.pool)

    def describe(label: str, each: TriedWidth) -> Candidate:
        ticks = (tick_of(each.place.low), tick_of(each.place.high))
        lower, upper = floor_to_spacing(ticks[0], spacing), ceil_to_spacing(ticks[1], spacing)
        year = 365 / horizon_days * 100
        return Candidate(
            label=label,
            width_pct=show(each.width * 100),
            price_lower=price_text(look, as_ratio(each.place.low)),
            price_upper=price_text(look, as_ratio(each.place.high)),
            tick_lower=lower,
            tick_upper=upper,
            fee_apr=show(each.fees * year),
            il_pct=show(each.il * 100),
            net_apr=show((each.fees + each.il) * year),
            in_range_probability=show(each.time_in_range),
        )

    fitting = [each for each in tried if each.time_in_range >= TOLERANCES[risk_tolerance]]
    best = max(fitting, key=lambda each: each.net_median) if fitting else tried[-1]
    others = sorted((each for each in tried if each is not best), key=lambda each: -each.net_median)
    chosen = sorted([best, *others[: _CANDIDATES - 1]], key=lambda each: each.width)
    names = ("narrow", "medium", "wide", "widest")
    return BestRange(
        pool=look.pool.id,
        chain_id=look.reader.chain_id,
        optimal_range=describe("optimal", best),
        is_within_tolerance=bool(fitting),
        candidate_ranges=tuple(describe(name, each) for name, each in zip(names, chosen, strict=True)),
        hourly_volatility_pct=show(volatility * 100),
        simulations=simulations,
        horizon_days=horizon_days,
        basis=tell_basis(_PATHS, past, sample=len(prices)),
    )


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """One strategy on the past. Percentages are of what was put in; `sharpe_ratio` is null for fewer than ten days."""

    strategy: str
    fees_earned_usd: UsdAmount
    il_loss_usd: UsdAmount
    rebalance_count: int
    rebalance_gas_usd: UsdAmount
    end_value_usd: UsdAmount
    net_return_pct: str
    vs_hodl_pct: str
    in_range_pct: str
    sharpe_ratio: str | None
    max_drawdown_pct: str


@dataclass(frozen=True, slots=True)
class Backtest:
    """Strategies on the same trades, the best first."""

    pool: str
    chain_id: int
    results: tuple[StrategyResult, ...]
    gas_price_known: bool
    basis: Basis


@intel.read(
    budget=TickBudget.SLOW,
    category=Category.LP,
    aliases=("uniswap_lp_backtest_strategy",),
    snippet=(
        "backtest_strategy: what ranges of several widths, kept or moved, would have earned in a pool on its real"
        " trades, with fees, gas and moves."
    ),
    guidelines=("A few days of one market prove little: read the sample and compare with holding.",),
)
def intel_backtest_strategy(
    ctx: ReadContext,
    token0: Token,
    token1: Token,
    amount_usd: MicroUsdText,
    chain_id: ChainId | None = None,
    fee: FeeTier | None = None,
    days: Days = 30,
    widths_pct: Widths | None = None,
    rebalance_threshold_pct: Annotated[
        int,
        Field(ge=0, le=50, description="Percent beyond its edge at which a range is moved."),
        BeforeValidator(check_whole),
    ] = 0,
) -> Backtest:
    """Replay liquidity strategies on the real trades of a pool.

    Use to compare widths and whether moving pays. Each width is replayed kept and moved; the default is two widths.
    Does not know how much liquidity the pool had then: its present one stands beside the position.
    """
    look = find_pair(ctx, chain_id, (token0, token1), fee)
    ctx.step(_READING)
    ctx.step(_TRADES)
    past = look.past(min(days, 30) * 24)
    require(past, 2)
    ctx.step("Replaying")
    amount = dollars_in_token1(look, usd_to_micro(amount_usd))
    gas = gas_in_token1(look)
    results = []
    for width in widths_pct or [10, 30]:
        for moves in (False, True):
            name = f"{width}% {'moved' if moves else 'kept'}"
            strategy = RangeStrategy(name, width / 100, moves, rebalance_threshold_pct / 100)
            found = replay(
                past.trades,
                strategy,
                amount=amount,
                fee=look.pool.fee,
                pool_liquidity=liquidity_of(look),
                gas=gas or 0.0,
            )
            results.append(
                StrategyResult(
                    strategy=name,
                    fees_earned_usd=usd_of(look, found.fees),
                    il_loss_usd=usd_of(look, found.il),
                    rebalance_count=found.rebalances,
                    rebalance_gas_usd=usd_of(look, found.gas),
                    end_value_usd=usd_of(look, found.end),
                    net_return_pct=show(100 * (found.end / amount - 1)),
                    vs_hodl_pct=show(100 * (found.end / found.held - 1)),
                    in_range_pct=show(100 * found.in_range),
                    sharpe_ratio=show(found.sharpe) if found.sharpe is not None else None,
                    max_drawdown_pct=show(100 * found.max_drawdown),
                )
            )
    results.sort(key=lambda each: -each.end_value_usd.micro)
    return Backtest(look.pool.id, look.reader.chain_id, tuple(results), gas is not None, tell_basis(_REPLAY, past))
