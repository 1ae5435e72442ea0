"""Computes what a fall of prices does to positions: worth, health, liquidations. Pure.

Liquidation is told where the health that is left is 1.00 or less. What a liquidation costs differs by protocol; a
stated part of the debt is taken for it, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools_app.portfolio.holdings import HeldPosition, Worth
from tools_app.toolkit.views import FeedPrice

PENALTY_BPS: Final = 1_000
"""A liquidation is taken to cost a tenth of the debt, which no lender of the shelf exceeds for usual collateral."""
DOLLAR_WITHIN_BPS: Final = 300
"""A token whose feed says a dollar, give or take three percent, is taken for one that follows the dollar."""
LIQUIDATED_AT_BPS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Shocked:
    """A position after a fall: its worth in micro-USD, its debt, its health, and whether it would be liquidated."""

    net_micro_usd: int
    debt_micro_usd: int
    health_bps: int | None

    @property
    def is_liquidated(self) -> bool:
        """Whether its debt is not covered any more."""
        return self.health_bps is not None and self.health_bps <= LIQUIDATED_AT_BPS

    @property
    def penalty_micro_usd(self) -> int:
        """What its liquidation is taken to cost; never more than what is left in it."""
        wanted = self.debt_micro_usd * PENALTY_BPS // 10_000
        return min(wanted, max(0, self.net_micro_usd)) if self.is_liquidated else 0


def follows_dollar(price: FeedPrice | None) -> bool:
    """Whether a feed says about a dollar."""
    if price is None:
        return False
    one: int = 10**price.decimals
    room = one * DOLLAR_WITHIN_BPS // 10_000
    return one - room <= price.answer <= one + room


def fall(worth: Worth, falls_bps: Mapping[str, int]) -> int:
    """Micro-USD of a part after the fall of its token, by address; 0 where it has no price."""
    now = worth.micro_usd or 0
    left = 10_000 - falls_bps.get(worth.token.address, 0)
    # What is held is rounded down and what is owed up, as everywhere.
    return now * left // 10_000


def shock(held: HeldPosition, falls_bps: Mapping[str, int]) -> Shocked:
    """A position after its tokens fell. Health falls as its cover does against its debt, from what it is now.

    On a margin it falls with all that is in it and with what it follows besides.
    """
    parts = list(zip(held.position.legs, held.parts, strict=True))
    after = [fall(part, falls_bps) for _, part in parts]
    debt = -sum(value for value in after if value < 0)
    if held.health_bps is None:
        return Shocked(sum(after), debt, None)
    if held.position.is_margin:
        follows = sum(fall(each, falls_bps) - (each.micro_usd or 0) for each in held.exposure)
        now, then = sum(part.micro_usd or 0 for part in held.parts), sum(after) + follows
        return Shocked(then, debt, held.health_bps * max(0, then) // now if now > 0 else 0)
    cover_now = sum((part.micro_usd or 0) * leg.cover_bps for leg, part in parts if leg.raw > 0)
    cover = sum(value * leg.cover_bps for value, (leg, _) in zip(after, parts, strict=True) if leg.raw > 0)
    debt_now = held.debt_micro_usd
    if not debt or not debt_now or not cover_now:
        return Shocked(sum(after), debt, held.health_bps)
    health = held.health_bps * cover * debt_now // (cover_now * debt)
    return Shocked(sum(after), debt, health)
