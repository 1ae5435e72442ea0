"""rETH and its worth, as the network reported it last. Integers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ONE: Final = 10**18
BPS: Final = 10_000
YEAR_SECONDS: Final = 365 * 86_400


@dataclass(frozen=True, slots=True)
class Rate:
    """Wei of a whole rETH, and the share of 1e18 that is kept of a deposit."""

    wei: int
    fee: int = 0

    def ether_of(self, amount: int) -> int:
        """Wei that `amount` base units of rETH are worth, about: contracts divide reported sums."""
        return amount * self.wei // ONE

    def after_fee(self, ether: int) -> int:
        """What of a deposit becomes rETH."""
        return ether - ether * self.fee // ONE

    @property
    def dust(self) -> int:
        """Wei that rounding may take on the way to rETH and back."""
        return 2 * (self.wei // ONE + 1)

    def slack(self, ether: int) -> int:
        """Wei by which the worth of so much ether may differ through the rate's own rounding."""
        return ether // self.wei + self.dust


@dataclass(frozen=True, slots=True)
class RateReport:
    """What watchers reported: when, and the wei of a whole rETH. `place` orders reports."""

    timestamp: int
    rate: int
    place: tuple[int, int] = (0, 0)


def rate_change(reports: Sequence[RateReport], *, now_rate: int, since: int) -> int | None:
    """Wei by which a whole rETH grew since then; None where no report is that old."""
    before = [each for each in reports if each.timestamp <= since]
    return now_rate - before[-1].rate if before else None


def yearly_bps(reports: Sequence[RateReport], *, now_rate: int, now: int, since: int) -> int | None:
    """Simple yearly rate since then in basis points; None where no report is that old."""
    before = [each for each in reports if each.timestamp <= since]
    if not before or now <= before[-1].timestamp or not before[-1].rate:
        return None
    start = before[-1]
    return (now_rate - start.rate) * BPS * YEAR_SECONDS // (start.rate * (now - start.timestamp))
