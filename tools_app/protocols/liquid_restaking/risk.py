"""Judges how far a restaked token may be from its ether: a class, and the facts it follows from. Integers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.protocols.liquid_restaking.issuers import BPS, WAD, Standing

MEDIUM_BPS: Final = 50
HIGH_BPS: Final = 200
LEAST_DEPTH_WEI: Final = 10 * WAD
"""A pool with less ether in it tells no price: whoever likes moves it."""
RULE: Final = (
    f"high: paused, no market that tells a price, or a market {HIGH_BPS // 100}% or more under the issuer's rate now;"
    f" medium: 0.{MEDIUM_BPS}% or more under it now, {HIGH_BPS // 100}% or more from it in 30 days, a rate that fell,"
    " or a queue that owes more than is liquid; low: else"
)


@dataclass(frozen=True, slots=True)
class Sample:
    """Wei of a whole token, as told in a block."""

    block: int
    rate: int


@dataclass(frozen=True, slots=True)
class RateFall:
    """A rate that fell from one report to the next: a slash, or losses of validators."""

    block: int
    before: int
    after: int

    @property
    def loss_bps(self) -> int:
        """How much of the rate was lost."""
        return (self.before - self.after) * BPS // self.before


@dataclass(frozen=True, slots=True)
class RiskClass:
    """The class and why, in words."""

    level: str
    factors: tuple[str, ...]


def off_bps(price: int, rate: int) -> int:
    """How far a market's price of a whole token is from the issuer's rate, in basis points; negative is a discount."""
    return (price - rate) * BPS // rate


def list_falls(samples: Sequence[Sample]) -> tuple[RateFall, ...]:
    """Where the rate fell, oldest first."""
    return tuple(
        RateFall(later.block, earlier.rate, later.rate)
        for earlier, later in zip(samples, samples[1:], strict=False)
        if later.rate < earlier.rate
    )


def widest_bps(prices: Sequence[tuple[int, int]], samples: Sequence[Sample], rate_now: int) -> int | None:
    """The furthest that prices (block, price) were from the rate of their block, without a sign; None without any."""
    widest: int | None = None
    for block, price in prices:
        known = [each.rate for each in samples if each.block <= block]
        rate = known[-1] if known else samples[0].rate if samples else rate_now
        widest = max(widest or 0, abs(off_bps(price, rate)))
    return widest


def yearly_bps(first: int, last: int, *, seconds: int) -> int | None:
    """Simple yearly rate by which a token's rate grew, rounded down; None where the time is under a day."""
    if seconds < 86_400 or not first:
        return None
    return (last - first) * BPS * 365 * 86_400 // (first * seconds)


def judge(
    standing: Standing, *, now_bps: int | None, widest_month_bps: int | None = None, falls: Sequence[RateFall] = ()
) -> RiskClass:
    """The class of RULE. `now_bps` is the market against the rate now, None where no market tells."""
    high, medium = [], []
    if standing.is_out_paused or standing.is_claim_paused:
        high.append("withdrawals are paused")
    if standing.is_in_paused:
        high.append("deposits are paused")
    if now_bps is None:
        high.append("no market with enough ether tells a price")
    elif now_bps <= -HIGH_BPS:
        high.append(f"a market pays {-now_bps} bps less than the issuer's rate")
    elif now_bps <= -MEDIUM_BPS:
        medium.append(f"a market pays {-now_bps} bps less than the issuer's rate")
    if widest_month_bps is not None and widest_month_bps >= HIGH_BPS:
        medium.append(f"a market was {widest_month_bps} bps from the issuer's rate within 30 days")
    if falls:
        medium.append(f"the issuer's rate fell {len(falls)} times within 30 days")
    if standing.waiting > standing.liquid:
        medium.append("the queue owes more than is liquid")
    level = "high" if high else "medium" if medium else "low"
    return RiskClass(level, (*high, *medium))
