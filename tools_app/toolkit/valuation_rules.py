"""Rules by which parts of a position count that are not worth the price of a token, and what never counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Due:
    """A claim of `claim` base units on `face` base units of a leg's token, due at the unix second `at`.

    `average` is what it was traded at over the last `seconds`, in the leg's token; from `at` on nothing is asked of it.
    What was paid in this block alone decides nothing: neither a push up nor a push down moves the figure at once.
    """

    claim: int
    symbol: str
    decimals: int
    face: int
    at: int
    average: int | None
    seconds: int = 0

    @property
    def counted(self) -> int:
        """Base units it counts as: the lower of the two."""
        return self.face if self.average is None else min(self.face, self.average)


@dataclass(frozen=True, slots=True)
class Shown:
    """What people are told that something uncounted would bring: base units of a token that has a price."""

    token: str
    raw: int


@dataclass(frozen=True, slots=True)
class Uncounted:
    """Base units of a token in a position that never count: in no value, no limit, no share, and for no debt.

    `symbol` and `decimals` are its protocol's own words: the token's contract, which may be anybody's, is asked
    nothing. `reason` is a word of UNCOUNTED_WORDS. `market` is what people are shown beside it, where somebody buys it;
    what has one was paid for, and is measured as a holding is, in base units.
    """

    token: str
    raw: int
    symbol: str
    decimals: int
    reason: str
    market: Shown | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for what is owed: a debt counts, whatever it is owed in."""
        if self.raw < 0:
            raise ValueError("what is owed always counts")


UNCOUNTED_WORDS: Final = {
    "reward": "a reward that nobody prices",
    "points": "points, which nobody sells",
    "receipt": "a receipt that nobody prices",
    "yield": "yield to come, which may be none",
}
"""Why something counts as nothing, for people, by the word of `Uncounted.reason`."""
