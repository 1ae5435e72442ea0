"""Dollar figures of pools: what they hold, what was traded in 24 hours, and what that pays to liquidity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.chain.tokens import TokenNotFound
from tools_app.core.ratio import decimal_text
from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import ChainMarkets
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool, PoolDay
from tools_app.toolkit.result import UsdAmount
from tools_app.toolkit.views import TokenMeta

NO_PRICE = "a token of the pool has no dollar price"
DAYS_PER_YEAR = 365


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """One pool in dollars; a figure that cannot be known is None and `history_reason` or `tvl_reason` says why."""

    pool: Pool
    token0: TokenMeta
    token1: TokenMeta
    balance0: int
    balance1: int
    tvl: UsdAmount | None
    tvl_reason: str | None
    volume_24h: UsdAmount | None
    fees_24h: UsdAmount | None
    history_reason: str | None
    day: PoolDay

    @property
    def fee_apy_24h(self) -> str | None:
        """Fees of 24 hours as percent a year of what the pool holds, as decimal text."""
        if self.fees_24h is None or self.tvl is None or self.tvl.micro == 0:
            return None
        return decimal_text(self.fees_24h.micro * DAYS_PER_YEAR * 100 * 10_000 // self.tvl.micro, 10_000)


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """One row of a list of pools."""

    pool_address: str
    version: str
    fee_tier: int
    token0: TokenMeta
    token1: TokenMeta
    token0_symbol: str
    token1_symbol: str
    tvl_usd: UsdAmount | None
    tvl_reason: str | None
    volume_24h_usd: UsdAmount | None
    fee_apy_24h: str | None
    history_reason: str | None


def read_figures(reader: ChainReader, markets: ChainMarkets, pools: Sequence[Pool]) -> list[PoolFigures]:
    """Figures of pools in the order given; a pool of something that is no ERC-20 token is left out.

    One batch of balances, one query of logs, prices once each.
    """
    known: list[tuple[Pool, TokenMeta, TokenMeta]] = []
    for pool in pools:
        try:
            known.append((pool, reader.token(pool.token0), reader.token(pool.token1)))
        except TokenNotFound:
            continue
    listed = [pool for pool, _, _ in known]
    valuer = TokenPricer(reader, markets)
    balances = markets.depth(reader, listed)
    days = markets.days(reader, listed)
    return [
        _figures(valuer, pool, (token0, token1), balances[pool.id], days[pool.id]) for pool, token0, token1 in known
    ]


def summarise(figures: PoolFigures) -> PoolSummary:
    """The row of a list."""
    pool = figures.pool
    return PoolSummary(
        pool_address=pool.id,
        version=pool.version,
        fee_tier=pool.fee,
        token0=figures.token0,
        token1=figures.token1,
        token0_symbol=figures.token0.symbol,
        token1_symbol=figures.token1.symbol,
        tvl_usd=figures.tvl,
        tvl_reason=figures.tvl_reason,
        volume_24h_usd=figures.volume_24h,
        fee_apy_24h=figures.fee_apy_24h,
        history_reason=figures.history_reason,
    )


def by_tvl(figures: Sequence[PoolFigures]) -> list[PoolFigures]:
    """Largest first; a pool without a dollar value comes last."""
    return sorted(figures, key=lambda found: found.tvl.micro if found.tvl else -1, reverse=True)


def _figures(
    valuer: TokenPricer, pool: Pool, tokens: tuple[TokenMeta, TokenMeta], balances: tuple[int, int], day: PoolDay
) -> PoolFigures:
    tvl = valuer.value([(pool.token0, balances[0]), (pool.token1, balances[1])])
    volume = fees = None
    if day.reason is None:
        paid0, paid1 = day.fees(pool.fee)
        volume = valuer.value([(pool.token0, day.in0), (pool.token1, day.in1)])
        fees = valuer.value([(pool.token0, paid0), (pool.token1, paid1)])
    return PoolFigures(
        pool=pool,
        token0=tokens[0],
        token1=tokens[1],
        balance0=balances[0],
        balance1=balances[1],
        tvl=UsdAmount(tvl) if tvl is not None else None,
        tvl_reason=NO_PRICE if tvl is None else None,
        volume_24h=UsdAmount(volume) if volume is not None else None,
        fees_24h=UsdAmount(fees) if fees is not None else None,
        history_reason=day.reason or (NO_PRICE if volume is None else None),
        day=day,
    )
