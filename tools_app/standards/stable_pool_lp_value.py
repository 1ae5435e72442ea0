"""LP tokens of a stable pool as positions count them: at the pool's virtual price, all of it in its cheapest coin.

A pool that somebody pushed, or one of whose coins lost its peg, holds ever more of the coin that is worth least; so
nothing is believed but the invariant, and of the coins' feeds the lowest. The other coins stand in the position with
one base unit each: who sums it up meets each feed, and one that is silent or old makes no sum. Where a coin has no feed
the shares never count (`Position.uncounted`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.feeds import feed_calls
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.standards.stable_swap import WAD
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import Leg, PositionChange, PositionRef, PositionsUnreadable, ShareIndex
from tools_app.toolkit.valuation_rules import Uncounted

VIRTUAL_PRICE: Final = "function get_virtual_price() view returns (uint256)"
LP_DECIMALS: Final = 18
LP_UNITS: Final = "base units of LP tokens"
PEG_BPS: Final = 100
"""Coins whose feeds lie further apart are not one dollar any more: nothing is put in."""
GROWTH_BPS: Final = 25
"""What fees may add to a share between a plan and its transaction."""
_INDEX_SCALE: Final = 10**9
_BPS: Final = 10_000


@dataclass(frozen=True, slots=True)
class StablePool:
    """A pool as a protocol's data knows it: its contract, its LP token and its coins in their order."""

    address: str
    lp: str
    coins: tuple[str, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Counting:
    """How LP tokens of a pool count: `cheapest` is its coin with the lowest feed, None where a coin has no feed that
    answers, and `unit` the base units of one of it. `apart_bps` is how far the lowest feed lies under the highest.
    """

    pool: StablePool
    virtual_price: int
    cheapest: str | None
    unit: int
    apart_bps: int

    @property
    def token(self) -> str:
        """Which token a change of the shares is told in."""
        return self.cheapest or self.pool.lp

    def worth_of(self, shares: int, *, virtual_price: int | None = None) -> int:
        """Base units of `token` that LP tokens count as; of shares that never count, the shares."""
        if self.cheapest is None:
            return shares
        price = self.virtual_price if virtual_price is None else virtual_price
        return shares * price * self.unit // (WAD * WAD)

    def legs_of(self, shares: int) -> tuple[Leg, ...]:
        """All in the cheapest coin, and a base unit of each other, so that no silent feed is passed over."""
        worth = self.worth_of(shares)
        if self.cheapest is None or not worth:
            return ()
        return tuple(Leg(coin, worth if coin == self.cheapest else 1) for coin in self.pool.coins)

    def uncounted_of(self, shares: int) -> tuple[Uncounted, ...]:
        """The shares, where nobody can count them."""
        if self.cheapest is not None or not shares:
            return ()
        return (Uncounted(self.pool.lp, shares, self.pool.label, LP_DECIMALS, "receipt"),)

    def index_of(self, shares: int) -> ShareIndex | None:
        """What a share stands for: a gift by fees counts as far as it is believable."""
        return ShareIndex(self.pool.lp, self.virtual_price * _INDEX_SCALE, shares) if shares else None

    def grows(self, protocol: str, kind: str, ref: PositionRef, expected: int, least: int) -> PositionChange:
        """So much more in the position."""
        bound = max(0, least - 2)
        return PositionChange(protocol, kind, self.token, expected, bound, ref, counts=self.cheapest is not None)

    def stays(self, protocol: str, kind: str, ref: PositionRef) -> PositionChange:
        """Shares that lie elsewhere and count as before."""
        return PositionChange(protocol, kind, self.token, 0, -2, ref, counts=self.cheapest is not None)

    def shrinks(self, protocol: str, kind: str, ref: PositionRef, gone: int) -> PositionChange:
        """So much less, and a little more where fees came in meanwhile."""
        most = gone + gone * GROWTH_BPS // _BPS + 2
        return PositionChange(protocol, kind, self.token, -gone, -most, ref, counts=self.cheapest is not None)


def counting_calls(chain_id: int, pool: StablePool) -> list[ReadCall]:
    """What `read_counting` needs answered, in one batch with others."""
    known = load_deployment(KNOWN_NETWORKS[chain_id])
    feeds = [call for coin in pool.coins if coin in known.feeds for call in feed_calls(known.feeds[coin])]
    return [ReadCall(pool.address, VIRTUAL_PRICE), *feeds]


def read_counting(chain_id: int, pool: StablePool, outcomes: Sequence[ReadOutcome]) -> Counting:
    """How the pool's shares count. Raises PositionsUnreadable where the pool tells no virtual price."""
    known = load_deployment(KNOWN_NETWORKS[chain_id])
    decimals = {token.address: token.decimals for token in known.tokens}
    told, *rest = outcomes
    if not told.ok:
        raise PositionsUnreadable(f"{pool.label} does not tell what a share stands for: {told.revert_reason}")
    prices: dict[str, int] = {}
    with_feed = [coin for coin in pool.coins if coin in known.feeds]
    for index, coin in enumerate(with_feed):
        answer, places = rest[2 * index], rest[2 * index + 1]
        if coin in decimals and answer.ok and places.ok and int(answer.values[1]) > 0:
            prices[coin] = int(answer.values[1]) * 10 ** (LP_DECIMALS - int(places.values[0]))
    virtual_price = int(told.values[0])
    if len(prices) != len(pool.coins):
        return Counting(pool, virtual_price, None, 0, _BPS)
    cheapest = min(pool.coins, key=lambda coin: prices[coin])
    apart = (max(prices.values()) - prices[cheapest]) * _BPS // max(prices.values())
    return Counting(pool, virtual_price, cheapest, 10 ** decimals[cheapest], apart)


@dataclass(frozen=True, slots=True)
class RewardToken:
    """A token that a place pays rewards in. Its symbol and decimals are its protocol's words."""

    address: str
    symbol: str
    decimals: int

    def is_counted(self, chain_id: int) -> bool:
        """Whether it is registered and has a feed; any other reward never counts."""
        known = load_deployment(KNOWN_NETWORKS[chain_id])
        return self.address in known.feeds and any(token.address == self.address for token in known.tokens)

    def legs_of(self, chain_id: int, raw: int) -> tuple[Leg, ...]:
        """So much of it that can be claimed, where it counts."""
        return (Leg(self.address, raw),) if raw and self.is_counted(chain_id) else ()

    def uncounted_of(self, chain_id: int, raw: int) -> tuple[Uncounted, ...]:
        """So much of it that can be claimed, where it does not."""
        if not raw or self.is_counted(chain_id):
            return ()
        return (Uncounted(self.address, raw, self.symbol, self.decimals, "reward"),)
