"""Reads what is kept: bars with what is known of them, and the last 24 hours of pools without asking a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from tools_app.core.ratio import Ratio
from tools_app.history.meanings import PRICE_UNIT
from tools_app.models.history import BarSpan, ChainLog, FollowedChain, LogGap, LogSource, PriceBar

_LENGTH: Final = {BarSpan.HOUR: timedelta(hours=1), BarSpan.DAY: timedelta(days=1)}


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar. Prices are ratios of base units, None without a trade. `is_whole`: no block of it is missing."""

    starts_at: datetime
    open: Ratio | None
    high: Ratio | None
    low: Ratio | None
    close: Ratio | None
    in0: int
    in1: int
    trades: int
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """A stretch of time of which nothing was read: `since` is None from the chain's beginning on."""

    since: datetime | None
    until: datetime


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a contract: without a gap from `known_since` to `known_until`, and which gaps lie before."""

    source_id: int
    known_since: datetime
    known_until: datetime
    missing: tuple[Missing, ...]
    next_block: int

    def is_whole(self, starts_at: datetime, ends_at: datetime) -> bool:
        """Whether every block between the two was read."""
        if ends_at > self.known_until:
            return False
        return not any(gap.until >= starts_at and (gap.since is None or gap.since < ends_at) for gap in self.missing)


@dataclass(frozen=True, slots=True)
class KeptDay:
    """What is kept of a pool since a moment: base units paid in, trades, prices in order, and the price before."""

    in0: int
    in1: int
    trades: int
    prices: tuple[Ratio, ...]
    before: Ratio


def find_kept(chain_id: int, addresses: Sequence[str]) -> dict[str, Kept]:
    """What is kept of these contracts; one that is not followed is left out."""
    sources = {source.pk: source for source in LogSource.objects.filter(chain_id=chain_id, address__in=addresses)}
    if not sources:
        return {}
    place = FollowedChain.objects.get(pk=chain_id)
    gaps: dict[int, list[Missing]] = {}
    for gap in LogGap.objects.filter(source__in=sources).order_by("to_block"):
        gaps.setdefault(gap.source_id, []).append(Missing(gap.since_time, gap.until_time))
    return {
        source.address: Kept(
            source_id=source.pk,
            known_since=max((each.until for each in gaps.get(source.pk, ())), default=source.kept_from),
            known_until=place.head_time,
            missing=tuple(gaps.get(source.pk, ())),
            next_block=place.next_block,
        )
        for source in sources.values()
    }


def read_bars(kept: Kept, span: BarSpan, *, since: datetime, until: datetime) -> list[Bar]:
    """The bars that begin from `since` on and before `until`, in order."""
    rows = (
        PriceBar.objects.filter(source_id=kept.source_id, span=span, starts_at__gte=since, starts_at__lt=until)
        .order_by("starts_at")
        .values_list("starts_at", "open_x192", "high_x192", "low_x192", "close_x192", "in0", "in1", "trades")
    )
    length = _LENGTH[span]
    return [
        Bar(
            starts_at=starts,
            open=_price(first),
            high=_price(high),
            low=_price(low),
            close=_price(last),
            in0=int(in0),
            in1=int(in1),
            trades=trades,
            is_whole=kept.is_whole(starts, starts + length),
        )
        for starts, first, high, low, last, in0, in1, trades in rows.iterator()
    ]


def read_since(kept: Kept, since: datetime, *, until_block: int) -> KeptDay | None:
    """What happened from `since` on, up to a block; None unless all of it and the price before it are kept."""
    if not kept.is_whole(since, kept.known_until) or since > kept.known_until:
        return None
    kept_logs = ChainLog.objects.filter(source_id=kept.source_id)
    before = (
        kept_logs.filter(block_time__lt=since, block_time__gte=kept.known_since, price_x192__isnull=False)
        .order_by("-block_time", "-block_number", "-log_index")
        .values_list("price_x192", flat=True)
        .first()
    )
    if before is None:
        return None
    rows = list(
        kept_logs.filter(block_time__gte=since, block_number__lte=until_block)
        .order_by("block_time", "block_number", "log_index")
        .values_list("price_x192", "in0", "in1")
    )
    trades = [(int(in0), int(in1)) for _, in0, in1 in rows if in0 is not None and in1 is not None]
    return KeptDay(
        in0=sum(paid for paid, _ in trades),
        in1=sum(paid for _, paid in trades),
        trades=len(trades),
        prices=tuple(Ratio(int(price), PRICE_UNIT) for price, _, _ in rows if price is not None),
        before=Ratio(int(before), PRICE_UNIT),
    )


def _price(x192: Any) -> Ratio | None:
    # Any: a Decimal of the database.
    return None if x192 is None else Ratio(int(x192), PRICE_UNIT)
