"""What the database holds about one call under judgement, as one value that every hook of a run shares.

Read once for a run of the chain, so that all hooks judge the same moment and a decision costs one round trip.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Protocol

from permits_app.limits.trading_costs import CostsUsed, TradeCost
from permits_app.limits.usage import Usage
from tools_app.toolkit.plan import TokenFlow
from tools_app.toolkit.positions import PositionChange, PositionRef

if TYPE_CHECKING:
    from permits_app.safety.assets import Portfolio

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class PastCall:
    """One call of the loop guard's window: which tool, the hash over tool and parameters that tells equal calls, when
    it was, and the hash that it shares with calls that differ in numbers only; empty for what is no transaction.
    """

    tool_name: str
    action_hash: str
    at: datetime
    alike_hash: str = ""


@dataclass(frozen=True, slots=True)
class VenueOutcome:
    """How one transaction of a golem at a venue ended, and when."""

    succeeded: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class Mark:
    """A golem's high-water mark in micro-USD and when it was last worth so much, a fall from it that its owner has not
    seen, and a pause that may run. `later` are the marks that follow once this one is older than its window: lower and
    younger each, with when it was last worth so much; the last is what was measured last.
    """

    value_micro_usd: int
    reached_at: datetime
    violated_at: datetime | None = None
    violated_bps: int = 0
    paused_until: datetime | None = None
    later: tuple[tuple[int, datetime], ...] = ()


def encode_later(later: Iterable[tuple[int, datetime]]) -> list[list[int]]:
    """`Mark.later` as its row keeps it: micro-USD, and microseconds since 1970."""
    return [[value, (at - _EPOCH) // _MICROSECOND] for value, at in later]


def decode_later(kept: Iterable[Sequence[int]]) -> tuple[tuple[int, datetime], ...]:
    """The reverse."""
    return tuple((value, read_moment(at)) for value, at in kept)


def read_moment(microseconds: int) -> datetime:
    """The moment so many microseconds after the beginning of 1970."""
    return _EPOCH + timedelta(microseconds=microseconds)


@dataclass(frozen=True, slots=True)
class UnderWay:
    """What another permit is doing to the golem's holdings, its outcome not seen yet. `changes` are what it says it
    does to positions. Of one that says nothing, `enters` puts what it spends into `protocol`, into `position_id` or a
    position of its own. `is_started` is off while its permit is open: nobody asked to carry it out yet. `is_ended`:
    its outcome is seen, in a block later than the one that the call is judged by. `is_borrowing`: its tool says that it
    borrows, so that its owners were asked for that.
    """

    spends: Sequence[TokenFlow]
    receives: Sequence[TokenFlow]
    enters: bool = False
    position_id: str = ""
    permit_id: str = ""
    changes: Sequence[PositionChange] = ()
    protocol: str = ""
    is_started: bool = True
    is_ended: bool = False
    is_borrowing: bool = False


@dataclass(frozen=True, slots=True)
class OpenSpend:
    """What the open permits that move no position expect to spend of one token together, in base units, and the first
    of them.
    """

    token: str
    raw: int
    permit_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Records:
    """Sums of the ledger and rows of the past. `earlier` and `predictions` newest first, `outcomes` oldest first.

    `costs`, `predictions`, `rebalances`, `beside` and `positions` are read only for a call they are judged for;
    `beside` is what
    other permits may still do or did in a later block, of which `under_way` is what was started; `open_spends` are the
    open ones of which the tokens they spend are all that counts; `known_code` is keccak-256 by address, `positions` are
    those the account had when last looked at.
    """

    usage: Usage
    costs: CostsUsed = CostsUsed()
    mark: Mark | None = None
    is_conservative: bool = False
    earlier: Sequence[PastCall] = ()
    outcomes: Sequence[VenueOutcome] = ()
    is_venue_tried: bool = False
    rebalances: Sequence[datetime] = ()
    predictions: Sequence[bool] = ()
    known_code: Mapping[str, str] = field(default_factory=dict)
    under_way: Sequence[UnderWay] = ()
    beside: Sequence[UnderWay] = ()
    open_spends: Sequence[OpenSpend] = ()
    positions: Sequence[PositionRef] = ()


class RecordSource(Protocol):
    """Reads the records of one call, once. `known` is what it has read so far; hook 1 leaves its `portfolio` here, and
    hook 3 what its `trade` may cost.
    """

    known: Records | None
    portfolio: Portfolio | None
    trade: TradeCost | None

    def read(self) -> Records: ...
