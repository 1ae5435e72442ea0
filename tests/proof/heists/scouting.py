"""Which heists are worth going on with: those that came where no other had been.

A place is what a batch called, what became of it, and how the Safe stood before: in which phase, with what lent, owed,
in the vault and in positions, and how much of a day's loss was used up. Code is not watched, for revm in this process
tells nothing of it; what the cage answers and what it leaves behind are.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.proof.caged.engines import Sent
from tests.proof.heists.steps import Heist, Order, Turn
from tests.proof.heists.watch import Seen

MOST_TURNS = 8
MOST_WAITING = 3_000
# All ways on from one step stand on the same trunk, which runs once.
WAYS = range(1, 7)
# Of so many heists of a wave one is turned, while there are any to turn.
ONE_IN = 3
_SELECTOR_BYTES = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Where a step came: a number that is the same in every process, and the step."""

    number: int
    step: int


def find_places(heist: Heist, done: Sequence[tuple[Sent, Seen]], percent_lost: Sequence[int]) -> list[Place]:
    """The places of one heist, each once, in the order of its steps."""
    found: dict[int, int] = {}
    for index, step in enumerate(heist.steps):
        if index < heist.opening or not step.calls:
            continue
        sent, before = done[index][0], done[index - 1][1]
        called = [(call.to, call.data[:_SELECTOR_BYTES]) for call in step.calls]
        answered = b"" if sent.succeeded else sent.output[:_SELECTOR_BYTES]
        place = (step.sender, called, sent.succeeded, answered, heist.phase, heist.is_lied_to, _stand(before))
        found.setdefault(zlib.crc32(repr((place, percent_lost[index - 1])).encode()), index)
    return [Place(number, index) for number, index in found.items()]


def _stand(seen: Seen) -> tuple[object, ...]:
    """Coarsely, how the Safe stands."""
    lent, owed = (tuple(symbol for symbol, amount in of.items() if amount) for of in (seen.lent, seen.owed))
    loan = seen.morpho
    at_morpho = loan.lent > 0, loan.pledged > 0, loan.owed > 0
    return lent, owed, seen.vault > 0, min(len(seen.positions), 3), at_morpho


@dataclass
class Scout:
    """Hands out heists, wave by wave, and learns from what came of them. The same heists come in the same order."""

    known: set[int] = field(default_factory=set)
    waiting: deque[Order] = field(default_factory=deque)
    """Where heists may be turned; each of them is yet to be taken in all ways."""

    def choose(self, first: int, heists: int) -> list[list[Order]]:
        """A wave: heists of new numbers from `first` on, and among them some that are turned: where it was new last, so
        that some go deep, and where it was new first. Those of one trunk are together.
        """
        turned = []
        for index in range(min(heists // ONE_IN // len(WAYS), len(self.waiting))):
            order = self.waiting.popleft() if index % 2 else self.waiting.pop()
            *before, last = order.turns
            turned.append([Order(order.number, (*before, Turn(last.step, way))) for way in WAYS])
        fresh = range(first, first + heists - len(turned) * len(WAYS))
        return [*([Order(number)] for number in fresh), *turned]

    def learn(self, order: Order, places: Sequence[Place]) -> None:
        """Where a heist came. What was new is where others will set out from; the last of it is the deepest."""
        new = [place for place in places if place.number not in self.known]
        self.known.update(place.number for place in new)
        if new and len(order.turns) < MOST_TURNS:
            self.waiting.append(Order(order.number, (*order.turns, Turn(new[-1].step + 1, 0))))
        while len(self.waiting) > MOST_WAITING:
            self.waiting.popleft()
