"""`data_get_feed_history` and `data_get_rate_history`: what price feeds, lenders and issuers told, out of the index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from tools_app.core.ratio import Ratio, decimal_text
from tools_app.models.history import SourceKind
from tools_app.portfolio.told_past import Interval, NoPast, Period, ToldPast, find_teller, tell_past
from tools_app.subsystems.data.family import data
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import Token
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.spelling import Meaning
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


@dataclass(frozen=True, slots=True)
class RateHistory:
    """Points are decimal text of what `meaning` says."""

    protocol: str
    token: TokenMeta
    chain_id: int
    meaning: str
    is_simulated: bool
    past: ToldPast


@data.read(
    query="feed_history",
    budget=TickBudget.FAST,
    steps=("Reading the feed", "Reading what is kept of it"),
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
    reader = ctx.chain()
    ctx.step("Reading the feed")
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
    query="rate_history",
    budget=TickBudget.FAST,
    steps=("Reading what is kept",),
    snippet=("rate_history: what supplying a token paid, or what an issuer's token was worth, by hour, day or week."),
    guidelines=("A rate holds until the next one is told: an hour or a day without a point has the one before.",),
)
def data_get_rate_history(
    ctx: ReadContext, protocol: RateTeller, token: Token, period: Period = "30d", interval: Interval = "1d"
) -> RateHistory:
    """Read the past rates of a lender's market or of an issuer's token.

    Use before supplying, to see whether a rate lasts. Asking has it followed by this server's index for a while.
    Does not tell rates of lenders whose contracts log none; it refuses them by name.
    """
    reader = ctx.chain()
    ctx.step("Reading what is kept")
    meta = reader.token(token)
    tellers = [each for each in SHELF.on(reader.chain_id) if each.rates is not None]
    found = next((each for each in tellers if protocol in (each.name, each.name.partition("_")[0])), None)
    rates = found.rates if found is not None else None
    about = rates.about(reader.chain_id, meta.address) if rates is not None else None
    if found is None or rates is None or about is None:
        raise NoPast(
            f"no log on this chain tells a rate of {meta.symbol} at {protocol}", choices=[each.name for each in tellers]
        )
    past = tell_past(ctx, reader, about, SourceKind.RATE, period=period, interval=interval, show=_show)
    return RateHistory(found.name, meta, reader.chain_id, rates.meaning, found.is_simulated(reader.chain_id), past)


def _show(rate: Ratio) -> str:
    return decimal_text(rate.numerator, rate.denominator)
