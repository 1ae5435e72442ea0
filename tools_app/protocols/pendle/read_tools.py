"""Reads of Pendle: the known markets, and what an account holds there."""

from __future__ import annotations

from typing import Final

from tools_app.core.units import usd_to_micro
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.pendle.addresses import Place, places_on
from tools_app.protocols.pendle.family import pendle
from tools_app.protocols.pendle.market_maths import (
    WAD,
    yearly_rate,
)
from tools_app.protocols.pendle.market_state import Standing, ask_standings, shares_worth
from tools_app.protocols.pendle.plan_parts import DAY_SECONDS, percent
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.params import (
    Address,
    MicroUsdText,
    Token,
)
from tools_app.toolkit.positions import drive
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

_NOBODY: Final = "0x0000000000000000000000000000000000000001"


class MarketRow(Told):
    """A market. Rates are percent; `tvl` is dollars, null without a price. A day's trades are not read."""

    address: str
    name: str
    underlying: str
    underlying_protocol: str
    maturity: int
    days_to_maturity: int
    implied_apy: str
    pt_discount: str | None
    tvl: UsdAmount | None
    volume_24h: None
    pt_address: str
    yt_address: str
    is_active: bool
    is_oracle_ready: bool


class KnownMarkets(OfChain):
    """The known markets that fit."""

    markets: tuple[MarketRow, ...]


class Holding(Told):
    """So many of a market's tokens. `counts_as` is what limits count, `market_value` the average price."""

    market: str
    token: str
    balance: str
    counts_as: TokenAmount
    market_value: TokenAmount


class PendleHoldings(Told):
    """What an account has at Pendle; yield tokens count as nothing in `total_value_usd`."""

    pt_positions: tuple[Holding, ...]
    yt_positions: tuple[Holding, ...]
    lp_positions: tuple[Holding, ...]
    total_value_usd: UsdAmount | None


@pendle.read(
    snippet="pendle_get_markets: known Pendle markets with maturity, implied yearly rate, discount and size.",
    guidelines=("is_oracle_ready false: nothing can be bought there yet.",),
)
def pendle_get_markets(
    ctx: ReadContext, underlying: Token | None = None, min_tvl: MicroUsdText | None = None
) -> KnownMarkets:
    """List known Pendle markets, active and over.

    Use to choose a market, or to find PT and YT by it.
    Does not list markets that are not known here.
    """
    reader = ctx.begin("Reading markets")
    places = places_on(reader.chain_id)
    wanted = None if underlying is None else reader.token(underlying).address
    standings = drive(ask_standings(reader.chain_id, places, _NOBODY), reader.call_many)
    prices = PriceBook(reader)
    rows = [
        _row(place, standing, prices, reader)
        for place, standing in zip(places, standings, strict=True)
        if wanted in (None, place.asset)
    ]
    least = 0 if min_tvl is None else usd_to_micro(min_tvl)
    return KnownMarkets(
        markets=tuple(row for row in rows if (row.tvl.micro if row.tvl else 0) >= least),
    )


@pendle.read(
    snippet="pendle_get_position: PT, YT and LP tokens of an account at Pendle and what each counts as.",
    guidelines=("YT count as nothing; market_value is what they would cost at the average.",),
)
def pendle_get_position(ctx: ReadContext, account: Address) -> PendleHoldings:
    """What an account holds at Pendle's known markets.

    Use before selling or redeeming.
    Does not show what was paid for it.
    """
    reader = ctx.begin("Reading positions")
    places = places_on(reader.chain_id)
    standings = drive(ask_standings(reader.chain_id, places, account), reader.call_many)
    rows: dict[str, list[Holding]] = {"pt": [], "yt": [], "lp": []}
    total: int | None = 0
    prices = PriceBook(reader)
    for place, standing in zip(places, standings, strict=True):
        held, asset = standing.held, reader.token(place.asset)
        counted = {
            "pt": standing.worth_of_claims(place, held.pt) if held.pt else 0,
            "yt": 0,
            "lp": standing.worth_of_lp(place, held.lp) if held.lp else 0,
        }
        shown = {**counted, "yt": standing.market_of_yields(held.yt)}
        for kind, token, balance in (
            ("pt", place.pt, held.pt),
            ("yt", place.yt, held.yt),
            ("lp", place.market, held.lp),
        ):
            if balance:
                worth = (TokenAmount(counted[kind], asset), TokenAmount(shown[kind], asset))
                rows[kind].append(Holding(place.market, token, str(balance), *worth))
        raw = sum(counted.values()) + shares_worth(standing, held.sy + held.interest)
        micro = prices.weigh(place.asset, raw).micro_usd if raw else 0
        total = None if total is None or micro is None else total + micro
    return PendleHoldings(
        tuple(rows["pt"]), tuple(rows["yt"]), tuple(rows["lp"]), None if total is None else UsdAmount(total)
    )


def _row(place: Place, standing: Standing, prices: PriceBook, reader: ChainReader) -> MarketRow:
    market = standing.market
    size = None
    if standing.lp_rate is not None:
        micro = prices.weigh(place.asset, standing.worth_of_lp(place, market.supply)).micro_usd
        size = None if micro is None else UsdAmount(micro)
    ready = market.is_over or standing.pt_rate is not None
    asset: TokenMeta = reader.token(place.asset)
    return MarketRow(
        address=place.market,
        name=place.symbols.lp,
        underlying=asset.symbol,
        underlying_protocol=place.symbols.sy,
        maturity=market.expiry,
        days_to_maturity=market.seconds_left // DAY_SECONDS,
        implied_apy="0" if market.is_over else percent(yearly_rate(market.ln_rate), WAD),
        pt_discount=None if not ready else percent(WAD - standing.claim(place).rate, WAD),
        tvl=size,
        volume_24h=None,
        pt_address=place.pt,
        yt_address=place.yt,
        is_active=not market.is_over,
        is_oracle_ready=ready,
    )
