"""`intel_get_market_sentiment`: fear and greed, open interest and funding, each with its source and its time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from pydantic import Field, RootModel

from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.outside_figures import Shape, as_text, change_in_percent, read_or_reason
from tools_app.subsystems.intel.services import FEAR_AND_GREED, FUTURES
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.foreign_text import ForeignText, mark_foreign
from tools_app.toolkit.outside_services import OutsideSource, Question, ServiceAnswerRefused, ask, say_age

SYMBOLS: Final = ("BTCUSDT", "ETHUSDT")
OLDEST_INDEX: Final = timedelta(hours=36)
"""The index is of a day; one of the day before yesterday is none."""
_KEPT_SECONDS: Final = 300
_SECONDS: Final = 2.0
_FEARFUL, _GREEDY = 25, 75


class IndexOfDay(Shape):
    value: int = Field(ge=0, le=100)
    value_classification: str
    timestamp: int


class FearAndGreed(Shape):
    data: list[IndexOfDay] = Field(min_length=1)


class Premium(Shape):
    symbol: str
    last_funding_rate: Decimal = Field(alias="lastFundingRate")
    time: int


class OpenInterest(Shape):
    symbol: str
    value_usd: Decimal = Field(alias="sumOpenInterestValue")
    timestamp: int


class OpenInterests(RootModel[list[OpenInterest]]):
    """One figure a day, the oldest first."""


@dataclass(frozen=True, slots=True)
class Sentiment:
    """What `intel_get_market_sentiment` answers. A figure no source gave is null, and its `_reason` says why.

    Percent as decimal text; funding is of eight hours, the mean of the symbols that are named.
    """

    fear_greed_index: int | None
    fear_greed_label: ForeignText | None
    fear_greed_at: str | None
    fear_greed_reason: str
    open_interest_change_24h_pct: str | None
    funding_rate_aggregate: str | None
    futures_symbols: tuple[str, ...]
    futures_reason: str
    regime_hint: str | None
    regime_hint_reason: str
    sources: tuple[OutsideSource, ...]


@intel.read(
    budget=TickBudget.SLOW,
    aliases=("get_market_sentiment",),
    snippet="market_sentiment: fear and greed of the day, open interest and funding of futures, each with its source.",
    guidelines=("Sentiment explains a market and decides nothing; limits and quotes decide.",),
)
def intel_get_market_sentiment(ctx: ReadContext) -> Sentiment:
    """Read what others say of the market's mood: the Fear and Greed Index, open interest and funding of futures.

    Use for a look around before a plan. `regime_hint` is this server's own word for the index alone: fearful up to 25,
    greedy from 75 on, else neutral. A source that is off or fails leaves its figures null with the reason.
    Does not predict, and no rule allows anything because of it.
    """
    ctx.step("Asking for the index")
    index, index_reason = read_or_reason(lambda: _ask_index(ctx))
    ctx.step("Asking for futures")
    futures, futures_reason = read_or_reason(lambda: _ask_futures(ctx))
    hint = None
    if index is not None:
        hint = "fearful" if index[0].value <= _FEARFUL else "greedy" if index[0].value >= _GREEDY else "neutral"
    return Sentiment(
        fear_greed_index=index[0].value if index is not None else None,
        fear_greed_label=mark_foreign(index[0].value_classification, most=40) if index is not None else None,
        fear_greed_at=_say_time(index[0].timestamp) if index is not None else None,
        fear_greed_reason=index_reason,
        open_interest_change_24h_pct=futures[0] if futures is not None else None,
        funding_rate_aggregate=futures[1] if futures is not None else None,
        futures_symbols=SYMBOLS if futures is not None else (),
        futures_reason=futures_reason,
        regime_hint=hint,
        regime_hint_reason="" if hint is not None else "it is read from the index, and there is none",
        sources=(*([index[1]] if index is not None else []), *(futures[2] if futures is not None else ())),
    )


def _ask_index(ctx: ReadContext) -> tuple[IndexOfDay, OutsideSource]:
    question = Question(
        "GET", "/fng/", FearAndGreed, query=(("limit", "1"),), kept_seconds=_KEPT_SECONDS, seconds=_SECONDS
    )
    answer = ask(ctx, FEAR_AND_GREED, question)
    newest = answer.value.data[0]
    age = say_age(datetime.fromtimestamp(newest.timestamp, UTC), ctx.now)
    if age > OLDEST_INDEX.total_seconds():
        raise ServiceAnswerRefused(f"the newest index is {age // 3_600} hours old", age_seconds=age)
    return newest, answer.source


def _ask_futures(ctx: ReadContext) -> tuple[str | None, str | None, tuple[OutsideSource, ...]]:
    before = after = Decimal(0)
    rates, sources = [], []
    for symbol in SYMBOLS:
        premium = ask(
            ctx,
            FUTURES,
            Question(
                "GET",
                "/fapi/v1/premiumIndex",
                Premium,
                query=(("symbol", symbol),),
                kept_seconds=_KEPT_SECONDS,
                seconds=_SECONDS,
            ),
        )
        interest = ask(
            ctx,
            FUTURES,
            Question(
                "GET",
                "/futures/data/openInterestHist",
                OpenInterests,
                query=(("symbol", symbol), ("period", "1h"), ("limit", "25")),
                kept_seconds=_KEPT_SECONDS,
                seconds=_SECONDS,
            ),
        )
        days = interest.value.root
        if premium.value.symbol != symbol or len(days) != 25 or any(each.symbol != symbol for each in days):
            raise ServiceAnswerRefused(f"the figures are not of {symbol}, or not of 24 hours")
        if say_age(datetime.fromtimestamp(days[-1].timestamp / 1_000, UTC), ctx.now) > 2 * 3_600:
            raise ServiceAnswerRefused(f"the newest open interest of {symbol} is older than two hours")
        before, after = before + days[0].value_usd, after + days[-1].value_usd
        rates.append(premium.value.last_funding_rate)
        sources += [premium.source, interest.source]
    mean = sum(rates, Decimal(0)) / len(rates)
    return change_in_percent(float(before), float(after)), as_text(float(mean * 100), digits=6), tuple(sources)


def _say_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
