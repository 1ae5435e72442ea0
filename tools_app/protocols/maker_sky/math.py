"""Maker's arithmetic in integers: wads (1e18) of collateral and DAI, rays (1e27) of rates, rads (1e45) of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.standards.rays import RAY, rpow

WAD: Final = 10**18
BPS: Final = 10_000


def divide_up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


@dataclass(frozen=True, slots=True)
class VaultKind:
    """One kind of vault: all `art` drawn, its `rate` with the fee up to now, `spot` (price less margin) in rays.

    `line` and `dust` in rads, `fee` per second and `ratio` (collateral over debt) in rays.
    """

    name: str
    art: int
    rate: int
    spot: int
    line: int
    dust: int
    fee: int
    ratio: int

    @property
    def price(self) -> int:
        """DAI in wads for a whole unit of collateral, as the spotter last wrote it, its rounding undone."""
        return divide_up(divide_up(self.spot * self.ratio, RAY), 10**9)

    @property
    def room(self) -> int:
        """Wads of DAI that its ceiling leaves."""
        return max(0, self.line - self.art * self.rate) // RAY

    @property
    def least_debt(self) -> int:
        """Wads of DAI: a vault owes nothing, or at least this."""
        return divide_up(self.dust, RAY)

    @property
    def ratio_bps(self) -> int:
        return self.ratio * BPS // RAY

    def owed_of(self, art: int) -> int:
        """Wads of DAI that it takes to clear `art`."""
        return divide_up(art * self.rate, RAY)

    def art_for(self, wad: int) -> int:
        """The least `art` that draws `wad` of DAI."""
        return divide_up(wad * RAY, self.rate)

    def health_bps(self, ink: int, art: int) -> int | None:
        """Cover over debt by Maker's own price; 10,000 is liquidation."""
        return ink * self.spot * BPS // (art * self.rate) if art else None

    def growth(self, wad: int, seconds: int) -> int:
        """The fee on `wad` within so many seconds, rounded up."""
        return divide_up(wad * (rpow(self.fee, seconds) - RAY), RAY)


@dataclass(frozen=True, slots=True)
class VaultState:
    """One vault: `ink` of collateral, `art` drawn, and internal DAI in rads that nobody took out."""

    id: int
    urn: str
    kind: VaultKind
    ink: int
    art: int
    inside: int

    @property
    def owed(self) -> int:
        return self.kind.owed_of(self.art)
