"""What a tick saw, as its record keeps it (`CycleState.as_probes`) and its readers take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class RecordedRange:
    """A position in a range of prices; amounts are decimal text in base units or micro-USD."""

    in_range: bool
    liquidity: str
    position_id: str | None = None
    venue: str | None = None
    pool_tick: int | None = None
    tick_lower: int | None = None
    tick_upper: int | None = None
    fees_micro_usd: str | None = None


@dataclass(frozen=True, slots=True)
class LockedPart:
    """A token of a position that cannot be taken out now; `raw` is decimal text in base units."""

    token: str
    raw: str
    reason: str


@dataclass(frozen=True, slots=True)
class RecordedHolding:
    """A position of any protocol; `debt_micro_usd` is decimal text, `free_at` in Unix seconds."""

    position: str = ""
    label: str = ""
    debt_micro_usd: str = "0"
    health_bps: int | None = None
    free_at: int | None = None
    locked: tuple[LockedPart, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedOracleFailure:
    """An oracle that gives no price of what is held."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class RecordedToken:
    """A token that left its peg or stands still, in words."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class StuckRight:
    """A right over another's money that gives nothing now."""

    principal: str
    name: str
    words: str


@dataclass(frozen=True, slots=True)
class RecordedMarket:
    """What was not known of the market that was to be entered."""

    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedProbes:
    """What a tick saw; a member that nothing was to be said of lacks in the record."""

    block_number: int | None = None
    deviation_bps: int | None = None
    positions: tuple[RecordedRange, ...] = ()
    held_elsewhere: tuple[RecordedHolding, ...] = ()
    locked_positions: tuple[RecordedHolding, ...] = ()
    failed_oracles: tuple[RecordedOracleFailure, ...] = ()
    off_peg: tuple[RecordedToken, ...] = ()
    standing_still: tuple[RecordedToken, ...] = ()
    stuck_rights: tuple[StuckRight, ...] = ()
    known_market: RecordedMarket | None = None


def read_probes(stored: Mapping[str, object]) -> RecordedProbes:
    """Read the probes of a record. Raises ValueError naming the member that is none of its type."""
    return read_stored(RecordedProbes, stored)
