"""Shares and what they are worth; yield out of rebases; how long the queue takes. Integers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ONE: Final = 10**18
BPS: Final = 10_000
YEAR_SECONDS: Final = 365 * 86_400
SLOTS_PER_EPOCH: Final = 32
SECONDS_PER_SLOT: Final = 12
EXITS_WEI_A_DAY: Final = 57_600 * ONE
"""What Ethereum lets leave at most: 256 ETH an epoch, 225 epochs a day."""
_SWEEP_SECONDS: Final = 4 * 86_400
"""What an exited validator waits until its ether is swept out, about."""
_DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class StakedPool:
    """All shares and all ether of the pool, in base units."""

    total_shares: int
    total_ether: int

    def shares_of(self, ether: int) -> int:
        """Shares that `ether` wei of stETH are, rounded down."""
        return ether * self.total_shares // self.total_ether

    def ether_of(self, shares: int) -> int:
        """Wei that `shares` are worth, rounded down."""
        return shares * self.total_ether // self.total_shares

    @property
    def rate(self) -> int:
        """Wei of a whole share."""
        return self.ether_of(ONE)

    @property
    def dust(self) -> int:
        """Wei that one movement may lose by rounding: less than a share, and less than a wei."""
        return self.total_ether // self.total_shares + 1


@dataclass(frozen=True, slots=True)
class Rebase:
    """One report of the oracle: when, over how many seconds, and the wei of a whole share before and after."""

    timestamp: int
    elapsed: int
    rate_before: int
    rate_after: int
    place: tuple[int, int] = (0, 0)

    @property
    def apr_bps(self) -> int:
        """Simple yearly rate, in basis points; negative after a loss."""
        if self.elapsed <= 0 or self.rate_before <= 0:
            return 0
        return (self.rate_after - self.rate_before) * BPS * YEAR_SECONDS // (self.rate_before * self.elapsed)


@dataclass(frozen=True, slots=True)
class SharesMoved:
    """Shares that came to an account, or left it (negative). `is_sale` is one that left the protocol for good."""

    place: tuple[int, int]
    shares: int
    is_sale: bool = False


@dataclass(frozen=True, slots=True)
class Earned:
    """Yield in wei and the change of a share's worth over the time it was earned in."""

    wei: int
    rate_delta: int
    since_place: tuple[int, int] | None


def rate_change(rebases: Sequence[Rebase], *, since: int) -> int | None:
    """Wei by which a whole share grew since then; None where no report is that young."""
    recent = [each for each in rebases if each.timestamp >= since]
    return recent[-1].rate_after - recent[0].rate_before if recent else None


def yearly_bps(rebases: Sequence[Rebase], *, since: int) -> int | None:
    """Simple yearly rate over the reports since then, in basis points; None without any."""
    recent = [each for each in rebases if each.timestamp >= since]
    elapsed = sum(each.elapsed for each in recent)
    if not recent or elapsed <= 0 or recent[0].rate_before <= 0:
        return None
    grown = recent[-1].rate_after - recent[0].rate_before
    return grown * BPS * YEAR_SECONDS // (recent[0].rate_before * elapsed)


def measure_earned(*, shares_now: int, moves: Sequence[SharesMoved], rebases: Sequence[Rebase]) -> Earned:
    """What the shares an account held at each rebase earned since its last sale, losses subtracted.

    `moves` and `rebases` are of one span, in any order; what was held before it follows from `shares_now`.
    """
    ordered = sorted(moves, key=lambda move: move.place)
    last_sale = max((move.place for move in ordered if move.is_sale), default=None)
    wei, first, last = 0, None, None
    for rebase in sorted(rebases, key=lambda each: each.place):
        if last_sale is not None and rebase.place <= last_sale:
            continue
        held = shares_now - sum(move.shares for move in ordered if move.place > rebase.place)
        wei += held * (rebase.rate_after - rebase.rate_before) // ONE
        first, last = first or rebase, rebase
    delta = last.rate_after - first.rate_before if first and last else 0
    return Earned(wei, delta, last_sale)


def estimate_ready(*, next_report_at: int, queued_wei: int, buffered_wei: int, is_bunker: bool) -> int | None:
    """Unix seconds at which what is last in the queue can be claimed, about; None while nobody can say.

    What is buffered is paid with the next report; the rest needs validators to leave, as fast as the chain lets them.
    """
    if is_bunker:
        return None
    missing = max(0, queued_wei - buffered_wei)
    if not missing:
        return next_report_at
    return next_report_at + _SWEEP_SECONDS + -(-missing * _DAY_SECONDS // EXITS_WEI_A_DAY)
