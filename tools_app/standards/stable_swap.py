"""Mathematics of a stable pool as Curve's first plain pools have it: exact integers, rounded as the contract rounds.

Written from the published invariant; balances are base units, the invariant is in 18 decimals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

FEE_UNITS: Final = 10**10
"""Fees are told in so many parts."""
WAD: Final = 10**18
_MOST_ROUNDS: Final = 255


class Unsolvable(ValueError):
    """Balances for which the pool has no answer: a coin of which nothing is there."""


@dataclass(frozen=True, slots=True)
class StableSwap:
    """A pool at one moment. `scales` bring balances to 18 decimals, `fee` and `admin_fee` are parts of FEE_UNITS."""

    balances: tuple[int, ...]
    scales: tuple[int, ...]
    amp: int
    fee: int
    admin_fee: int
    supply: int

    @property
    def invariant(self) -> int:
        """What the pool would hold in all if its coins were equal. Raises Unsolvable."""
        return invariant(self._scaled(self.balances), self.amp)

    @property
    def virtual_price(self) -> int:
        """What a whole LP token stands for, in 18 decimals. Raises Unsolvable."""
        return self.invariant * WAD // self.supply if self.supply else 0

    def after_adding(self, amounts: Sequence[int]) -> tuple[int, StableSwap]:
        """LP tokens that so much of each coin gives, and the pool afterwards. Raises Unsolvable."""
        d0 = self.invariant
        new = [had + more for had, more in zip(self.balances, amounts, strict=True)]
        d1 = invariant(self._scaled(new), self.amp)
        fees = [
            self._side_fee * abs(d1 * had // d0 - now) // FEE_UNITS for had, now in zip(self.balances, new, strict=True)
        ]
        counted = [now - fee for now, fee in zip(new, fees, strict=True)]
        minted = self.supply * (invariant(self._scaled(counted), self.amp) - d0) // d0
        kept = tuple(now - fee * self.admin_fee // FEE_UNITS for now, fee in zip(new, fees, strict=True))
        return minted, replace(self, balances=kept, supply=self.supply + minted)

    def after_removing(self, shares: int) -> tuple[tuple[int, ...], StableSwap]:
        """What so many LP tokens give of each coin, and the pool afterwards."""
        given = tuple(had * shares // self.supply for had in self.balances)
        left = tuple(had - gone for had, gone in zip(self.balances, given, strict=True))
        return given, replace(self, balances=left, supply=self.supply - shares)

    def after_removing_one(self, shares: int, index: int) -> tuple[int, StableSwap]:
        """What so many LP tokens give of one coin, and the pool afterwards. Raises Unsolvable."""
        xp = self._scaled(self.balances)
        d0 = invariant(xp, self.amp)
        d1 = d0 - shares * d0 // self.supply
        y = balance_for(xp, index, d1, self.amp)
        reduced = [
            each - self._side_fee * (each * d1 // d0 - y if at == index else each - each * d1 // d0) // FEE_UNITS
            for at, each in enumerate(xp)
        ]
        scale = self.scales[index]
        given = (reduced[index] - balance_for(reduced, index, d1, self.amp) - 1) // scale
        charged = (xp[index] - y) // scale - given
        left = list(self.balances)
        left[index] -= given + charged * self.admin_fee // FEE_UNITS
        return given, replace(self, balances=tuple(left), supply=self.supply - shares)

    @property
    def _side_fee(self) -> int:
        coins = len(self.balances)
        return self.fee * coins // (4 * (coins - 1))

    def _scaled(self, balances: Sequence[int]) -> list[int]:
        return [each * scale for each, scale in zip(balances, self.scales, strict=True)]


def invariant(xp: Sequence[int], amp: int) -> int:
    """D of balances in 18 decimals. Raises Unsolvable."""
    coins, total = len(xp), sum(xp)
    if not total:
        return 0
    if not all(xp):
        raise Unsolvable("a coin of the pool is gone")
    d, ann = total, amp * coins
    for _ in range(_MOST_ROUNDS):
        product = d
        for each in xp:
            product = product * d // (each * coins)
        before = d
        d = (ann * total + product * coins) * d // ((ann - 1) * d + (coins + 1) * product)
        if abs(d - before) <= 1:
            break
    return d


def balance_for(xp: Sequence[int], index: int, d: int, amp: int) -> int:
    """The balance of one coin at which the invariant is `d`, given the others. Raises Unsolvable."""
    coins, ann, c, others = len(xp), amp * len(xp), d, 0
    for at, each in enumerate(xp):
        if at == index:
            continue
        if not each:
            raise Unsolvable("a coin of the pool is gone")
        others += each
        c = c * d // (each * coins)
    c = c * d // (ann * coins)
    b, y = others + d // ann, d
    for _ in range(_MOST_ROUNDS):
        before = y
        y = (y * y + c) // (2 * y + b - d)
        if abs(y - before) <= 1:
            break
    return y
