"""`data_get_pool_health_score`."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import markets_on
from tools_app.standards import concentrated as v3_math
from tools_app.standards.concentrated import sqrt_price_moved
from tools_app.subsystems.data import health_score
from tools_app.subsystems.data.family import data
from tools_app.subsystems.data.health_score import Scores
from tools_app.subsystems.data.pool_figures import PoolFigures, read_figures
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.markets import Pool, PoolNotFound
from tools_app.toolkit.params import PoolName
from tools_app.toolkit.result import UsdAmount

NEAR_BPS = 200
"""How far from the price liquidity counts as near, in basis points."""


@dataclass(frozen=True, slots=True)
class PoolHealth:
    """What `data_get_pool_health_score` answers; scores from 0 to 100, None when unknown with a reason beside."""

    pool: str
    chain: int
    version: str
    health_score: int | None
    breakdown: Scores
    missing_reason: str | None
    tvl_usd: UsdAmount | None
    volume_24h_usd: UsdAmount | None
    depth_within_2pct_usd: UsdAmount | None
    recommendation: str


@data.read(
    query="pool_health",
    snippet=(
        "pool_health: a score from 0 to 100 for one pool, with five sub-scores for size, turnover, fees, depth"
        " near the price and calm, and a short recommendation."
    ),
    guidelines=("Do not open a position in a pool that scores below 40; prefer 70 and more.",),
    schema_version=2,
)
def data_get_pool_health_score(ctx: ReadContext, pool: PoolName) -> PoolHealth:
    """Score how sound a pool of a market is, from 0 to 100.

    Use before providing liquidity or making a large swap. The score is the weighted mean of: tvl_score (30),
    0 at $1,000 and 20 for every tenfold; volume_score (20), 100 when half of what it holds is traded in 24 h;
    fee_score (15), 100 when a day's fees are 50% a year; liquidity_distribution (20), the square root of the
    share of value within 2% of the price, taking the liquidity at the price to reach that far; il_risk (15),
    100 less a point for every 10 bps of price range in 24 h. What is unknown is left out of the mean.
    Does not say whether the tokens themselves are trustworthy.
    """
    reader = ctx.begin("Reading the pool")
    markets = markets_on(reader.chain_id)
    found = markets.read(reader, pool)
    if not found.is_usable:
        raise PoolNotFound(f"the pool {pool} was made but never given a price", pool_address=pool)
    ctx.step("Reading 24 hours of trades")
    read = read_figures(reader, markets, [found])
    if not read:
        raise PoolNotFound(f"the pool {pool} holds something that is no ERC-20 token", pool_address=pool)
    figures = read[0]
    ctx.step("Scoring")
    near0, near1 = amounts_near_price(found)
    near = TokenPricer(reader, markets).value([(found.token0, near0), (found.token1, near1)])
    scores = score_pool(figures, near)
    total = scores.total()
    return PoolHealth(
        pool=found.id,
        chain=reader.chain_id,
        version=found.version,
        health_score=total,
        breakdown=scores,
        missing_reason=figures.history_reason or figures.tvl_reason,
        tvl_usd=figures.tvl,
        volume_24h_usd=figures.volume_24h,
        depth_within_2pct_usd=UsdAmount(near) if near is not None else None,
        recommendation=health_score.recommend(total),
    )


def amounts_near_price(pool: Pool) -> tuple[int, int]:
    """Token0 and token1 that trade within 2% of the price, were the present liquidity to reach that far."""
    sqrt_price, liquidity = pool.sqrt_price, pool.liquidity
    if pool.version == "v2":
        # A pair is a V3 position over the whole range: liquidity is the geometric mean of its reserves.
        liquidity = isqrt(pool.reserve0 * pool.reserve1)
        sqrt_price = v3_math.sqrt_price_of_ratio(pool.reserve1, pool.reserve0)
    low, high = sqrt_price_moved(sqrt_price, bps=-NEAR_BPS), sqrt_price_moved(sqrt_price, bps=NEAR_BPS)
    return v3_math.amounts_for_liquidity(sqrt_price, low, high, liquidity, round_up=False)


def score_pool(figures: PoolFigures, near_micro_usd: int | None) -> Scores:
    """The five sub-scores of a pool's figures."""
    tvl = figures.tvl.micro if figures.tvl else None
    volume = figures.volume_24h.micro if figures.volume_24h else None
    fees = figures.fees_24h.micro if figures.fees_24h else None
    calm_known = figures.day.reason is None
    return Scores(
        tvl_score=health_score.score_tvl(tvl) if tvl is not None else None,
        volume_score=health_score.score_volume(volume, tvl) if volume is not None and tvl is not None else None,
        fee_score=health_score.score_fees(fees, tvl) if fees is not None and tvl is not None else None,
        liquidity_distribution=(
            health_score.score_distribution(near_micro_usd, tvl)
            if near_micro_usd is not None and tvl is not None
            else None
        ),
        il_risk=health_score.score_calm((*figures.day.prices, figures.pool.spot)) if calm_known else None,
    )
