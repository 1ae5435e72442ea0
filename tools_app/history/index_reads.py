"""Reads what is kept: bars with what is known of them, logs, prices, and 24 hours of pools; no node is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, overload

from django.db import connection

from tools_app.core.ratio import Ratio
from tools_app.history.log_meanings import PRICE_UNIT
from tools_app.models.history import BarSpan, ChainLog, FollowedChain, LogGap, LogSource, SourceKind
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import LogEntry

# One text for all of them: a row of its own for each, and eight values in it, cost several times as much.
_BARS: Final = """
SELECT string_agg(
    concat_ws(
        ',', extract(epoch FROM starts_at)::bigint, coalesce(open_x192::text, ''), coalesce(high_x192::text, ''),
        coalesce(low_x192::text, ''), coalesce(close_x192::text, ''), in0, in1, trades
    ), ';'
)
FROM (
    SELECT * FROM tools_app_pricebar
    WHERE source_id = %s AND span = %s AND starts_at >= %s AND starts_at < %s
    ORDER BY starts_at
) bar
"""
_TRADES: Final = """
SELECT block_number, extract(epoch FROM block_time)::bigint, price_x192::text, in0::text, in1::text
FROM tools_app_chainlog
WHERE source_id = %s AND block_time >= %s AND block_number <= %s
ORDER BY block_time DESC, block_number DESC, log_index DESC LIMIT %s
"""
_LENGTH: Final = {BarSpan.HOUR: timedelta(hours=1), BarSpan.DAY: timedelta(days=1)}


@dataclass(frozen=True, slots=True)
class Missing:
    """A stretch of time of which nothing was read: `since` is None from the chain's beginning on."""

    since: datetime | None
    until: datetime


@dataclass(frozen=True, slots=True)
class KeptContract:
    """What is kept of a contract, or of a pool within its `manager`.

    It is without a gap from `known_since` to `known_until`; `missing` are the gaps that lie before.
    `topics` are the first topics that are read of it; logs from before `logs_since` may have been let go.
    `is_turned`: its logs tell a pool's tokens the other way round, and what is read of them is turned.
    """

    source_id: int
    known_since: datetime
    known_until: datetime
    missing: tuple[Missing, ...]
    next_block: int
    manager: str = ""
    topics: frozenset[str] = frozenset()
    logs_since: datetime | None = None
    is_turned: bool = False

    def is_whole(self, starts_at: datetime, ends_at: datetime) -> bool:
        """Whether every block between the two was read."""
        if ends_at > self.known_until:
            return False
        return not any(gap.until >= starts_at and (gap.since is None or gap.since < ends_at) for gap in self.missing)

    def has_logs(self, since: datetime) -> bool:
        """Whether every log from `since` to where the chain was read is kept; bars outlive their logs."""
        if since > self.known_until or (self.logs_since is not None and since < self.logs_since):
            return False
        return self.is_whole(since, self.known_until)


@dataclass(frozen=True, slots=True)
class IndexedBar:
    """One bar. Prices are ratios of base units, None without a trade; `paid_in` is base units of both tokens."""

    starts_at: datetime
    length: timedelta
    prices: tuple[Ratio | None, Ratio | None, Ratio | None, Ratio | None]
    paid_in: tuple[int, int]
    trades: int
    is_whole: bool
    """Whether no block of it is missing."""

    @property
    def close(self) -> Ratio | None:
        """The last price in it."""
        return self.prices[3]


class Bars(Sequence[IndexedBar]):
    """Bars in order, as the database wrote them: each is read when it is looked at, for a year has 9,000 of them."""

    def __init__(self, kept: KeptContract, span: BarSpan, text: str) -> None:
        self._kept = kept
        self._length = _LENGTH[span]
        self._rows = text.split(";") if text else []

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> IndexedBar: ...

    @overload
    def __getitem__(self, index: slice) -> list[IndexedBar]: ...

    def __getitem__(self, index: int | slice) -> IndexedBar | list[IndexedBar]:
        if isinstance(index, slice):
            return [self._read(row) for row in self._rows[index]]
        return self._read(self._rows[index])

    def _read(self, row: str) -> IndexedBar:
        starts, opened, high, low, close, in0, in1, trades = row.split(",")
        starts_at = datetime.fromtimestamp(int(starts), UTC)
        is_turned = self._kept.is_turned
        # What was highest is lowest the other way round.
        edges = (opened, low, high, close) if is_turned else (opened, high, low, close)
        first, highest, lowest, last = (_price(each, is_turned=is_turned) for each in edges)
        return IndexedBar(
            starts_at,
            self._length,
            (first, highest, lowest, last),
            (int(in1), int(in0)) if is_turned else (int(in0), int(in1)),
            int(trades),
            self._kept.is_whole(starts_at, starts_at + self._length),
        )


def _price(x192: str, *, is_turned: bool = False) -> Ratio | None:
    """None too for a price that is nothing the other way round."""
    if not x192 or (is_turned and not int(x192)):
        return None
    found = Ratio(int(x192), PRICE_UNIT)
    return found.inverse() if is_turned else found


@dataclass(frozen=True, slots=True)
class KeptDay:
    """What is kept of a pool since a moment: base units paid in, trades, prices in order, and the price before."""

    in0: int
    in1: int
    trades: int
    prices: tuple[Ratio, ...]
    before: Ratio


