"""Holds what OBSERVE read from the chain, as values for pure rules. Amounts are base units and micro-USD."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from permits_app.permits.other_chain_holdings import NOWHERE, Elsewhere
from tools_app.core.units import BPS, format_micro_usd, format_units, value_in_micro_usd
from tools_app.portfolio.holdings import HeldPosition as Held
from tools_app.portfolio.holdings import Holdings
from tools_app.portfolio.holdings import value_of as weigh
from tools_app.portfolio.issuer_and_bridge_risk import list_failed_oracles
from tools_app.toolkit.markets import Pool, RangePosition
from tools_app.toolkit.views import BlockRef, FeedPrice, TokenMeta


@dataclass(frozen=True, slots=True)
class ObservedToken:
    """One token in the wallet. `price` None: no fresh feed."""

    token: TokenMeta
    raw: int
    price: FeedPrice | None

    @property
    def micro_usd(self) -> int | None:
        """Worth at the feed's price, as the net asset value counts it."""
        return self.worth_of(self.raw)

    def worth_of(self, raw: int) -> int | None:
        """Micro-USD that `raw` base units of it are worth, whether they are held or not."""
        return None if self.price is None else weigh(raw, self.token, self.price)

    def raw_worth(self, micro_usd: int) -> int | None:
        """Base units worth `micro_usd`, rounded down."""
        if self.price is None:
            return None
        scale = 10 ** (self.token.decimals + self.price.decimals)
        return micro_usd * scale // (self.price.answer * 1_000_000)


@dataclass(frozen=True, slots=True)
class ObservedPosition:
    """One of the golem's liquidity positions that still holds something; values None without a fresh price."""

    position: RangePosition
    micro_usd: int | None
    fees_micro_usd: int | None


@dataclass(frozen=True, slots=True)
class Observation:
    """One look at the chain. `price` is token1 per token0 of the watched pool in 1e18ths, else the coin's feed answer.

    `deviation_bps` is how far the pool is from the feeds. `known_positions` is what the next look starts from. `whole`
    is everything the golem holds on all its chains, and `total_micro_usd` its net asset value where that can be told;
    `at_home` and `elsewhere` are the parts of it where it has several.
    """

    block: BlockRef | None = None
    holdings: tuple[ObservedToken, ...] = ()
    positions: tuple[ObservedPosition, ...] = ()
    whole: Holdings | None = None
    at_home: Holdings | None = None
    elsewhere: Elsewhere = NOWHERE
    pool: Pool | None = None
    price: int | None = None
    deviation_bps: int | None = None
    total_micro_usd: int | None = None
    anomalies: tuple[str, ...] = ()
    known_positions: Mapping[str, object] = field(default_factory=dict)

    def holding(self, address: str) -> ObservedToken | None:
        """The holding of one token."""
        return next((each for each in self.holdings if each.token.address == address), None)

    def as_probes(self) -> dict[str, object]:
        """The figures for the record and for a planner: JSON-ready, amounts as decimal strings with units beside."""
        return {
            "block_number": self.block.number if self.block else None,
            "base_fee_wei": str(self.block.base_fee) if self.block else None,
            "price": None if self.price is None else str(self.price),
            "pool": self.pool.id if self.pool else None,
            "pool_tick": self.pool.pool_tick if self.pool else None,
            "deviation_bps": self.deviation_bps,
            "total_micro_usd": None if self.total_micro_usd is None else str(self.total_micro_usd),
            "total_usd": None if self.total_micro_usd is None else format_micro_usd(self.total_micro_usd),
            "balances": [
                {
                    "symbol": each.token.symbol,
                    "token": each.token.address,
                    "raw": str(each.raw),
                    "units": format_units(each.raw, each.token.decimals, each.token.symbol),
                    "price_age_seconds": each.price.age_seconds if each.price else None,
                }
                for each in self.holdings
            ],
            "positions": [describe_position(each) for each in self.positions],
            "debt_usd": None if self.whole is None else format_micro_usd(self.whole.debt_micro_usd),
            "held_elsewhere": [
                describe_held(each)
                for each in (self.whole.positions if self.whole is not None else ())
                if each.ref.id not in {one.position.position_id for one in self.positions}
            ],
            **self._describe_locked(),
            **self._describe_failed_oracles(),
        }

    def _describe_locked(self) -> dict[str, object]:
        """Those of `positions` of which something cannot be taken out now; nothing is said where all of it can."""
        own = {one.position.position_id for one in self.positions}
        held = self.whole.positions if self.whole is not None else ()
        locked = [describe_held(each) for each in held if each.ref.id in own and each.position.locked]
        return {"locked_positions": locked} if locked else {}

    def _describe_failed_oracles(self) -> dict[str, object]:
        """What gives no price of something held; nothing is said where all of it has one."""
        failed = list_failed_oracles(self.whole) if self.whole is not None else ()
        return {"failed_oracles": [{"name": each.name, "reason": each.reason} for each in failed]} if failed else {}


def describe_held(held: Held) -> dict[str, object]:
    """One position of any protocol for the record: what it is worth, owes, and from when it can be had."""
    return {
        "position": str(held.ref),
        "label": held.position.label,
        "value_micro_usd": None if held.micro_usd is None else str(held.micro_usd),
        "debt_micro_usd": str(held.debt_micro_usd),
        "health_bps": held.health_bps,
        "free_at": held.free_at,
        "locked": [{"token": each.token, "raw": str(each.raw), "reason": each.reason} for each in held.position.locked],
    }


def describe_position(held: ObservedPosition) -> dict[str, object]:
    """One position for the record."""
    position = held.position
    return {
        "position_id": position.position_id,
        "venue": position.pool.protocol,
        "pool": position.pool.id,
        "tick_lower": position.tick_lower,
        "tick_upper": position.tick_upper,
        "pool_tick": position.pool.pool_tick,
        "in_range": position.is_in_range,
        "liquidity": str(position.liquidity),
        "fees0": str(position.fees0),
        "fees1": str(position.fees1),
        "value_micro_usd": None if held.micro_usd is None else str(held.micro_usd),
        "fees_micro_usd": None if held.fees_micro_usd is None else str(held.fees_micro_usd),
    }


def value_of(raw: int, token: TokenMeta, price: FeedPrice) -> int:
    """Micro-USD of what is spent, rounded up; what is held is weighed by the portfolio."""
    return value_in_micro_usd(raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals)


def deviation_bps(*, pool_price: int, feed_price: int) -> int:
    """How far two prices of one unit are apart, in basis points of the feeds' one."""
    return abs(pool_price - feed_price) * BPS // feed_price if feed_price else BPS
