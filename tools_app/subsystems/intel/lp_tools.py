"""Liquidity before it is provided: loss at a price, scenarios, the best range, and strategies on the past."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, log
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from tools_app.chain.feeds import PriceUnavailable
from tools_app.core.errors import InvalidParams
from tools_app.core.ratio import Ratio, ratio_text
from tools_app.core.units import usd_to_micro
from tools_app.portfolio.markets import markets_on
from tools_app.portfolio.pool_history import InsufficientHistory, PoolPast
from tools_app.standards.concentrated import (
    MAX_POOL_TICK,
    MIN_POOL_TICK,
    ceil_to_spacing,
    floor_to_spacing,
    sqrt_price_of_ratio,
    tick_at_sqrt_price,
)
from tools_app.subsystems.intel.basis import Basis, Multiple, require, show, tell_basis, tell_state
from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.looking import Look, look_at
from tools_app.subsystems.intel.lp_maths import Range, Strategy, hourly_prices, hourly_volatility, replay
from tools_app.subsystems.intel.range_maths import change_in_range
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Category, TickBudget
from tools_app.toolkit.markets import FEE_DENOMINATOR, PoolNotFound
from tools_app.toolkit.params import ChainId, Days, FeeTier, MicroUsdText, PoolAddress, PoolTick, Token, check_whole
from tools_app.toolkit.result import UsdAmount

LEAST_HOURS: Final = 24
WIDTHS: Final = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8)
TOLERANCES: Final = {"conservative": 0.95, "moderate": 0.8, "aggressive": 0.6}
_CANDIDATES: Final = 4
_GAS_OF_A_MOVE: Final = 520_000
_PAST_HOURS: Final = 168
_SEED: Final = 20_260_401
_MULTIPLES: Final = {"bull": 1.5, "sideways": 1.0, "bear": 0.67}
_IL: Final = (
    "value of the range at the new price over that of holding what was put in, less one; exact integers, fees apart"
)
_PATHS: Final = (
    "geometric Brownian motion without drift, an hour a step; volatility EWMA 0.94 of the pool's hourly prices; fees of"
    " the last days by the share of the pool's present liquidity while in range; nothing is rebalanced"
)
_REPLAY: Final = (
    "every trade of the window with the position beside the pool's present liquidity; a move costs gas and half a swap"
)
_STATE: Final = "the pool's state at this block"
_READING: Final = "Reading the pool"
_TRADES: Final = "Reading trades"

Scenario = Annotated[
    Literal["bull", "sideways", "bear"],
    Field(description="The price ends at 1.5 times, the same, or 0.67 times of now, on an even way."),
]
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
class ImpermanentLoss:
    """What a range loses to holding when the price changes, fees apart; `il_usd` needs a position's size."""

    pool: str
    chain_id: int
    price_now: str
    price_then: str
    il_pct: str
    il_usd: UsdAmount | None
    is_in_range_then: bool
    basis: Basis


@intel.read(
    query="impermanent_loss",
    budget=TickBudget.FAST,
    steps=(_READING,),
    category=Category.LP,
    snippet=(
        "impermanent_loss: what a range, or a pool without ranges, loses against holding when its price goes to a"
        " multiple of now; exact, fees apart."
    ),
    guidelines=("Loss grows with a narrower range: hold it against the fees before you provide.",),
)
def intel_calculate_il(
    ctx: ReadContext,
    pool: PoolAddress,
    price_change: Multiple,
    tick_lower: PoolTick | None = None,
    tick_upper: PoolTick | None = None,
    chain_id: ChainId | None = None,
    position_size_usd: MicroUsdText | None = None,
) -> ImpermanentLoss:
    """Compute the impermanent loss of a range in a pool for a change of its price.

    Use before opening a position. Without ticks the whole range is meant, as in a pool of reserves.
    Does not count fees and does not say how likely the price is.
    """
    look = look_at(ctx, chain_id, pool)
    ctx.step(_READING)
    lower, upper = _ticks(look, tick_lower, tick_upper)
    multiple, root = Fraction(price_change), _root(look)
    try:
        change = change_in_range(root, multiple, lower, upper)
    except ValueError as error:
        raise InvalidParams(str(error)) from None
    size = usd_to_micro(position_size_usd) if position_size_usd is not None else None
    spot = look.pool.spot
    then = Ratio(spot.numerator * multiple.numerator, spot.denominator * multiple.denominator)
    tick_then = tick_at_sqrt_price(sqrt_price_of_ratio(then.numerator, then.denominator))
    return ImpermanentLoss(
        pool=look.pool.address,
        chain_id=look.reader.chain_id,
        price_now=_text(look, spot),
        price_then=_text(look, then),
        il_pct=show(float(change.il * 100)),
        il_usd=UsdAmount(int((change.ranged - change.held) * size)) if size is not None else None,
        is_in_range_then=lower <= tick_then < upper,
        basis=tell_state(_IL, _STATE, look.at),
    )


