"""`data_get_pool_volume_history`: what was traded in a pool, hour by hour or day by day, out of the index."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import Field

from tools_app.core.ratio import Ratio, ratio_text
from tools_app.history.index_reads import IndexedBar
from tools_app.models.history import BarSpan
from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import markets_on
from tools_app.portfolio.pool_history import NOT_FOLLOWED, OF_INDEX, read_past_bars
from tools_app.subsystems.data.family import data
from tools_app.subsystems.intel.figure_basis import name_size
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.markets import FEE_DENOMINATOR, Pool
from tools_app.toolkit.params import Limit, PoolName
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

Span = Annotated[Literal["hour", "day"], Field(description="How long each row is: hour or day, in UTC.")]
_FORMULA: Final = "sum of what traders paid in over the span, at the prices of now; fees are its share of that"
_NO_TRADE: Final = "no trade is known of in these hours"
_SPANS: Final = {
    "hour": (BarSpan.HOUR, timedelta(hours=1)),
    "day": (BarSpan.DAY, timedelta(days=1)),
}


@dataclass(frozen=True, slots=True)
class VolumeBar:
    """One hour or day with a trade. Prices are token1 per token0 in units; `volume_usd` and `fees_usd` are of what was
    paid in, at the prices of now, null without a price. `is_whole`: no block of it is missing, and it is over.
    """

    starts_at: str
    open: str | None
    high: str | None
    low: str | None
    close: str | None
    paid_in0: TokenAmount
    paid_in1: TokenAmount
    trades: int
    volume_usd: UsdAmount | None
    fees_usd: UsdAmount | None
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of time that was not read; `since` null: from the pool's beginning on."""

    since: str | None
    until: str


@dataclass(frozen=True, slots=True)
class VolumeHistory:
    """What `data_get_pool_volume_history` answers, oldest first; an hour or day without a trade has no row.

    From `known_since` to `known_until` nothing is missing. `reason` says why there are no rows at all. `sample` is how
    many trades the rows count, and `confidence` that in a word.
    """

    pool_address: str
    chain_id: int
    token0: TokenMeta
    token1: TokenMeta
    span: str
    formula: str
    source: str
    sample: int
    confidence: str
    priced_at: str
    known_since: str | None
    known_until: str | None
    gaps: tuple[Gap, ...]
    bars: tuple[VolumeBar, ...]
    reason: str | None


@data.read(
    budget=TickBudget.FAST,
    aliases=("get_pool_volume_history",),
    snippet=(
        "pool_volume_history: what was traded in a pool by hour or by day, with prices and fees, out of this server's"
        " own index, and which hours are missing."
    ),
    guidelines=("A row that is not whole counts too little: leave it out of a comparison.",),
    schema_version=2,
)
def data_get_pool_volume_history(
    ctx: ReadContext,
    pool_address: PoolName,
    span: Span = "day",
    limit: Limit = 30,
) -> VolumeHistory:
    """Read what was traded in one pool, by hour or by day, from this server's index of logs.

    Use to compare days or to see a trend before you provide liquidity. The newest `limit` hours or days are told.
    Does not know pools that nobody here watches or holds, and does not fill gaps by guessing: it names them.
    """
    reader = ctx.begin("Reading the pool")
    markets = markets_on(reader.chain_id)
    pool = markets.read(reader, pool_address)
    tokens = reader.token(pool.token0), reader.token(pool.token1)
    ctx.step("Reading what is kept of it")
    kind, length = _SPANS[span]
    until = datetime.fromtimestamp(reader.block.timestamp, UTC)
    not_counted = markets.of_pool(pool).why_not_counted(pool)
    past = None
    if not_counted is None:
        is_turned = markets.of_pool(pool).is_turned(pool)
        past = read_past_bars(
            reader.chain_id, pool.pool_id, kind, since=until - length * limit, until=until, is_turned=is_turned
        )
    valuer = TokenPricer(reader, markets)
    bars = past.bars if past is not None else ()
    return VolumeHistory(
        pool_address=pool.id,
        chain_id=reader.chain_id,
        token0=tokens[0],
        token1=tokens[1],
        span=span,
        formula=_FORMULA,
        source=OF_INDEX,
        sample=sum(bar.trades for bar in bars),
        confidence=name_size(sum(bar.trades for bar in bars)),
        priced_at=until.isoformat(),
        known_since=past.known_since.isoformat() if past else None,
        known_until=past.known_until.isoformat() if past else None,
        gaps=tuple(_gap(each.since, each.until) for each in past.missing) if past else (),
        bars=tuple(_describe(valuer, pool, tokens, bar) for bar in bars),
        reason=not_counted or (NOT_FOLLOWED if past is None else None if bars else _NO_TRADE),
    )


def _gap(since: datetime | None, until: datetime) -> Gap:
    return Gap(since.isoformat() if since else None, until.isoformat())


def _describe(valuer: TokenPricer, pool: Pool, tokens: tuple[TokenMeta, TokenMeta], bar: IndexedBar) -> VolumeBar:
    in0, in1 = bar.paid_in
    volume = valuer.value([(pool.token0, in0), (pool.token1, in1)])
    fees = volume * pool.fee // FEE_DENOMINATOR if volume is not None else None
    opened, high, low, close = (_text(price, tokens) for price in bar.prices)
    return VolumeBar(
        bar.starts_at.isoformat(),
        opened,
        high,
        low,
        close,
        TokenAmount(in0, tokens[0]),
        TokenAmount(in1, tokens[1]),
        bar.trades,
        UsdAmount(volume) if volume is not None else None,
        UsdAmount(fees) if fees is not None else None,
        bar.is_whole,
    )


def _text(price: Ratio | None, tokens: tuple[TokenMeta, TokenMeta]) -> str | None:
    if price is None:
        return None
    return ratio_text(price, base_decimals=tokens[0].decimals, quote_decimals=tokens[1].decimals)
