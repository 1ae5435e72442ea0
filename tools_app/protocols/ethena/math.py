"""Yearly rates out of rewards, in integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BPS: Final = 10_000
DAY_SECONDS: Final = 86_400
YEAR_DAYS: Final = 365
YEAR_SECONDS: Final = YEAR_DAYS * DAY_SECONDS
SILENT_DAYS: Final = 3
"""Without rewards for so long the yield counts as stopped; they come every eight hours."""


@dataclass(frozen=True, slots=True)
class Reward:
    """Rewards that came in with a block, base units of what is staked."""

    block_number: int
    raw: int


@dataclass(frozen=True, slots=True)
class Rewards:
    """Rewards since `first_block`, oldest first, of a span of whole `days`; not `is_whole` where the chain is younger
    than the span.
    """

    days: int
    first_block: int
    is_whole: bool
    all: tuple[Reward, ...]

    def yearly_bps(self, *, staked: int) -> int | None:
        """Simple yearly rate on what is staked now; None where the span is not known whole."""
        if not self.is_whole or not staked:
            return None
        return sum(each.raw for each in self.all) * BPS * YEAR_DAYS // (staked * self.days)


def rate_now_bps(*, unvested: int, vesting: int, period: int, staked: int) -> int:
    """Simple yearly rate at which rewards drip in now, 0 once all of them did."""
    return vesting * BPS * YEAR_SECONDS // (period * staked) if unvested and period and staked else 0


def judge_yield(*, has_come: bool, week_bps: int | None, month_bps: int | None) -> str:
    """High: nothing came for SILENT_DAYS. Medium: a week gave less than half of the month's rate, or one of them is
    not known. Low: else.
    """
    if not has_come:
        return "High"
    return "Medium" if week_bps is None or month_bps is None or week_bps * 2 < month_bps else "Low"
