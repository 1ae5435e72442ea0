"""What paths promise: seldom less than they give, and computed from the price and liquidity of their pools alone."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest
from typing import NamedTuple

from tools_app.core.ratio import Ratio
from tools_app.protocols.uniswap.paths import Hop, Path, TransferFees, price_after_fee
from tools_app.standards.concentrated import FEE_DENOMINATOR, Q96


class PromisedAmounts:
    """What paths would give if each pool had everywhere what it has at its price; shared hops are computed once.

    For paths that live as long as this does.
    """

    def __init__(self, fees: TransferFees) -> None:
        self._fees = fees if fees.any else None
        self._paths: dict[tuple[int, int], int] = {}
        self._found: dict[tuple[int, str, int], int] = {}
        self._curves: dict[tuple[int, str], _Curve] = {}
        self._prices: dict[tuple[int, str], float] = {}

    def of(self, path: Path, amount: int) -> int:
        """What arrives for `amount`, rounded up."""
        told = self._paths.get((id(path), amount))
        if told is not None:
            return told
        running = amount if self._fees is None else self._fees.arrives_in(amount)
        for hop in path:
            key = (id(hop.pool), hop.token_in, running)
            found = self._found.get(key)
            if found is None:
                found = self._found[key] = self._curve_of(hop).give(running)
            running = found
        told = running if self._fees is None else self._fees.arrives_out(running)
        self._paths[id(path), amount] = told
        return told

    def list_most(self, paths: Iterable[Path], amount: int, count: int) -> list[Path]:
        """So many that promise most, the best first."""
        return nlargest(count, paths, key=lambda path: self.of(path, amount))

    def find_cheapest(self, paths: Iterable[Path]) -> Path:
        """The one with the best price before impact; of two that hardly differ, either."""
        return max(paths, key=self._price_of)

    def _price_of(self, path: Path) -> float:
        price = 1.0
        for hop in path:
            key = (id(hop.pool), hop.token_in)
            found = self._prices.get(key)
            if found is None:
                spot, leaves = hop.pool.spot_from(hop.token_in), (FEE_DENOMINATOR - hop.pool.fee) / FEE_DENOMINATOR
                found = self._prices[key] = spot.numerator / spot.denominator * leaves
            price *= found
        return price

    def _curve_of(self, hop: Hop) -> _Curve:
        key = (id(hop.pool), hop.token_in)
        found = self._curves.get(key)
        if found is None:
            found = self._curves[key] = _read_curve(hop)
        return found


class _Curve(NamedTuple):
    """A pool as a pair with virtual reserves, and what its fee leaves; `ratio` where there is a price alone."""

    there: int
    back: int
    leaves: int
    ratio: Ratio | None = None

    def give(self, amount: int) -> int:
        """What would come out if nothing changed at any tick, rounded up."""
        if self.ratio is not None:
            return self.ratio.of(amount) + 1
        kept = -(-amount * self.leaves // FEE_DENOMINATOR)
        found = -(-kept * self.back // (self.there + kept or 1))
        # A price that is told the other way round has lost its last digits.
        return found + (found >> 30) + 1


def _read_curve(hop: Hop) -> _Curve:
    pool = hop.pool
    if not pool.is_concentrated:
        there, back = pool.reserves_from(hop.token_in)
    elif pool.hooks is not None or not pool.liquidity:
        return _Curve(0, 0, 0, price_after_fee((hop,)))
    else:
        there, back = pool.liquidity * Q96 // pool.sqrt_price, pool.liquidity * pool.sqrt_price // Q96
        if hop.token_in != pool.token0:
            there, back = back, there
    return _Curve(there, back + 1, FEE_DENOMINATOR - pool.fee)
