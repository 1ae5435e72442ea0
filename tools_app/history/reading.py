"""Reads what is kept: bars with what is known of them, and the last 24 hours of pools without asking a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.db import connection

from tools_app.core.ratio import Ratio
from tools_app.history.meanings import PRICE_UNIT
from tools_app.models.history import BarSpan, ChainLog, FollowedChain, LogGap, LogSource

# Written as text: 97 digits are a string sooner than a number.
_BARS: Final = """
SELECT starts_at, open_x192::text, high_x192::text, low_x192::text, close_x192::text, in0::text, in1::text, trades
FROM tools_app_pricebar
WHERE source_id = %s AND span = %s AND starts_at >= %s AND starts_at < %s
ORDER BY starts_at
"""
_LENGTH: Final = {BarSpan.HOUR: timedelta(hours=1), BarSpan.DAY: timedelta(days=1)}


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


class Bar(NamedTuple):
    """One bar, as the database writes it: its numbers are read when they are looked at, for a year has 70,000 of them.

    Prices are ratios of base units, None without a trade; `paid_in` is in base units of both tokens.
    """

    starts_at: datetime
    open_x192: str | None
    high_x192: str | None
    low_x192: str | None
    close_x192: str | None
    in0: str
    in1: str
    trades: int
    kept: Kept
    length: timedelta

    @property
    def prices(self) -> tuple[Ratio | None, ...]:
        """The first, the highest, the lowest and the last one."""
        return tuple(
            None if x192 is None else Ratio(int(x192), PRICE_UNIT)
            for x192 in (self.open_x192, self.high_x192, self.low_x192, self.close_x192)
        )

    @property
    def paid_in(self) -> tuple[int, int]:
        """Of token0 and token1."""
        return int(self.in0), int(self.in1)

    @property
    def is_whole(self) -> bool:
        """Whether no block of it is missing."""
        return self.kept.is_whole(self.starts_at, self.starts_at + self.length)


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
    with connection.cursor() as cursor:
        cursor.execute(_BARS, [kept.source_id, span.value, since, until])
        rows = cursor.fetchall()
    length = _LENGTH[span]
    return [Bar._make((*row, kept, length)) for row in rows]


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
