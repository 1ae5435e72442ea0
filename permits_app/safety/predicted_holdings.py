"""What an account will hold once a plan, and what is under way, has happened as quoted.

A plan that says what it changes in positions is taken at its legs: a deposit moves value and makes none, a loan brings
money and a debt. Of a plan that says nothing, what it puts into a venue stays the golem's inside a position of its own.
Nothing is read here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from permits_app.safety.call_records import UnderWay
from tools_app.portfolio.holdings import HeldPosition, Holdings
from tools_app.portfolio.issuer_and_bridge_risk import Dependence, depends_of_position, depends_of_protocol
from tools_app.toolkit.plan import TokenFlow
from tools_app.toolkit.positions import ACCOUNT, PositionChange, PositionRef

DEBT = "debt"
Key: TypeAlias = str
"""A position's name, or one made up for a position that is not there yet."""


@dataclass(slots=True)
class Kept:
    """A position as it will be: base units held and owed in it by token, both positive, and what its shares stand for
    beyond what counts, which is taken out first and then counts. `depends` is on whom all of it depends; of one that is
    not there yet nobody knows the oracles.
    """

    protocol: str
    kind: str
    held: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    owed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    held_back: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    is_touched: bool = False
    depends: frozenset[Dependence] = frozenset()

    @classmethod
    def of(cls, held: HeldPosition) -> Kept:
        """As it is now."""
        kept = cls(held.ref.protocol, held.ref.kind, depends=depends_of_position(held.position))
        kept.held_back.update(held.held_back)
        for leg in held.position.legs:
            (kept.held if leg.raw > 0 else kept.owed)[leg.token] += abs(leg.raw)
        return kept

    @property
    def is_one(self) -> bool:
        """Whether its tokens stand or fall together, so that all of it counts for each of them."""
        return self.kind != ACCOUNT

    def change(self, token: str, raw: int, *, is_debt: bool) -> None:
        """Move it by signed base units: more is deposited or repaid, less is taken out or borrowed."""
        if is_debt or (raw > 0 and token in self.owed and token not in self.held):
            repaid = min(raw, self.owed[token]) if raw > 0 else raw
            self.owed[token] -= repaid
            self.held[token] += raw - repaid
            return
        if raw < 0:
            uncounted = min(-raw, self.held_back[token])
            self.held_back[token] -= uncounted
            raw += uncounted
        taken = min(-raw, self.held[token]) if raw < 0 else 0
        self.held[token] += raw if raw > 0 else -taken
        if raw < 0:
            self.owed[token] += -raw - taken


@dataclass(slots=True)
class Foresight:
    """Holdings on their way: `wallet` in base units by token, positions by name; `opened` counts new ones."""

    wallet: dict[str, int]
    positions: dict[Key, Kept]
    opened: int = 0

    @classmethod
    def of(cls, holdings: Holdings) -> Foresight:
        """As they are now."""
        wallet: dict[str, int] = defaultdict(int)
        wallet.update({each.token.address: each.raw for each in holdings.tokens})
        return cls(wallet, {str(each.ref): Kept.of(each) for each in holdings.positions})

    def let_happen(self, under_way: Sequence[UnderWay], protocol: str) -> None:
        """Let everything happen that other permits are about to do. What enters a venue unsaid enters `protocol`."""
        for other in under_way:
            if other.changes:
                self.move(other.receives, other.spends)
                self.apply(other.changes, by=other.permit_id)
            elif other.enters:
                self.move((), other.spends)
                self.enter(other.spends, other.protocol or protocol, other.position_id, by=other.permit_id)
            else:
                self.move(other.receives, other.spends)

    def move(self, receives: Iterable[TokenFlow], spends: Iterable[TokenFlow]) -> None:
        """Tokens reach the wallet and leave it; nothing becomes less than none."""
        for flow in receives:
            self.wallet[flow.token.address] += flow.expected
        for flow in spends:
            self.wallet[flow.token.address] = max(0, self.wallet[flow.token.address] - flow.expected)

    def apply(self, changes: Iterable[PositionChange], *, by: str) -> None:
        """What `by` says it changes in positions; those it opens at one protocol are one."""
        for change in changes:
            key = str(change.ref) if change.ref is not None else f"{change.protocol}/{change.kind} of {by}"
            kept = self._find(key, change.protocol, change.ref.kind if change.ref is not None else change.kind)
            if change.counts:
                kept.change(change.token, change.expected, is_debt=change.kind == DEBT)

    def enter(self, spends: Iterable[TokenFlow], protocol: str, position_id: str, *, by: str) -> Kept:
        """What a plan puts into a venue without saying where: into the position it names, or one of its own."""
        named = next((key for key in self.positions if position_id and _is(key, protocol, position_id)), "")
        own = f"{protocol}/{position_id} by its id" if position_id else f"{protocol} of {by}"
        kept = self._find(named or own, protocol, "", is_new=not position_id)
        for flow in spends:
            kept.change(flow.token.address, flow.expected, is_debt=False)
        return kept

    def _find(self, key: Key, protocol: str, kind: str, *, is_new: bool = True) -> Kept:
        if key not in self.positions:
            self.positions[key] = Kept(protocol, kind, depends=depends_of_protocol(protocol))
            # One that is named by an id and not among those held is somebody else's, or not read.
            self.opened += is_new
        kept = self.positions[key]
        kept.is_touched = True
        return kept


@dataclass(frozen=True, slots=True)
class Share:
    """What is kept of one asset at one protocol, in micro-USD, before and after."""

    protocol: str
    asset: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Dependent:
    """What depends on one issuer, bridge or oracle, in micro-USD, before and after."""

    kind: str
    name: str
    before: int
    after: int


def _is(key: Key, protocol: str, position_id: str) -> bool:
    try:
        ref = PositionRef.parse(key)
    except ValueError:
        return False
    return ref.protocol == protocol and ref.id == position_id
