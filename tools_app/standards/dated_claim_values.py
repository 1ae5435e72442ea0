"""Values claims that are due at a date. Pure.

What somebody pays for a claim in this block decides nothing: it counts as the lower of its average price and what is
due. A pool that holds such claims counts as its parts at that price (`pool_maths.reserves_at`), so that a push in
either direction leaves them where they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.toolkit.positions import Leg
from tools_app.toolkit.valuation_rules import Due

AVERAGE_SECONDS: Final = 900
"""Fifteen minutes: whoever moves an average of so many has to hold the price against everybody for as long."""
ONE: Final = 10**18
"""The scale of prices of claims."""


@dataclass(frozen=True, slots=True)
class Maturing:
    """A claim with its name, its due date, the amount due for one of it (base units of `token` times 1e18), and its
    average price in the same unit, which is None once it is due.
    """

    token: str
    symbol: str
    decimals: int
    at: int
    face: int = ONE
    average: int | None = None
    seconds: int = AVERAGE_SECONDS

    @property
    def rate(self) -> int:
        """What one counts as."""
        return self.face if self.average is None else min(self.face, self.average)

    def leg(self, claims: int) -> Leg:
        """So many base units of it, as the leg of a position."""
        average = None if self.average is None else claims * self.average // ONE
        due = Due(
            claim=claims,
            symbol=self.symbol,
            decimals=self.decimals,
            face=claims * self.face // ONE,
            at=self.at,
            average=average,
            seconds=0 if average is None else self.seconds,
        )
        return Leg(self.token, due.counted, due=due)
