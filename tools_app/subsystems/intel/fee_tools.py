"""Fees of pools: `intel_recommend_fee_tier` and `intel_calculate_fee_switch_impact`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import markets_on
from tools_app.portfolio.pool_history import InsufficientHistory
from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.figure_basis import Basis, require, show, tell_basis
from tools_app.subsystems.intel.lp_maths import hourly_prices, hourly_volatility
from tools_app.subsystems.intel.lp_snapshot import flow_of_day
from tools_app.subsystems.intel.pool_snapshot import PoolSnapshot, look_at
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Category
from tools_app.toolkit.markets import PoolNotFound
from tools_app.toolkit.params import ChainId, PoolName, Token, check_whole
from tools_app.toolkit.result import UsdAmount

_WEEK_HOURS: Final = 168
_HOURS_A_YEAR: Final = 8_760
_FORMULA: Final = "fees of the last 7 days over what the pool holds, by the year; the tier that pays most is named"
_SWITCH: Final = "fee APY after = fee APY now * (1 - share); volume and liquidity taken as they are"
_READING: Final = "Reading trades"

ShareBps = Annotated[
    int,
    Field(ge=0, le=10_000, description="Part of the fees that the protocol would take, in basis points."),
    BeforeValidator(check_whole),
]


@dataclass(frozen=True, slots=True)
class FeeTierFigures:
    """One pool of the pair; figures are null with a reason where its trades are not known."""

    pool: str
    version: str
    fee: int
    tvl_usd: UsdAmount | None
    volume_24h_usd: UsdAmount | None
    fee_apy: str | None
    rationale: str


@dataclass(frozen=True, slots=True)
class FeeTierAdvice:
    """`recommended_tier` is null where no pool has known trades. `volatility_30d` is by the year, of the pool with most
    trades, over the days that are known.
    """

    chain_id: int
    recommended_tier: int | None
    recommended_pool: str | None
    reasoning: str
    pool_distribution: tuple[FeeTierFigures, ...]
    volatility_30d: str | None
    basis: Basis | None


@intel.read(
    query="fee_tier",
    category=Category.LP,
    aliases=("uniswap_lp_recommend_fee_tier",),
    snippet=(
        "fee_tier: which pool of two tokens paid liquidity most for what it holds in the last week, tier by tier, with"
        " volatility and sample."
    ),
    guidelines=("Yesterday's best tier is crowded tomorrow: look at its volume as well as its rate.",),
)
def intel_recommend_fee_tier(
    ctx: ReadContext, token0: Token, token1: Token, chain_id: ChainId | None = None
) -> FeeTierAdvice:
    """Name the fee tier of a pair that paid liquidity most in the last seven days.

    Use before choosing a pool to provide to. Each pool of the pair is told with volume and what fees came to.
    Does not count impermanent loss, and does not judge a pool whose trades cannot be read.
    """
    reader = ctx.chain(chain_id)
    markets = markets_on(reader.chain_id)
    ctx.step("Finding pools")
    pair = [markets.asset(reader.token(each)) for each in (token0, token1)]
    pools = [each for each in markets.find(reader, [(pair[0], pair[1])]) if each.is_usable]
    if not pools:
        raise PoolNotFound("no pool of a market trades this pair directly", token0=pair[0], token1=pair[1])
    ctx.step(_READING)
    valuer = TokenPricer(reader, markets)
    looks = [PoolSnapshot(reader, markets, pool, valuer) for pool in pools]
    rows: list[tuple[float, FeeTierFigures]] = []
    basis, volatility, most = None, None, 0
    for look in looks:
        rate, tier, known = _judge(look)
        rows.append((rate, tier))
        if known is not None and known[1].sample > most:
            volatility, basis = known
            most = basis.sample
    rows.sort(key=lambda each: -each[0])
    best = rows[0][1] if rows[0][0] > 0 else None
    return FeeTierAdvice(
        chain_id=reader.chain_id,
        recommended_tier=best.fee if best else None,
        recommended_pool=best.pool if best else None,
        reasoning=(
            f"it paid {best.fee_apy}% a year of what it holds, more than the others"
            if best
            else "no pool of the pair has trades that are known"
        ),
        pool_distribution=tuple(tier for _, tier in rows),
        volatility_30d=volatility,
        basis=basis,
    )


@dataclass(frozen=True, slots=True)
class FeeSwitchImpact:
    """What liquidity earns before and after a part of its fees is taken; percent a year of what the pool holds."""

    pool: str
    chain_id: int
    fee_switch_bps: int
    current_fee_apy: str | None
    post_switch_fee_apy: str | None
    apy_reduction_pct: str
    fee_revenue_lost_30d_usd: UsdAmount | None
    basis: Basis


@intel.read(
    query="fee_switch",
    category=Category.LP,
    snippet=(
        "fee_switch: what liquidity of a pool would earn if the protocol took a part of the fees, from the fees of the"
        " last seven days."
    ),
    guidelines=("A switch changes who provides as well: liquidity that leaves raises the share of what stays.",),
    schema_version=2,
)
def intel_calculate_fee_switch_impact(
    ctx: ReadContext, pool: PoolName, chain_id: ChainId | None = None, fee_switch_bps: ShareBps = 1_000
) -> FeeSwitchImpact:
    """Compute what a protocol's share of the fees would take from a pool's liquidity.

    Use when governance votes on such a switch. Volume and liquidity are taken as they are.
    Does not foresee who leaves because of it.
    """
    look = look_at(ctx, chain_id, pool)
    ctx.step(_READING)
    past = look.past(_WEEK_HOURS)
    require(past, 1)
    _, fees = flow_of_day(look, past)
    worth, daily = look.worth(), look.dollars1(fees)
    rate = 100 * 365 * daily.micro / worth if daily is not None and worth else None
    part = fee_switch_bps / 10_000
    return FeeSwitchImpact(
        pool=look.pool.id,
        chain_id=look.reader.chain_id,
        fee_switch_bps=fee_switch_bps,
        current_fee_apy=show(rate) if rate is not None else None,
        post_switch_fee_apy=show(rate * (1 - part)) if rate is not None else None,
        apy_reduction_pct=show(100 * part),
        fee_revenue_lost_30d_usd=look.dollars1(fees * 30 * part),
        basis=tell_basis(_SWITCH, past),
    )


def _judge(look: PoolSnapshot) -> tuple[float, FeeTierFigures, tuple[str, Basis] | None]:
    """The rate a pool paid, its row, and volatility with what it rests on."""
    pool, worth = look.pool, look.worth()
    tvl = UsdAmount(worth) if worth is not None else None
    try:
        past = look.past(_WEEK_HOURS)
        require(past, 1)
    except InsufficientHistory as error:
        return -1.0, FeeTierFigures(pool.id, pool.version, pool.fee, tvl, None, None, error.detail), None
    volume, fees = flow_of_day(look, past)
    daily = look.dollars1(fees)
    rate = 100 * 365 * daily.micro / worth if daily is not None and worth else 0.0
    yearly = hourly_volatility(hourly_prices(past.trades)) * _HOURS_A_YEAR**0.5
    row = FeeTierFigures(
        pool=pool.id,
        version=pool.version,
        fee=pool.fee,
        tvl_usd=tvl,
        volume_24h_usd=look.dollars1(volume),
        fee_apy=show(rate),
        rationale=f"{len(past.trades)} trades are known of the last 7 days",
    )
    return rate, row, (f"{show(100 * yearly)}%", tell_basis(_FORMULA, past))