@dataclass(frozen=True, slots=True)
class DayProjection:
    """One day of a scenario, from its beginning on."""

    day: int
    price_multiple: str
    fees_usd: UsdAmount
    il_usd: UsdAmount
    is_in_range: bool


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """What a position would come to on one named way of the price, with fees as of the last days. No forecast."""

    pool: str
    chain_id: int
    scenario: str
    projected_fees_usd: UsdAmount
    projected_il_usd: UsdAmount
    projected_net_pnl_usd: UsdAmount
    time_in_range_pct: str
    daily_projections: tuple[DayProjection, ...]
    basis: Basis


@intel.read(
    query="pool_scenario",
    budget=TickBudget.MEDIUM,
    steps=(_READING, _TRADES),
    category=Category.LP,
    snippet=(
        "pool_scenario: what a position in a range would earn and lose day by day if the price rose by half, stayed or"
        " fell by a third, with present fees."
    ),
    guidelines=("Look at all three scenarios: one of them is no forecast.",),
)
def intel_simulate_pool_scenario(
    ctx: ReadContext,
    pool: PoolAddress,
    scenario: Scenario,
    tick_lower: PoolTick,
    tick_upper: PoolTick,
    position_size_usd: MicroUsdText,
    chain_id: ChainId | None = None,
    duration_days: Days = 30,
) -> ScenarioResult:
    """Project fees and loss of a position on one named way of the price.

    Use to see what a range does when the price rises, stays or falls. Fees are those of the last seven days.
    Does not say which way the price goes, and does not rebalance.
    """
    look = look_at(ctx, chain_id, pool)
    ctx.step(_READING)
    lower, upper = _ticks(look, tick_lower, tick_upper)
    ctx.step(_TRADES)
    past = look.past(_PAST_HOURS)
    require(past, 1)
    start = _float(look.pool.spot)
    place = Range(exp(lower * log(1.0001)), exp(upper * log(1.0001)))
    amount = _amount1(look, usd_to_micro(position_size_usd))
    worth = place.worth(start)
    if worth <= 0:
        raise InvalidParams("the range holds nothing at this price")
    liquidity = amount / worth
    daily = _fees_a_second(look, past) * 86_400 * liquidity / (liquidity + _pool_liquidity(look))
    rows, fees, inside = [], 0.0, 0
    for day in range(1, duration_days + 1):
        multiple = exp(log(_MULTIPLES[scenario]) * day / duration_days)
        price = start * multiple
        is_inside = place.holds(price)
        inside += is_inside
        fees += daily if is_inside else 0.0
        il = liquidity * (place.worth(price) - place.hold_worth(start, price))
        rows.append(DayProjection(day, show(multiple), _usd(look, fees), _usd(look, il), is_inside))
    end = start * _MULTIPLES[scenario]
    return ScenarioResult(
        pool=look.pool.address,
        chain_id=look.reader.chain_id,
        scenario=scenario,
        projected_fees_usd=rows[-1].fees_usd,
        projected_il_usd=rows[-1].il_usd,
        projected_net_pnl_usd=_usd(look, fees + liquidity * (place.worth(end) - worth)),
        time_in_range_pct=show(100 * inside / duration_days),
        daily_projections=tuple(rows),
        basis=tell_basis(f"fees as of these days; {_IL}", past),
    )


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
    query="optimize_range",
    budget=TickBudget.SLOW,
    steps=(_READING, _TRADES, "Drawing paths"),
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
    look = _find(ctx, chain_id, (token0, token1), fee)
    if look.pool.version != "v3":
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
    from tools_app.subsystems.intel.range_paths import Tried, try_widths

    start = _float(look.pool.spot)
    tried = try_widths(
        start,
        WIDTHS,
        hourly_volatility=volatility,
        hours=horizon_days * 24,
        paths=simulations,
        fees_an_hour=_fees_a_second(look, past) * 3_600,
        pool_liquidity=_pool_liquidity(look),
        amount=_amount1(look, usd_to_micro(amount_usd)),
        seed=_SEED,
    )
    spacing = look.markets.tick_spacing(look.reader, look.pool)

    def describe(label: str, each: Tried) -> Candidate:
        ticks = (_tick(each.place.low), _tick(each.place.high))
        lower, upper = floor_to_spacing(ticks[0], spacing), ceil_to_spacing(ticks[1], spacing)
        year = 365 / horizon_days * 100
        return Candidate(
            label=label,
            width_pct=show(each.width * 100),
            price_lower=_text(look, _ratio(each.place.low)),
            price_upper=_text(look, _ratio(each.place.high)),
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
        pool=look.pool.address,
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
    query="backtest_strategy",
    budget=TickBudget.SLOW,
    steps=(_READING, _TRADES, "Replaying"),
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
    look = _find(ctx, chain_id, (token0, token1), fee)
    ctx.step(_READING)
    ctx.step(_TRADES)
    past = look.past(min(days, 30) * 24)
    require(past, 2)
    ctx.step("Replaying")
    amount = _amount1(look, usd_to_micro(amount_usd))
    gas = _gas1(look)
    results = []
    for width in widths_pct or [10, 30]:
        for moves in (False, True):
            name = f"{width}% {'moved' if moves else 'kept'}"
            strategy = Strategy(name, width / 100, moves, rebalance_threshold_pct / 100)
            found = replay(
                past.trades,
                strategy,
                amount=amount,
                fee=look.pool.fee,
                pool_liquidity=_pool_liquidity(look),
                gas=gas or 0.0,
            )
            results.append(
                StrategyResult(
                    strategy=name,
                    fees_earned_usd=_usd(look, found.fees),
                    il_loss_usd=_usd(look, found.il),
                    rebalance_count=found.rebalances,
                    rebalance_gas_usd=_usd(look, found.gas),
                    end_value_usd=_usd(look, found.end),
                    net_return_pct=show(100 * (found.end / amount - 1)),
                    vs_hodl_pct=show(100 * (found.end / found.held - 1)),
                    in_range_pct=show(100 * found.in_range),
                    sharpe_ratio=show(found.sharpe) if found.sharpe is not None else None,
                    max_drawdown_pct=show(100 * found.max_drawdown),
                )
            )
    results.sort(key=lambda each: -each.end_value_usd.micro)
    return Backtest(look.pool.address, look.reader.chain_id, tuple(results), gas is not None, tell_basis(_REPLAY, past))


def _find(ctx: ReadContext, chain_id: int | None, pair: tuple[str, str], fee: int | None) -> Look:
    """The pool of a pair, of one fee or with most of the second token in it. Raises PoolNotFound."""
    reader = ctx.chain(chain_id)
    markets = markets_on(reader.chain_id)
    assets = [markets.asset(reader.token(each)) for each in pair]
    found = [each for each in markets.find(reader, [(assets[0], assets[1])]) if each.is_usable]
    found = [each for each in found if fee is None or (each.fee == fee and each.version == "v3")]
    if not found:
        raise PoolNotFound("no pool of a market trades this pair at this fee", token0=assets[0], token1=assets[1])
    held = markets.depth(reader, found)
    ranged = [each for each in found if each.version == "v3"] or found
    best = max(ranged, key=lambda each: held[each.address][0 if each.token0 == assets[1] else 1])
    return look_at(ctx, chain_id, best.address)


def _ticks(look: Look, lower: int | None, upper: int | None) -> tuple[int, int]:
    if look.pool.version != "v3" and (lower is not None or upper is not None):
        raise InvalidParams("this pool has no ranges; leave the ticks out", fields={"tick_lower": "no ranges"})
    found = (MIN_POOL_TICK + 1 if lower is None else lower), (MAX_POOL_TICK - 1 if upper is None else upper)
    if found[0] >= found[1]:
        raise InvalidParams("the lower tick must be below the upper one", fields={"tick_lower": "not below tick_upper"})
    return found


def _root(look: Look) -> int:
    if look.pool.version == "v3":
        return look.pool.sqrt_price
    return sqrt_price_of_ratio(look.pool.spot.numerator, look.pool.spot.denominator)


def _float(price: Ratio) -> float:
    return price.numerator / price.denominator


def _ratio(price: float) -> Ratio:
    return Ratio(*price.as_integer_ratio())


def _tick(price: float) -> int:
    ratio = _ratio(price)
    return tick_at_sqrt_price(sqrt_price_of_ratio(ratio.numerator, ratio.denominator))


def _text(look: Look, price: Ratio) -> str:
    token0, token1 = look.tokens
    return ratio_text(price, base_decimals=token0.decimals, quote_decimals=token1.decimals)


def _amount1(look: Look, micro: int) -> float:
    """Dollars in base units of token1. Raises PriceUnavailable."""
    price = look.price_of(look.pool.token1)
    if micro <= 0:
        raise InvalidParams("the amount must be above zero")
    return micro * price.denominator / price.numerator


def _usd(look: Look, amount1: float) -> UsdAmount:
    found = look.dollars1(amount1)
    if found is None:
        raise PriceUnavailable(f"{look.tokens[1].symbol} has no dollar price", token=look.pool.token1)
    return found


def _pool_liquidity(look: Look) -> float:
    pool = look.pool
    return float(pool.liquidity) if pool.version == "v3" else (pool.reserve0 * pool.reserve1) ** 0.5


def _fees_a_second(look: Look, past: PoolPast) -> float:
    """Fees of the whole pool in base units of token1, on the mean of the window."""
    price = _float(look.pool.spot)
    volume = sum(each.in1 + each.in0 * price for each in past.trades)
    return volume * look.pool.fee / FEE_DENOMINATOR / max(1.0, past.seconds)


def _gas1(look: Look) -> float | None:
    """The gas of one move in base units of token1; None where the coin has no price."""
    micro, price = look.price_gas(_GAS_OF_A_MOVE), look.price_of(look.pool.token1)
    return micro * price.denominator / price.numerator if micro is not None else None


def flow_of_day(look: Look, past: PoolPast) -> tuple[float, float]:
    """Volume and fees of the pool by day, in base units of token1."""
    fees = _fees_a_second(look, past) * 86_400
    return fees * FEE_DENOMINATOR / look.pool.fee if look.pool.fee else 0.0, fees
