"""Order flow of a pool: `intel_compute_vpin`, `intel_compute_lvr`, `intel_get_order_flow_metrics`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from tools_app.core.errors import GolemError
from tools_app.portfolio.pool_history import PoolPast
from tools_app.subsystems.intel import flow_maths
from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.figure_basis import Basis, Lookback, hours_of, require, show, tell_basis
from tools_app.subsystems.intel.pool_snapshot import PoolSnapshot, look_at
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.markets import FEE_DENOMINATOR
from tools_app.toolkit.params import ChainId, PoolName, check_whole
from tools_app.toolkit.result import UsdAmount
from tools_app.toolkit.views import LogEntry

LEAST_TRADES: Final = 10
LEAST_BLOCKS: Final = 3
MARKOUT_BLOCKS: Final = (5, 20, 100)
_YEAR_SECONDS: Final = 365 * 86_400
_MOST_SERIES: Final = 50
_VPIN: Final = (
    "VPIN = mean |bought - sold| / volume over buckets of one volume; the side of each trade is the chain's own"
)
_LVR: Final = (
    "LVR = L * sqrt(P) / 4 * sum of squared log returns between blocks (Milionis, Moallemi, Roughgarden, Zhang 2022),"
    " with the pool's own prices and the liquidity of now: a model, and no comparison with an outside price"
)
_MARKOUT: Final = "sum of what liquidity took and gave in each trade, valued at the pool's price so many blocks later"
_READING: Final = "Reading trades"

Buckets = Annotated[int, Field(ge=2, le=500, description="Into how many volume buckets."), BeforeValidator(check_whole)]


@dataclass(frozen=True, slots=True)
class Toxicity:
    """`vpin` is 0 for flow in balance and 1 for one side alone. `vpin_by_chance` is what these trades would show were
    their sides tossed; `time_series` is the imbalance of the buckets, the oldest first.
    """

    pool: str
    chain_id: int
    vpin: str
    vpin_by_chance: str
    classification: str
    interpretation: str
    buckets: int
    time_series: tuple[str, ...]
    basis: Basis


@intel.read(
    query="vpin",
    aliases=("compute_vpin",),
    snippet=(
        "vpin: how one-sided the trades of a pool are by volume (VPIN), beside what chance alone would show, with the"
        " sample it rests on."
    ),
    guidelines=("A high VPIN with a small sample says little: read vpin_by_chance and the sample first.",),
    schema_version=2,
)
def intel_compute_vpin(
    ctx: ReadContext,
    pool: PoolName,
    chain_id: ChainId | None = None,
    buckets: Buckets = 50,
    lookback: Lookback = "24h",
) -> Toxicity:
    """Measure how toxic the order flow of a pool is: VPIN over buckets of one volume.

    Use before providing liquidity: informed traders trade one side. The classes are SAFE under 0.3, TOXIC from 0.6.
    Does not know who traded, and one huge swap or a wash trader moves it; compare with what chance alone would show.
    """
    look = look_at(ctx, chain_id, pool)
    ctx.step(_READING)
    past = look.past(hours_of(lookback))
    require(past, LEAST_TRADES)
    found = measure_vpin(past, buckets)
    return Toxicity(
        pool=look.pool.id,
        chain_id=look.reader.chain_id,
        vpin=show(found.value),
        vpin_by_chance=show(found.by_chance),
        classification=classify_vpin(found.value),
        interpretation=_interpret(found),
        buckets=len(found.series),
        time_series=tuple(show(each) for each in found.series[-_MOST_SERIES:]),
        basis=tell_basis(_VPIN, past),
    )


@dataclass(frozen=True, slots=True)
class RebalancingLoss:
    """What liquidity loses to a portfolio that rebalances, by the model. Percentages are of what the pool holds.

    `fee_lvr_ratio` above 1 means fees outweigh it; null without trades of any size. `arbitrage_share` is the part that
    arbitrageurs get at the chain's pace of blocks (Milionis, Moallemi, Roughgarden 2023).
    """

    pool: str
    chain_id: int
    method: str
    lvr_period_usd: UsdAmount | None
    lvr_period_pct: str | None
    lvr_annualized_pct: str | None
    lvr_per_block_usd: UsdAmount | None
    fee_revenue_usd: UsdAmount | None
    fee_lvr_ratio: str | None
    advice: str
    arbitrage_share: str
    volatility_annualized_pct: str
    basis: Basis


@intel.read(
    query="lvr",
    aliases=("compute_lvr",),
    snippet=(
        "lvr: what liquidity of a pool lost to rebalancing by the model of Milionis and others, beside the fees it"
        " earned, with volatility and sample."
    ),
    guidelines=("Fees below the loss mean that liquidity pays traders: widen the range or leave.",),
    schema_version=2,
)
def intel_compute_lvr(
    ctx: ReadContext, pool: PoolName, chain_id: ChainId | None = None, lookback: Lookback = "7d"
) -> RebalancingLoss:
    """Compute the loss versus rebalancing of a pool's liquidity and hold it against its fees.

    Use before and while providing liquidity. The variance is that of the pool's own prices between blocks.
    Does not compare with an outside price, so it is the model's figure; a wash trader makes both parts larger.
    """
    look = look_at(ctx, chain_id, pool)
    ctx.step(_READING)
    past = look.past(hours_of(lookback))
    return measure_lvr(look, past)


@dataclass(frozen=True, slots=True)
class Markout:
    """What liquidity gained (below zero: lost) on `trades` trades, at the price so many blocks later."""

    blocks: int
    usd: UsdAmount | None
    trades: int


@dataclass(frozen=True, slots=True)
class JustInTime:
    """Liquidity that came and went in one block around a trade: how often, and in how many of the blocks with one."""

    found: int | None
    blocks_with_trades: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Assessment:
    """Whether fees outweigh the modelled loss, and how sure the sample makes that."""

    lp_profitability: str
    confidence: str
    covered_call_criterion: str


@dataclass(frozen=True, slots=True)
class OrderFlow:
    """All of it in one answer."""

    pool: str
    chain_id: int
    vpin: str
    vpin_by_chance: str
    lvr: RebalancingLoss
    markout: tuple[Markout, ...]
    markout_formula: str
    jit_liquidity: JustInTime
    overall_assessment: Assessment
    basis: Basis


@intel.read(
    query="order_flow",
    budget=TickBudget.SLOW,
    snippet=(
        "order_flow: VPIN, loss versus rebalancing, markouts after 5, 20 and 100 blocks and just-in-time liquidity of"
        " a pool in one answer."
    ),
    guidelines=("Where markouts stay below zero, traders knew more than the pool: fees must pay for that.",),
    schema_version=2,
)
def intel_get_order_flow_metrics(
    ctx: ReadContext, pool: PoolName, chain_id: ChainId | None = None, lookback: Lookback = "7d"
) -> OrderFlow:
    """Judge the order flow of a pool as a whole: toxicity, rebalancing loss, markouts, just-in-time liquidity.

    Use to choose where to provide liquidity. Each part names its formula, and the whole the sample.
    Does not foresee flow, and counts a wash trader like any other.
    """
    look = look_at(ctx, chain_id, pool)
    ctx.step(_READING)
    past = look.past(hours_of(lookback))
    require(past, LEAST_TRADES)
    found, loss = measure_vpin(past, 50), measure_lvr(look, past)
    ctx.step("Looking for liquidity of a block")
    marks = [(blocks, *flow_maths.mark_out(past.trades, look.pool.fee, blocks)) for blocks in MARKOUT_BLOCKS]
    basis = tell_basis(_VPIN, past)
    return OrderFlow(
        pool=look.pool.id,
        chain_id=look.reader.chain_id,
        vpin=show(found.value),
        vpin_by_chance=show(found.by_chance),
        lvr=loss,
        markout=tuple(
            Markout(blocks, look.dollars1(value) if count else None, count) for blocks, value, count in marks
        ),
        markout_formula=_MARKOUT,
        jit_liquidity=_find_jit(look, past),
        overall_assessment=_assess(loss, basis.confidence),
        basis=basis,
    )


def measure_vpin(past: PoolPast, buckets: int) -> flow_maths.Vpin:
    """VPIN of a window. Raises InsufficientHistory where nothing of any size was traded."""
    volumes = flow_maths.signed_volumes(past.trades)
    if not any(volumes):
        require(past, len(past.trades) + 1)
    return flow_maths.compute_vpin(volumes, buckets)


def classify_vpin(value: float) -> str:
    """SAFE, MODERATE or TOXIC."""
    return "SAFE" if value < flow_maths.MODERATE_FROM else "MODERATE" if value < flow_maths.TOXIC_FROM else "TOXIC"


def measure_lvr(look: PoolSnapshot, past: PoolPast) -> RebalancingLoss:
    """Of a window. Raises InsufficientHistory where the price did not move often enough to have a variance."""
    prices = flow_maths.block_prices(past.trades)
    if len(prices) < LEAST_BLOCKS:
        require(past, max(LEAST_BLOCKS, len(past.trades) + 1))
    variance = flow_maths.realised_variance(prices)
    seconds = max(1.0, past.seconds)
    lost = flow_maths.lost_to_rebalancing(look.pool, variance)
    price = look.pool.spot
    fees = sum(each.in0 for each in past.trades) * price.numerator // price.denominator
    fees = (fees + sum(each.in1 for each in past.trades)) * look.pool.fee // FEE_DENOMINATOR
    worth, lost_usd = look.worth(), look.dollars1(lost)
    part = lost_usd.micro / worth if lost_usd is not None and worth else None
    blocks = max(1, prices[-1][0] - prices[0][0])
    ratio = fees / lost if lost > 0 else None
    return RebalancingLoss(
        pool=look.pool.id,
        chain_id=look.reader.chain_id,
        method="model with realised variance",
        lvr_period_usd=lost_usd,
        lvr_period_pct=show(100 * part) if part is not None else None,
        lvr_annualized_pct=show(100 * part * _YEAR_SECONDS / seconds) if part is not None else None,
        lvr_per_block_usd=look.dollars1(lost / blocks),
        fee_revenue_usd=look.dollars1(fees),
        fee_lvr_ratio=show(ratio) if ratio is not None else None,
        advice=_advise(ratio),
        arbitrage_share=show(flow_maths.arbitrage_share(look.pool.fee, variance / seconds, look.block_seconds)),
        volatility_annualized_pct=show(100 * (variance * _YEAR_SECONDS / seconds) ** 0.5),
        basis=tell_basis(_LVR, past, sample=len(prices) - 1),
    )


def _advise(ratio: float | None) -> str:
    if ratio is None:
        return "the price did not move, so that nothing was lost to it"
    if ratio < 1:
        return "fees are below the modelled loss: widen the range or leave"
    return "fees outweigh the modelled loss" if ratio > 1.5 else "fees just outweigh the modelled loss: hold"


def _interpret(found: flow_maths.Vpin) -> str:
    if found.value <= found.by_chance:
        return "no more one-sided than trades whose sides are tossed"
    return f"{show(found.value / found.by_chance)} times as one-sided as trades whose sides are tossed"


def _assess(loss: RebalancingLoss, confidence: str) -> Assessment:
    ratio = loss.fee_lvr_ratio
    if ratio is None:
        return Assessment("UNKNOWN", confidence, "no variance was realised")
    is_paid = float(ratio) > 1
    return Assessment(
        "PROFITABLE" if is_paid else "UNPROFITABLE",
        confidence,
        f"fees over loss is {ratio}: {'above' if is_paid else 'not above'} 1, as selling variance must be",
    )


def _find_jit(look: PoolSnapshot, past: PoolPast) -> JustInTime:
    """Mints and burns of one range by one owner in one block in which somebody traded."""
    traded = {each.block for each in past.trades}
    if not traded or not look.pool.is_concentrated:
        reason = None if look.pool.is_concentrated else "a pool without ranges has none"
        return JustInTime(0 if reason is None else None, len(traded), reason)
    name = look.pool.pool_id
    events = look.markets.event_topics(look.pool, ("mint", "burn"))
    if not events:
        return JustInTime(None, len(traded), "the pool's logs do not tell whose liquidity comes and goes")
    topics = name.filter_logs(events)
    try:
        logs = look.reader.logs(address=name.contract, topics=topics, from_block=min(traded), to_block=max(traded))
    except GolemError as error:
        return JustInTime(None, len(traded), f"the node does not tell these logs ({error.code})")
    return JustInTime(_count_jit(look, [log for log in logs if log.block_number in traded]), len(traded), None)


def _count_jit(look: PoolSnapshot, logs: Sequence[LogEntry]) -> int:
    seen: set[tuple[object, ...]] = set()
    found = 0
    for log in sorted(logs, key=lambda each: (each.block_number, each.log_index)):
        event = look.markets.read_event(look.pool, log)
        if event is None:
            continue
        key = (log.block_number, *(event.details.get(name) for name in ("owner", "tick_lower", "tick_upper")))
        if event.name == "mint":
            seen.add(key)
        elif key in seen:
            seen.discard(key)
            found += 1
    return found
