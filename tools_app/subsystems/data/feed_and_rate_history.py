"""`data_get_feed_history` and `data_get_rate_history`: what price feeds, lenders and issuers told, out of the index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from tools_app.core.ratio import Ratio, decimal_text
from tools_app.models.history import ASKED_KINDS, SourceKind
from tools_app.portfolio.history_from_logs import Interval, NoPast, Period, ToldPast, find_teller, tell_past
from tools_app.subsystems.data.family import data
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import PLAIN, Token
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import drive
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.toolkit.views import TokenMeta

RateTeller = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9_]{1,39}$",
        description="Lender or issuer, by its name.",
    ),
    Meaning.LENDER,
]


@dataclass(frozen=True, slots=True)
class FeedHistory:
    """`price_now` and the points are US dollars for a whole token, as decimal text. `told_by` is the contract that logs
    the answers: the one that stands behind the feed now.
    """

    token: TokenMeta
    chain_id: int
    feed: str
    told_by: str
    price_now: str
    past: ToldPast


Side = Annotated[Literal["supply", "borrow"], Field(description="What supplying pays, or what borrowing costs.")]
MarketName = Annotated[
    str | None,
    Field(
        max_length=66,
        description="Of a lender with several markets for the token: which. By default the one with most to lend.",
    ),
    PLAIN,
]
_ASKED_MEANING = {
    "supply": "what supplying pays a year as a share of it, compounded, as the lender said once an hour; an hour"
    " without a point was not asked",
    "borrow": "what borrowing costs a year as a share of it, compounded, as the lender said once an hour; an hour"
    " without a point was not asked",
}


@dataclass(frozen=True, slots=True)
class RateHistory:
    """Points are decimal text of what `meaning` says. `market` is null where the token alone names it. `is_asked`: no
    log tells it, so that nothing is known from before it was followed.
    """

    protocol: str
    market: str | None
    token: TokenMeta
    chain_id: int
    side: str
    meaning: str
    is_asked: bool
    is_simulated: bool
    past: ToldPast


@data.read(
    budget=TickBudget.FAST,
    snippet=(
        "feed_history: what a token's price feed answered by hour, day or week, out of this server's own index, and"
        " since when that is known."
    ),
    guidelines=("A feed that was replaced tells its new contract's past alone.",),
)
def data_get_feed_history(
    ctx: ReadContext, token: Token, period: Period = "30d", interval: Interval = "1d"
) -> FeedHistory:
    """Read what the price feed of a token answered in the past.

    Use to compare a price with its past without trusting a pool. Asking has the feed followed by this server's index
    for a while. Does not know what was answered before it was followed and read back, and says so.
    """
    reader = ctx.begin("Reading the feed")
    meta = reader.token(token)
    price = reader.price(meta)
    told_by = find_teller(reader, price.feed)
    ctx.step("Reading what is kept of it")
    scale = 10**price.decimals
    past = tell_past(
        ctx,
        reader,
        PoolId(told_by),
        SourceKind.FEED,
        period=period,
        interval=interval,
        show=lambda answer: decimal_text(answer.numerator, answer.denominator * scale),
    )
    return FeedHistory(meta, reader.chain_id, price.feed, told_by, decimal_text(price.answer, scale), past)


@data.read(
    schema_version=2,
    budget=TickBudget.FAST,
    snippet=(
        "rate_history: what supplying a token paid, what borrowing it cost, or what an issuer's token was worth, by"
        " hour, day or week."
    ),
    guidelines=(
        "A rate that is logged holds until the next one: a time without a point has the one before. One that is asked"
        " for is known in its hour alone.",
    ),
)
def data_get_rate_history(
    ctx: ReadContext,
    protocol: RateTeller,
    token: Token,
    side: Side = "supply",
    market: MarketName = None,
    period: Period = "30d",
    interval: Interval = "1d",
) -> RateHistory:
    """Read the past rates of a lender's market or of an issuer's token.

    Use before supplying or borrowing, to see whether a rate lasts. Asking has it followed by this server's index for
    a while. A lender that logs no rates is asked once an hour from then on.
    Does not know what such a lender's rate was before somebody asked.
    """
    reader = ctx.begin("Reading what is kept")
    meta = reader.token(token)
    tellers = [each for each in SHELF.on(reader.chain_id) if each.rates is not None or each.lending is not None]
    found = next((each for each in tellers if protocol in (each.name, each.name.partition("_")[0])), None)
    told = find_rate_teller(reader, found, meta.address, side, market) if found is not None else None
    if found is None or told is None:
        raise NoPast(
            f"nothing on this chain tells a rate to {side} {meta.symbol} at {market or protocol}",
            choices=[each.name for each in tellers],
        )
    past = tell_past(
        ctx,
        reader,
        told.about,
        told.kind,
        period=period,
        interval=interval,
        show=_show,
        protocol=found.name if told.is_asked else "",
        token=meta.address if told.is_asked else "",
    )
    return RateHistory(
        protocol=found.name,
        market=told.about.text if told.is_asked else None,
        token=meta,
        chain_id=reader.chain_id,
        side=side,
        meaning=told.meaning,
        is_asked=told.is_asked,
        is_simulated=found.is_simulated(reader.chain_id),
        past=past,
    )


class RateTold(NamedTuple):
    """Who tells a rate, and how."""

    about: PoolId
    kind: SourceKind
    meaning: str

    @property
    def is_asked(self) -> bool:
        """Whether the lender is asked, because no log tells it."""
        return self.kind in ASKED_KINDS


def find_rate_teller(
    reader: ChainReader, protocol: ProtocolDef, token: str, side: Side, market: str | None
) -> RateTold | None:
    """The logs that tell the rate of a token at a protocol, else the market that is asked; None where neither is."""
    borrows = side == "borrow"
    logged = protocol.debt_rates if borrows else protocol.rates
    about = logged.about(reader.chain_id, token) if logged is not None and market is None else None
    if logged is not None and about is not None:
        return RateTold(about, SourceKind.DEBT_RATE if borrows else SourceKind.RATE, logged.meaning)
    if logged is not None or protocol.lending is None:
        return None
    offered = drive(protocol.lending.markets(reader.chain_id, token), reader.call_many)
    fitting = [each for each in offered if market in (None, each.market)]
    chosen = max(fitting, key=lambda each: each.liquidity, default=None)
    if chosen is None or (borrows and chosen.borrow_ppm is None):
        return None
    # What is no contract is named within the one that stands for the protocol.
    owns = protocol.owns(reader.chain_id, chosen.market)
    manager = "" if owns else protocol.address(reader.chain_id, protocol.entry) or ""
    kind = SourceKind.ASKED_DEBT_RATE if borrows else SourceKind.ASKED_RATE
    return RateTold(PoolId(chosen.market, manager), kind, _ASKED_MEANING[side])


def _show(rate: Ratio) -> str:
    return decimal_text(rate.numerator, rate.denominator)
