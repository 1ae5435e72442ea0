"""Splits the change between two values of a golem into parts that add up. Pure.

The price is what was held at both prices. What came into the wallet or left it without an action of the golem was moved
by somebody: the owner pays in, or takes out. Gas and slippage are what the golem's own actions cost. A slash is what a
protocol took from a position for somebody's faults, as the protocol itself tells how much it left. The rest is what
positions earned or owe by themselves: fees, interest, rebasing, and what liquidity loses against holding. Without a
position it is price: what was bought moved before the next look.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import IntText, read_stored
from tools_app.core.units import net_value_in_micro_usd
from tools_app.portfolio.holdings import Holdings, Worth
from tools_app.portfolio.slash_losses import Marks, list_marks, list_slashes
from tools_app.toolkit.positions import PositionRef, Slashable


@dataclass(frozen=True, slots=True)
class StoredQuote:
    """A price as it is stored: a feed's answer with its decimals, and the token's."""

    answer: int
    price_decimals: int
    token_decimals: int

    def value(self, raw: int) -> int:
        """Micro-USD of signed base units."""
        return net_value_in_micro_usd(
            raw=raw, token_decimals=self.token_decimals, price=self.answer, price_decimals=self.price_decimals
        )


@dataclass(frozen=True, slots=True)
class _StoredNav:
    """A NavState as its column keeps it: integers as text. A slashable part has ref, token, raw, keeper, kept."""

    wallet: dict[str, IntText]
    inside: dict[str, IntText]
    quotes: dict[str, tuple[IntText, int, int]]
    slashable: tuple[tuple[str, str, IntText, str, IntText], ...] = ()


@dataclass(frozen=True, slots=True)
class NavState:
    """Base units by token address in the wallet and inside positions, with the prices of that block; and what of it a
    slash can take from, by position.
    """

    wallet: Mapping[str, int]
    inside: Mapping[str, int]
    quotes: Mapping[str, StoredQuote]
    slashable: Marks = ()

    @classmethod
    def of(cls, holdings: Holdings) -> NavState:
        """Of what has a price; the rest is no part of any value."""
        inside = [part for each in holdings.positions for part in each.parts]
        parts = [*holdings.tokens, *inside]
        quotes = {
            part.token.address: StoredQuote(part.price.answer, part.price.decimals, part.token.decimals)
            for part in parts
            if part.price is not None
        }
        slashable = list_marks(held.position for held in holdings.positions)
        return cls(_sum(holdings.tokens), _sum(inside), quotes, slashable)

    @property
    def tokens(self) -> frozenset[str]:
        """Every token in it."""
        return frozenset({*self.wallet, *self.inside})

    def raw_of(self, token: str) -> int:
        """Net base units."""
        return self.wallet.get(token, 0) + self.inside.get(token, 0)

    def as_json(self) -> JsonObject:
        """Integers as text."""
        return {
            "wallet": {token: str(raw) for token, raw in self.wallet.items()},
            "inside": {token: str(raw) for token, raw in self.inside.items()},
            "quotes": {
                token: [str(each.answer), each.price_decimals, each.token_decimals]
                for token, each in self.quotes.items()
            },
            "slashable": [
                [str(ref), each.token, str(each.raw), each.keeper, str(each.kept)] for ref, each in self.slashable
            ],
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, object]) -> NavState:
        """The reverse; what was stored before slashes were told has none."""
        kept = read_stored(_StoredNav, stored)
        return cls(
            kept.wallet,
            kept.inside,
            {token: StoredQuote(*each) for token, each in kept.quotes.items()},
            tuple(
                (PositionRef.parse(ref), Slashable(token, raw, keeper, left))
                for ref, token, raw, keeper, left in kept.slashable
            ),
        )


@dataclass(frozen=True, slots=True)
class OwnMoves:
    """What the golem's own actions did in between: base units its wallet gained or lost by token, gas apart in wei of
    `coin`, and what trading cost in micro-USD, below zero.
    """

    deltas: Mapping[str, int] = field(default_factory=dict)
    fee_wei: int = 0
    slippage: int = 0


@dataclass(frozen=True, slots=True)
class Parts:
    """Micro-USD. `moved` is what came in less what went out, and no profit."""

    price: int = 0
    fees_and_interest: int = 0
    slashes: int = 0
    slippage: int = 0
    gas: int = 0
    moved: int = 0

    @property
    def profit(self) -> int:
        """The change of the net asset value less what came in and went out."""
        return self.price + self.fees_and_interest + self.slashes + self.slippage + self.gas

    def __add__(self, other: Parts) -> Parts:
        return Parts(*(getattr(self, name) + getattr(other, name) for name in PARTS))

    def as_json(self) -> dict[str, str]:
        """As it is stored."""
        return {name: str(getattr(self, name)) for name in PARTS}

    @classmethod
    def from_json(cls, stored: Mapping[str, str]) -> Parts:
        """The reverse; a first snapshot has none."""
        return cls(**{name: int(stored.get(name, 0)) for name in PARTS})


PARTS = ("price", "fees_and_interest", "slashes", "slippage", "gas", "moved")


def split_change(*, before: NavState, after: NavState, change: int, own: OwnMoves, coin: str) -> Parts:
    """The parts of a `change` of the net asset value in micro-USD; they add up to it exactly."""
    tokens = sorted(before.tokens | after.tokens)
    # What is gone has no price any more, and did not earn by it.
    now = {token: quote for token in tokens if (quote := after.quotes.get(token) or before.quotes.get(token))}
    price = sum(
        now[token].value(before.raw_of(token)) - before.quotes[token].value(before.raw_of(token))
        for token in tokens
        if token in before.quotes and token in now
    )
    moved = 0
    for token, quote in now.items():
        fee = own.fee_wei if token == coin else 0
        unexplained = after.wallet.get(token, 0) - before.wallet.get(token, 0) - own.deltas.get(token, 0) + fee
        moved += quote.value(unexplained)
    gas = now[coin].value(-own.fee_wei) if coin in now else 0
    taken = list_slashes(before.slashable, after.slashable)
    slashes = sum(now[each.token].value(-each.raw) for each in taken if each.token in now)
    rest = change - price - moved - gas - own.slippage - slashes
    if not before.inside and not after.inside:
        # No position was there to earn it: prices moved between a trade and the look after it.
        return Parts(price + rest, 0, slashes, own.slippage, gas, moved)
    return Parts(price, rest, slashes, own.slippage, gas, moved)


def sum_parts(all_parts: Iterable[Parts]) -> Parts:
    """All of them together."""
    total = Parts()
    for parts in all_parts:
        total = total + parts
    return total


def _sum(parts: Sequence[Worth]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for part in parts:
        if part.price is not None:
            sums[part.token.address] += part.raw
    return dict(sums)
