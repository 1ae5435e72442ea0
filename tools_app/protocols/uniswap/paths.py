"""Paths of one or two pools, and the fees that tokens take on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.core.ratio import Ratio
from tools_app.core.units import BPS
from tools_app.standards.concentrated import FEE_DENOMINATOR
from tools_app.toolkit.markets import Pool

MIXED: Final = "mixed"
V4: Final = "v4"


@dataclass(frozen=True, slots=True)
class Hop:
    """One pool on the way, and the direction through it."""

    pool: Pool
    token_in: str

    @property
    def token_out(self) -> str:
        return self.pool.other(self.token_in)


Path = tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class TransferFees:
    """What the first and the last token keep of every transfer, in basis points; zero for an ordinary token."""

    token_in_bps: int = 0
    token_out_bps: int = 0

    @property
    def any(self) -> bool:
        return self.token_in_bps > 0 or self.token_out_bps > 0

    def arrives_in(self, amount: int) -> int:
        """What the pool receives when `amount` of the first token is sent."""
        return amount - amount * self.token_in_bps // BPS

    def arrives_out(self, amount: int) -> int:
        """What the account receives when the pool sends `amount` of the last token."""
        return amount - amount * self.token_out_bps // BPS


def version_of(path: Path) -> str:
    """v2, v3 or v4 when all pools are, else mixed."""
    first = path[0].pool.version
    for hop in path[1:]:
        if hop.pool.version != first:
            return MIXED
    return first


def price_after_fee(path: Path) -> Ratio:
    """What comes out for one base unit before any impact, in base units."""
    price = Ratio(1, 1)
    for hop in path:
        price = price.times(hop.pool.spot_from(hop.token_in))
        price = price.times(Ratio(FEE_DENOMINATOR - hop.pool.fee, FEE_DENOMINATOR))
    return price
