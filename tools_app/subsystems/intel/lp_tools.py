"""Tells what a range loses at a price, and what it comes to in a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, log
from typing import Annotated, Final, Literal

from pydantic import Field

from tools_app.core.errors import InvalidParams
from tools_app.core.ratio import Ratio
from tools_app.core.units import usd_to_micro
from tools_app.standards.concentrated import (
    sqrt_price_of_ratio,
    tick_at_sqrt_price,
)
from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.figure_basis import Basis, Multiple, require, show, tell_basis, tell_state
from tools_app.subsystems.intel.lp_maths import PriceRange
from tools_app.subsystems.intel.lp_snapshot import (
    as_float,
    check_ticks,
    dollars_in_token1,
    fees_a_second,
    liquidity_of,
    price_text,
    root_of,
    usd_of,
)
from tools_app.subsystems.intel.pool_snapshot import look_at
from tools_app.subsystems.intel.range_maths import change_in_range
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Category, TickBudget
from tools_app.toolkit.params import ChainId, Days, MicroUsdText, PoolName, PoolTick
from tools_app.toolkit.result import UsdAmount

_PAST_HOURS: Final = 168
_MULTIPLES: Final = {"bull": 1.5, "sideways": 1.0, "bear": 0.67}
_IL: Final = (
    "value of the range at the new price over that of holding what was put in, less one; exact integers, fees apart"
)
_STATE: Final = "the pool's state at this block"
_READING: Final = "Reading the pool"
_TRADES: Final = "Reading trades"

Scenario = Annotated[
    Literal["bull", "sideways", "bear"],
    Field(description="The price ends at 1.5 times, the same, or 0.67 times of now, on an even way."),
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
    category=Category.LP,
    snippet=(
        "impermanent_loss: what a range, or a pool without ranges, loses against holding when its price goes to a"
        " multiple of now; exact, fees apart."
    ),
    guidelines=("Loss grows with a narrower range: hold it against the fees before you provide.",),
    schema_version=2,
)
def intel_calculate_il(
    ctx: ReadContext,
    pool: PoolName,
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
    lower, upper = check_ticks(look, tick_lower, tick_upper)
    multiple, root = Fraction(price_change), root_of(look)
    try:
        change = change_in_range(root, multiple, lower, upper)
    except ValueError as error:
        raise InvalidParams(str(error)) from None
    size = usd_to_micro(position_size_usd) if position_size_usd is not None else None
    spot = look.pool.spot
    then = Ratio(spot.numerator * multiple.numerator, spot.denominator * multiple.denominator)
    tick_then = tick_at_sqrt_price(sqrt_price_of_ratio(then.numerator, then.denominator))
    return ImpermanentLoss(
        pool=look.pool.id,
        chain_id=look.reader.chain_id,
        price_now=price_text(look, spot),
        price_then=price_text(look, then),
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
    category=Category.LP,
    snippet=(
        "pool_scenario: what a position in a range would earn and lose day by day if the price rose by half, stayed or"
        " fell by a third, with present fees."
    ),
    guidelines=("Look at all three scenarios: one of them is no forecast.",),
    schema_version=2,
)
def intel_simulate_pool_scenario(
    ctx: ReadContext,
    pool: PoolName,
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
    lower, upper = check_ticks(look, tick_lower, tick_upper)
    ctx.step(_TRADES)
    past = look.past(_PAST_HOURS)
    require(past, 1)
    start = as_float(look.pool.spot)
    place = PriceRange(exp(lower * log(1.0001)), exp(upper * log(1.0001)))
    amount = dollars_in_token1(look, usd_to_micro(position_size_usd))
    worth = place.worth(start)
    if worth <= 0:
        raise InvalidParams("the range holds nothing at this price")
    liquidity = amount / worth
    daily = fees_a_second(look, past) * 86_400 * liquidity / (liquidity + liquidity_of(look))
    rows, fees, inside = [], 0.0, 0
    for day in range(1, duration_days + 1):
        multiple = exp(log(_MULTIPLES[scenario]) * day / duration_days)
        price = start * multiple
        is_inside = place.holds(price)
        inside += is_inside
        fees += daily if is_inside else 0.0
        il = liquidity * (place.worth(price) - place.hold_worth(start, price))
        rows.append(DayProjection(day, show(multiple), usd_of(look, fees), usd_of(look, il), is_inside))
    end = start * _MULTIPLES[scenario]
    return ScenarioResult(
        pool=look.pool.id,
        chain_id=look.reader.chain_id,
        scenario=scenario,
        projected_fees_usd=rows[-1].fees_usd,
        projected_il_usd=rows[-1].il_usd,
        projected_net_pnl_usd=usd_of(look, fees + liquidity * (place.worth(end) - worth)),
        time_in_range_pct=show(100 * inside / duration_days),
        daily_projections=tuple(rows),
        basis=tell_basis(f"fees as of these days; {_IL}", past),
    )
