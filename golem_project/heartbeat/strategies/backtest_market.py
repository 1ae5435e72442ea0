"""What a dry run is made of: prices at a moment, a loan, and a range of liquidity at one price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from tools_app.core.units import BPS
from tools_app.portfolio.holdings import HeldPosition
from tools_app.standards.concentrated import amounts_for_liquidity, sqrt_price_at_tick
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.positions import Leg
from tools_app.toolkit.views import FeedPrice, TokenMeta

_DECIMALS: Final = 6
PlaceKey = tuple[str, str]
"""A protocol and its place."""


@dataclass(frozen=True, slots=True)
class PricesAt:
    """Micro-USD of one whole token by symbol, at a moment; and PPM a year by place, where that is known."""

    at: datetime
    micro_usd: Mapping[str, int]
    yearly_ppm: Mapping[PlaceKey, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DryRange:
    """A position of liquidity in the pool of the rule, at one price."""

    pool: Pool
    tick_lower: int
    tick_upper: int
    liquidity: int
    owner: str = ""
    position_id: str = "dry"
    fees0: int = 0
    fees1: int = 0

    @property
    def is_in_range(self) -> bool:
        """Whether it would earn fees at the pool's price."""
        return self.tick_lower <= self.pool.pool_tick < self.tick_upper

    def amounts(self, liquidity: int | None = None, *, sqrt_price: int | None = None) -> tuple[int, int]:
        """See `RangePosition`."""
        return amounts_for_liquidity(
            sqrt_price or self.pool.sqrt_price,
            sqrt_price_at_tick(self.tick_lower),
            sqrt_price_at_tick(self.tick_upper),
            self.liquidity if liquidity is None else liquidity,
            round_up=False,
        )


@dataclass
class DryLoan:
    """A position with debts as it is now. `held` names it, `legs` are what is in it in the run."""

    held: HeldPosition
    legs: tuple[Leg, ...]

    def health_bps(self, micro_usd: Mapping[str, int]) -> int:
        """Cover over debt at `micro_usd`, which are what a leg's base units come to by token address."""
        cover = sum(micro_usd[leg.token] * leg.cover_bps for leg in self.legs if leg.raw > 0)
        debt = -sum(micro_usd[leg.token] for leg in self.legs if leg.raw < 0)
        return cover // debt if debt else 10 * BPS


def feed_of(point: PricesAt, token: TokenMeta) -> FeedPrice:
    """The price of a token at a moment, as a feed tells it."""
    return FeedPrice("", point.micro_usd[token.symbol], _DECIMALS, 0, 0, 0)
