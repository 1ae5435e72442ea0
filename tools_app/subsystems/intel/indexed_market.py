"""Reads from the index what is known of a pool: its regime, order flow and depth.

The index alone is read, so that whoever decides in a hurry can ask. A figure that is missing is told with the reason,
and is never a reason for anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_micro_usd, value_in_micro_usd
from tools_app.history.index_reads import KeptContract, read_bars
from tools_app.models.history import BarSpan
from tools_app.portfolio.markets import markets_on
from tools_app.portfolio.pool_history import NOT_FOLLOWED, find_kept_pool, read_kept_past
from tools_app.subsystems.intel import flow_maths
from tools_app.subsystems.intel.figure_basis import LITTLE, show
from tools_app.subsystems.intel.regime_maths import (
    LEAST_HOURS,
    WEEK_HOURS,
    close_hours,
    list_drifts,
    list_moves,
    name_regime,
)
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool

FLOW_HOURS: Final = 24
LATEST: Final = timedelta(hours=1)
"""An index that was read no further than this before now tells nothing of now."""
_MOST_TRADES: Final = 5_000
_BUCKETS: Final = 50
_HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class DayFlow:
    """Order flow of a day: VPIN beside what chance alone would show, over so many trades."""

    vpin: float
    by_chance: float
    trades: int


@dataclass(frozen=True, slots=True)
class KnownMarket:
    """What is known of one pool. `missing` says what is not, each with its reason."""

    pool: str
    is_followed: bool = False
    regime: str | None = None
    flow: DayFlow | None = None
    worth_micro_usd: int | None = None
    missing: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        """As a record keeps it: figures as decimal text."""
        told: Mapping[str, object] = {
            "pool": self.pool,
            "regime": self.regime,
            "vpin": show(self.flow.vpin) if self.flow is not None else None,
            "vpin_by_chance": show(self.flow.by_chance) if self.flow is not None else None,
            "trades_24h": self.flow.trades if self.flow is not None else None,
            "worth": format_micro_usd(self.worth_micro_usd) if self.worth_micro_usd is not None else None,
            "missing": list(self.missing),
        }
        return dict(told)


def read_known_market(reader: ChainReader, pool: Pool, *, with_depth: bool = True) -> KnownMarket:
    """What is known of `pool` at the reader's block. Never raises GolemError."""
    markets = markets_on(reader.chain_id).of_pool(pool)
    kept = None
    if markets.why_not_counted(pool) is None:
        kept = find_kept_pool(reader.chain_id, pool.pool_id, is_turned=markets.is_turned(pool))
    regime, flow, missing = _read_past(reader, kept)
    worth = _weigh(reader, pool) if with_depth else None
    if with_depth and worth is None:
        missing = (*missing, "depth: what lies in the pool has no price")
    return KnownMarket(pool.id, kept is not None, regime, flow, worth, missing)


def _read_past(reader: ChainReader, kept: KeptContract | None) -> tuple[str | None, DayFlow | None, tuple[str, ...]]:
    now = datetime.fromtimestamp(reader.block.timestamp, UTC)
    if kept is None:
        return None, None, (f"regime and order flow: {NOT_FOLLOWED}",)
    if now - kept.known_until > LATEST:
        return None, None, (f"regime and order flow: the index was read up to {kept.known_until:%Y-%m-%d %H:%M} UTC",)
    missing = []
    regime, hours = _read_regime(kept, now)
    if regime is None:
        missing.append(f"regime: prices of {hours} hours are known, and it takes {LEAST_HOURS}")
    flow, trades = _read_flow(kept, now, reader.block.number)
    if flow is None:
        because = "a block of them was not read" if trades is None else f"{trades} trades, and it takes {LITTLE}"
        missing.append(f"order flow of {FLOW_HOURS} hours: {because}")
    return regime, flow, tuple(missing)


def _read_regime(kept: KeptContract, now: datetime) -> tuple[str | None, int]:
    """The regime of the hours of which nothing is missing, a week of them at most; and how many have a price."""
    running = now.replace(minute=0, second=0, microsecond=0)
    first = running - (WEEK_HOURS - 1) * _HOUR
    # The first whole hour after what is missing.
    known = (kept.known_since + _HOUR - timedelta(microseconds=1)).replace(minute=0, second=0, microsecond=0)
    since = max(first, known)
    bars = read_bars(kept, BarSpan.HOUR, since=since, until=now)
    prices = [
        (int(bar.starts_at.timestamp()), bar.close.numerator / bar.close.denominator)
        for bar in bars
        if bar.close is not None and bar.close.numerator
    ]
    closes = close_hours(prices, since=int(since.timestamp()), hours=int((running - since) / _HOUR) + 1)
    if len(closes) < LEAST_HOURS:
        return None, len(closes)
    return name_regime(list_drifts(list_moves(closes))[-1]), len(closes)


def _read_flow(kept: KeptContract, now: datetime, block: int) -> tuple[DayFlow | None, int | None]:
    """The order flow of the last day; else how many trades there were, None where some of it was not read."""
    past = read_kept_past(kept, since=now - timedelta(hours=FLOW_HOURS), until_block=block, most=_MOST_TRADES)
    if past is None:
        return None, None
    volumes = flow_maths.signed_volumes(past.trades)
    if len(volumes) < LITTLE or not any(volumes):
        return None, len(volumes)
    found = flow_maths.compute_vpin(volumes, _BUCKETS)
    return DayFlow(found.value, found.by_chance, len(volumes)), len(volumes)


def _weigh(reader: ChainReader, pool: Pool) -> int | None:
    """Micro-USD of what lies in it at the feeds, which no trade moves; None where it cannot be told."""
    try:
        held = markets_on(reader.chain_id).depth(reader, [pool])[pool.id]
        tokens = [reader.token(pool.token0), reader.token(pool.token1)]
        prices = [reader.price(token) for token in tokens]
    except GolemError:
        return None
    return sum(
        value_in_micro_usd(raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals)
        for raw, token, price in zip(held, tokens, prices, strict=True)
    )
