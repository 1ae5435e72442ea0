"""Computes what shares of the bar are worth, in integers, rounded as the contract rounds: always for those who stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MOST_LOSS_BPS: Final = 10
"""An entry may be worth this much less at once: a rounding, not a price that somebody blew up."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Base units: all shares there are, all of the token that lies in it, and the account's shares."""

    shares: int
    inside: int
    held: int

    def worth_of(self, shares: int) -> int:
        """What so many shares give now."""
        return shares * self.inside // self.shares if self.shares else 0

    def shares_for(self, amount: int) -> int:
        """How many shares an entry gives."""
        return amount * self.shares // self.inside if self.shares and self.inside else amount

    def after_entry(self, amount: int) -> Bar:
        """The bar once the account put `amount` in."""
        minted = self.shares_for(amount)
        return Bar(self.shares + minted, self.inside + amount, self.held + minted)

    def after_leaving(self, shares: int) -> Bar:
        """The bar once the account gave `shares` back."""
        return Bar(self.shares - shares, self.inside - self.worth_of(shares), self.held - shares)
