"""`data_get_tick_data`."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.core.ratio import ratio_text
from tools_app.portfolio.markets import markets_on
from tools_app.standards.concentrated import ratio_of_sqrt_price, sqrt_price_at_tick
from tools_app.subsystems.data.family import data
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.markets import PoolNotFound
from tools_app.toolkit.params import PoolName, PoolTickRange
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class TickRow:
    """One initialised tick; the price is token1 per token0 in units, the liquidity figures are integers as text."""

    tick: int
    liquidity_net: str
    liquidity_gross: str
    price: str


@dataclass(frozen=True, slots=True)
class TickData:
    """What `data_get_tick_data` answers."""

    pool: str
    chain: int
    token0: TokenMeta
    token1: TokenMeta
    current_tick: int
    tick_spacing: int
    liquidity: str
    ticks: tuple[TickRow, ...]


@data.read(
    query="ticks",
    snippet=(
        "ticks: where liquidity of a pool with ranges begins and ends around the current price, tick by tick; shows how"
        " deep the market is and where it thins out."
    ),
    guidelines=(
        "A large swap that crosses thinly filled ticks moves the price far: shrink it or split it where the "
        "liquidity ends.",
    ),
    schema_version=2,
)
def data_get_tick_data(ctx: ReadContext, pool: PoolName, range: PoolTickRange = 100) -> TickData:
    """Read the initialised ticks of a pool with ranges around the current one.

    Use to choose a price range or to judge a large swap. `range` counts tick spacings on each side.
    Does not read V2 pools, which have no ticks.
    """
    reader = ctx.begin("Reading the pool")
    markets = markets_on(reader.chain_id)
    found = markets.read(reader, pool)
    if not found.is_concentrated or not found.is_usable:
        raise PoolNotFound(
            f"{pool} is no pool of concentrated liquidity with a price, so it has no ticks", pool_address=pool
        )
    token0, token1 = reader.token(found.token0), reader.token(found.token1)
    ctx.step("Reading ticks")
    spacing = markets.of_pool(found).tick_spacing(reader, found)
    rows = [
        TickRow(
            tick=tick.pool_tick,
            liquidity_net=str(tick.net),
            liquidity_gross=str(tick.gross),
            price=ratio_text(
                ratio_of_sqrt_price(sqrt_price_at_tick(tick.pool_tick)),
                base_decimals=token0.decimals,
                quote_decimals=token1.decimals,
            ),
        )
        for tick in markets.of_pool(found).ticks(reader, found, spacing=spacing, spacings_each_side=range)
    ]
    return TickData(
        pool=found.id,
        chain=reader.chain_id,
        token0=token0,
        token1=token1,
        current_tick=found.pool_tick,
        tick_spacing=spacing,
        liquidity=str(found.liquidity),
        ticks=tuple(rows),
    )
