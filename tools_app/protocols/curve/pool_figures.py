"""Computes what people are told of a pool: its size, and what its fees and its gauge come to in a year."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.core.ratio import percent_text
from tools_app.core.units import BPS, format_units
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.curve.addresses import Place
from tools_app.protocols.curve.reads import AtConvex, Standing, ask_emission, ask_standing
from tools_app.standards.vault_logs import DAY_SECONDS
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import drive
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

YEAR_SECONDS: Final = 365 * DAY_SECONDS
FEE_UNITS: Final = 10**10
UNBOOSTED_PERCENT: Final = 40
EXCHANGED: Final = (
    "event TokenExchange(address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id,"
    " uint256 tokens_bought)"
)
NOBODY: Final = "0x0000000000000000000000000000000000000001"


class Coin(Told):
    """A coin of a pool and how much of it lies there."""

    token: TokenMeta
    balance: TokenAmount


class PoolRow(Told):
    """A pool. Rates are yearly, simple and in percent; null with what is missing named in `untold`. `virtual_price` is
    what a whole LP token stands for, `coins_apart_bps` how far the coins' feeds lie apart.
    """

    address: str
    lp_token: str
    name: str
    coins: tuple[Coin, ...]
    base_apy: str | None
    crv_apy: str | None
    total_apy: str | None
    tvl_usd: UsdAmount | None
    volume_24h_usd: UsdAmount | None
    pool_type: str
    gauge: str
    amplification_coef: int
    fee: str
    virtual_price: str
    coins_apart_bps: int
    untold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """A pool's last day in micro-USD, and its fees as a simple yearly rate; None where a coin has no price, or the
    chain is younger than a day.
    """

    tvl: int | None
    volume: int | None
    fees_bps: int | None


def read_day(reader: ChainReader, place: Place, standing: Standing) -> Day:
    """What was traded in the last day, and what of the fee stays in the pool."""
    books, prices = standing.books, PriceBook(reader)
    tokens = [reader.token(coin) for coin in place.pool.coins]
    size = [prices.weigh(token.address, raw).micro_usd for token, raw in zip(tokens, books.balances, strict=True)]
    tvl = None if None in size else sum(each for each in size if each is not None)
    volume = _volume(reader, place, tokens, prices)
    if volume is None or not tvl:
        return Day(tvl, volume, None)
    # Admins keep their part of the fee.
    earned = volume * books.fee // FEE_UNITS * (FEE_UNITS - books.admin_fee) // FEE_UNITS
    return Day(tvl, volume, earned * 365 * BPS // tvl)


def describe_pool(reader: ChainReader, place: Place) -> PoolRow:
    """One pool at the pinned block. Raises what the chain raises, PositionsUnreadable."""
    standing = drive(ask_standing(reader.chain_id, place, NOBODY), reader.call_many)
    books = standing.books
    tokens = [reader.token(coin) for coin in place.pool.coins]
    untold: list[str] = []
    day = read_day(reader, place, standing)
    tvl, volume, base = day.tvl, day.volume, day.fees_bps
    if tvl is None:
        untold.append("tvl_usd: a coin has no price")
    if volume is None:
        untold.append("volume_24h_usd, base_apy: the chain is younger than a day, or a coin has no price")
    reward = reward_bps(reader, place, standing)
    if reward is None:
        untold.append(f"crv_apy: {place.reward.symbol} has no price here, or the gauge does not tell")
    total = None if base is None or reward is None else base + reward
    return PoolRow(
        address=place.pool.address,
        lp_token=place.pool.lp,
        name="Curve 3pool",
        coins=tuple(Coin(token, TokenAmount(raw, token)) for token, raw in zip(tokens, books.balances, strict=True)),
        base_apy=percent_text(base),
        crv_apy=percent_text(reward),
        total_apy=percent_text(total),
        tvl_usd=None if tvl is None else UsdAmount(tvl),
        volume_24h_usd=None if volume is None else UsdAmount(volume),
        pool_type="stable",
        gauge=place.gauge,
        amplification_coef=books.amp,
        fee=format_units(books.fee, 8),
        virtual_price=format_units(standing.counting.virtual_price, 18),
        coins_apart_bps=standing.counting.apart_bps,
        untold=tuple(untold),
    )


def reward_rates(reader: ChainReader, place: Place, standing: Standing) -> tuple[str | None, str | None]:
    """Percent a year of CRV, without votes and with all that help: two and a half times as much."""
    base = reward_bps(reader, place, standing)
    return percent_text(base), percent_text(None if base is None else base * 100 // UNBOOSTED_PERCENT)


def reward_bps(reader: ChainReader, place: Place, standing: Standing) -> int | None:
    """What a dollar of LP tokens earns in a year without votes; None where nobody can say."""
    counting, prices = standing.counting, PriceBook(reader)
    emission = drive(ask_emission(place), reader.call_many)
    if emission is None or counting.cheapest is None or not place.reward.is_counted(reader.chain_id):
        return None
    if not emission.working:
        return 0
    shares = 10**24
    yearly = emission.per_second * YEAR_SECONDS * shares * UNBOOSTED_PERCENT // (100 * emission.working)
    paid = prices.weigh(place.reward.address, yearly).micro_usd
    worth = prices.weigh(counting.cheapest, counting.worth_of(shares)).micro_usd
    return None if paid is None or not worth else paid * BPS // worth


def convex_bps(reader: ChainReader, place: Place, standing: Standing, there: AtConvex) -> int | None:
    """What a dollar of LP tokens earns at Convex in a year at what is paid now; None where nobody prices it."""
    counting, prices = standing.counting, PriceBook(reader)
    if counting.cheapest is None or not place.reward.is_counted(reader.chain_id):
        return None
    if there.until <= reader.block.timestamp or not there.staked:
        return 0
    paid = prices.weigh(place.reward.address, there.per_second * YEAR_SECONDS).micro_usd
    worth = prices.weigh(counting.cheapest, counting.worth_of(there.staked)).micro_usd
    return None if paid is None or not worth else paid * BPS // worth


@dataclass(frozen=True, slots=True)
class _Exchanged:
    sold_id: int
    tokens_sold: int


_EXCHANGES: Final = AbiEvent(EXCHANGED, _Exchanged)


def _volume(reader: ChainReader, place: Place, tokens: list[TokenMeta], prices: PriceBook) -> int | None:
    first = reader.first_block_since(reader.block.timestamp - DAY_SECONDS)
    if not first.number:
        return None
    logs = reader.logs(
        address=place.pool.address,
        topics=[event_topic(EXCHANGED)],
        from_block=first.number,
        to_block=reader.block.number,
    )
    sold = [0] * len(tokens)
    for log in logs:
        told = _EXCHANGES.read(log)
        if told is not None:
            sold[told.sold_id] += told.tokens_sold
    worth = [prices.weigh(token.address, raw).micro_usd for token, raw in zip(tokens, sold, strict=True)]
    return None if None in worth else sum(each for each in worth if each is not None)