class KeptTrade(NamedTuple):
    """What one log of a pool says: the price after it and what was paid in; None where it says nothing."""

    block: int
    time: int
    price: Ratio | None
    in0: int | None
    in1: int | None


def find_kept(chain_id: int, addresses: Sequence[str]) -> dict[str, KeptContract]:
    """What is kept of these pools; one that is not followed is left out."""
    named = LogSource.objects.filter(chain_id=chain_id, address__in=addresses, kind=SourceKind.POOL)
    found = _describe(chain_id, named)
    return {about.text: kept for about, kept in found.items()}


def is_any_kept(chain_id: int, kind: SourceKind) -> bool:
    """Whether anything of that kind is followed on a chain."""
    return LogSource.objects.filter(chain_id=chain_id, kind=kind).exists()


def find_one(chain_id: int, about: PoolId, kind: SourceKind) -> KeptContract | None:
    """What is kept of this figure of what `about` names; None where it is not followed."""
    named = LogSource.objects.filter(chain_id=chain_id, address=about.text, manager=about.manager, kind=kind)
    return _describe(chain_id, named).get(about)


def _describe(chain_id: int, followed: Iterable[LogSource]) -> dict[PoolId, KeptContract]:
    sources = {source.pk: source for source in followed}
    if not sources:
        return {}
    place = FollowedChain.objects.get(pk=chain_id)
    gaps: dict[int, list[Missing]] = {}
    for gap in LogGap.objects.filter(source__in=sources).order_by("to_block"):
        gaps.setdefault(gap.source_id, []).append(Missing(gap.since_time, gap.until_time))
    return {
        source.told_by: KeptContract(
            source_id=source.pk,
            known_since=max((each.until for each in gaps.get(source.pk, ())), default=source.kept_from),
            known_until=place.head_time,
            missing=tuple(gaps.get(source.pk, ())),
            next_block=place.next_block,
            manager=source.manager,
            topics=frozenset(source.topics),
            logs_since=source.kept_from,
        )
        for source in sources.values()
    }


def read_bars(kept: KeptContract, span: BarSpan, *, since: datetime, until: datetime) -> Bars:
    """The bars that begin from `since` on and before `until`, in order."""
    with connection.cursor() as cursor:
        cursor.execute(_BARS, [kept.source_id, span.value, since, until])
        (text,) = cursor.fetchone()
    return Bars(kept, span, text or "")


def read_since(kept: KeptContract, since: datetime, *, until_block: int) -> KeptDay | None:
    """What happened from `since` on, up to a block; None unless all of it and the price before it are kept."""
    if not kept.has_logs(since):
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
    paid = (sum(paid for paid, _ in trades), sum(paid for _, paid in trades))
    if kept.is_turned:
        paid = paid[::-1]
    told = (_price(str(price), is_turned=kept.is_turned) for price, _, _ in rows if price is not None)
    last = _price(str(before), is_turned=kept.is_turned)
    if last is None:
        return None
    return KeptDay(
        in0=paid[0],
        in1=paid[1],
        trades=len(trades),
        prices=tuple(price for price in told if price is not None),
        before=last,
    )


def read_price_at(kept: KeptContract, moment: datetime) -> Ratio | None:
    """What was last told before a moment; None where a block since then is missing, or nothing was told."""
    if moment > kept.known_until:
        return None
    row = (
        ChainLog.objects.filter(source_id=kept.source_id, block_time__lte=moment, price_x192__isnull=False)
        .order_by("-block_time", "-block_number", "-log_index")
        .values_list("block_time", "price_x192")
        .first()
    )
    if row is None or row[1] is None or not kept.is_whole(row[0], moment):
        return None
    return Ratio(int(row[1]), PRICE_UNIT)


def read_logs(kept: KeptContract, address: str, *, since: datetime, until_block: int, most: int) -> Sequence[LogEntry]:
    """The newest logs that are kept of a contract since a moment, oldest first."""
    rows = ChainLog.objects.filter(
        source_id=kept.source_id, block_time__gte=since, block_number__lte=until_block
    ).order_by("-block_time", "-block_number", "-log_index")[:most]
    return [
        LogEntry(
            address=address,
            topics=tuple("0x" + bytes(row.topics)[at : at + 32].hex() for at in range(0, len(row.topics), 32)),
            data="0x" + bytes(row.data).hex(),
            block_number=row.block_number,
            tx_hash="0x" + bytes(row.tx_hash).hex(),
            log_index=row.log_index,
        )
        for row in reversed(rows)
    ]


def read_trades(kept: KeptContract, since: datetime, *, until_block: int, most: int) -> list[KeptTrade]:
    """What the logs from `since` up to a block say, the newest `most` of them, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(_TRADES, [kept.source_id, since, until_block, most])
        rows = cursor.fetchall()
    found = []
    for block, time, x192, in0, in1 in reversed(rows):
        paid = (int(in0) if in0 else None, int(in1) if in1 else None)
        price = _price(x192 or "", is_turned=kept.is_turned)
        found.append(KeptTrade(block, time, price, *(paid[::-1] if kept.is_turned else paid)))
    return found
