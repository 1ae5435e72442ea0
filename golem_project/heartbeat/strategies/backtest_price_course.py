"""Reads what the index recorded of feeds and rates as a course for dry runs, and has followed what is not recorded yet.

A price holds until the feed answers again, and a rate until the next one. Nothing is made up: what is not recorded is
said, and a run begins where all of its prices are known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from golem_project.heartbeat.strategies.backtest_market import PlaceKey, PricesAt
from tools_app.core.errors import GolemError
from tools_app.history.index_reads import find_one, read_bars
from tools_app.history.requested_contracts import have_followed
from tools_app.models.history import BarSpan, SourceKind
from tools_app.portfolio.history_from_logs import find_teller
from tools_app.subsystems.data.feed_and_rate_history import find_rate_teller
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.lending import PPM
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import TokenMeta
from tools_app.toolkit.yields import YieldOffer

MOST_TICKS: Final = 720
"""So many ticks a run has at most; of longer times a tick is several hours."""
_LOOK_BACK: Final = timedelta(days=3)
"""A feed answers once a day at the least: what holds at the beginning was said before it."""
_HOUR: Final = timedelta(hours=1)

Course = tuple[list[datetime], list[int]]
"""Ends of hours, and what was told last until then."""


@dataclass(frozen=True, slots=True)
class RecordedPast:
    """`prices` are the ticks of a run, none where a token's price is not recorded. `not_known` says in words what is
    missing, and what is taken in its place.
    """

    prices: tuple[PricesAt, ...]
    not_known: tuple[str, ...]


def read_past(
    reader: ChainReader,
    *,
    tokens: Sequence[TokenMeta],
    offers: Sequence[YieldOffer],
    rotating: str,
    days: int,
    golem_id: UUID,
    now: datetime,
) -> RecordedPast:
    """The last `days` as ticks; `offers` are places of the token `rotating`. Raises the node's errors."""
    since, not_known = now - timedelta(days=days), []
    courses: dict[str, Course] = {}
    for token in tokens:
        try:
            courses[token.symbol] = _read_prices(reader, token, since, golem_id, now)
        except GolemError as error:
            not_known.append(f"{token.symbol} has no price: {error.detail}")
            continue
        if not courses[token.symbol][0]:
            not_known.append(f"Prices of {token.symbol} are not recorded yet; they are from now on.")
    if len(courses) < len(tokens) or any(not times for times, _ in courses.values()):
        return RecordedPast((), tuple(not_known))
    first = max(times[0] for times, _ in courses.values())
    begins = max(since, first)
    if begins - since > _HOUR:
        not_known.append(f"All of the prices are known since {begins:%Y-%m-%d %H:%M} UTC: the run begins there.")
    rates = _read_rates(reader, offers, rotating, since, golem_id, now, not_known)
    return RecordedPast(tuple(_tick(begins, now, courses, rates)), tuple(not_known))


def _tick(
    begins: datetime, ends: datetime, courses: Mapping[str, Course], rates: Mapping[PlaceKey, Course]
) -> list[PricesAt]:
    step = _HOUR * max(1, -(-int((ends - begins) / _HOUR) // MOST_TICKS))
    found, at = [], begins
    while at <= ends:
        prices = {symbol: told for symbol, course in courses.items() if (told := _told_at(course, at)) is not None}
        paid = {key: told for key, course in rates.items() if (told := _told_at(course, at)) is not None}
        found.append(PricesAt(at, prices, paid))
        at += step
    return found


def _told_at(course: Course, at: datetime) -> int | None:
    times, values = course
    place = bisect_right(times, at)
    return values[place - 1] if place else None


def _read_prices(reader: ChainReader, token: TokenMeta, since: datetime, golem_id: UUID, now: datetime) -> Course:
    price = reader.price(token)
    about = PoolId(find_teller(reader, price.feed))
    return _read(reader.chain_id, about, SourceKind.FEED, 10**6, 10**price.decimals, since, golem_id, now)


def _read_rates(
    reader: ChainReader,
    offers: Sequence[YieldOffer],
    token: str,
    since: datetime,
    golem_id: UUID,
    now: datetime,
    not_known: list[str],
) -> dict[PlaceKey, Course]:
    found: dict[PlaceKey, Course] = {}
    for offer in offers:
        protocol = SHELF.get(offer.protocol)
        told = None
        if protocol is not None and protocol.lending is not None:
            told = find_rate_teller(reader, protocol, token, "supply", None)
        if told is not None:
            asked = (offer.protocol, token) if told.is_asked else ("", "")
            course = _read(reader.chain_id, told.about, told.kind, PPM, 1, since, golem_id, now, *asked)
            if course[0]:
                found[(offer.protocol, offer.place)] = course
                continue
        not_known.append(
            f"What {offer.label} paid is not recorded: it is taken as now, {(offer.yearly_ppm or 0) / 10_000:.2f}%."
        )
    return found


def _read(
    chain_id: int,
    about: PoolId,
    kind: SourceKind,
    times: int,
    over: int,
    since: datetime,
    golem_id: UUID,
    now: datetime,
    protocol: str = "",
    token: str = "",
) -> Course:
    """What the index has of a figure, scaled; it is followed from now on."""
    kept = find_one(chain_id, about, kind)
    have_followed(chain_id, about, kind, golem_id=golem_id, now=now, protocol=protocol, token=token)
    if kept is None:
        return [], []
    ends: list[datetime] = []
    values: list[int] = []
    for bar in read_bars(kept, BarSpan.HOUR, since=since - _LOOK_BACK, until=now):
        if bar.close is not None:
            ends.append(min(bar.starts_at + bar.length, now))
            values.append(bar.close.numerator * times // (bar.close.denominator * over))
    return ends, values
