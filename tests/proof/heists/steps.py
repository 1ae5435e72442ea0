"""What happens in a heist, step by step, and what a finding can be about."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from tools_app.toolkit.plan import Call


class Finding(StrEnum):
    """What went wrong, as the owners would say it."""

    LOST = "the owners own less than the rules let a batch lose"
    LEFT = "more of an asset left wallet and positions than its cap"
    SIGNED = "what the owners signed was used up by a batch"
    LIQUIDATED = "a loan was liquidated though no price had moved"
    HALF = "half of a proposal was applied"
    RISKED = "another asset was gained in a phase for leaving"
    GROWN = "the wallet paid for larger positions in a phase that opens none"
    STUCK = "an asset that broke could not be taken off the list"
    STALE = "the old feed of what is not held stopped an exit"
    EXIT = "an honest exit was refused"
    DUST = "dust kept an asset on the list"
    GUARDIAN = "a guardian that was dismissed halted again"
    OWNED = "a contract of the Safe was changed by a batch"
    NARROW = "liquidity went into a range under the owners' least"
    IDENTITY = "the golem's identity went to another"
    SAID = "what is said of the golem's identity was changed by a batch"
    BORROWED = "a stranger had the Safe run steps"
    KEY = "a key that is no session key ran a batch"
    HALTED = "a batch ran while the cage was halted"
    JUMPED = "a batch ran at a price that jumped since the last one"
    SEQUENCER = "a batch ran while the sequencer was not up for long enough"
    ROLE = "a role let go of more than it was allowed"
    ANSWER = "the simulation answered what the heist cannot stand on"


class Act(StrEnum):
    """What a step is, for those who judge it."""

    BATCH = "batch"
    OTHER = "other"
    SETUP = "setup"
    PRICE = "price"
    LIQUIDATION = "liquidation"
    MUST_SUCCEED = "must succeed"
    MUST_FAIL = "must fail"
    NOTE = "prices noted"
    SEQUENCER = "sequencer"


@dataclass(frozen=True, slots=True)
class Step:
    """One transaction, so many seconds after the last; with none it is in the same block. `calls` are those of a batch.

    `finding` is what it means when one that must succeed or fail does not. `price` is a feed's new answer by symbol.
    """

    act: Act
    sender: str
    to: str
    data: bytes
    seconds: int = 1
    calls: tuple[Call, ...] = ()
    finding: Finding | None = None
    price: tuple[str, int] | None = None
    value: int = 0


class Turn(NamedTuple):
    """From this step on a heist goes another way than it did; `take` tells the ways apart."""

    step: int
    take: int


class Order(NamedTuple):
    """All that a heist follows from: its number, and where it was turned."""

    number: int
    turns: tuple[Turn, ...] = ()

    def __str__(self) -> str:
        return " ".join([str(self.number), *(f"turned at step {turn.step} ({turn.take})" for turn in self.turns)])


@dataclass(frozen=True, slots=True)
class Heist:
    """A run. `phase` is the golem's; `caps` are base units that may leave at once, by symbol; feeds of a heist that
    `is_lied_to` are not the truth. `tokens` are the V3 positions that can come to be. With step `opening` the thief
    begins; the steps before `fresh` are those of the heist that this one was turned from.
    """

    order: Order
    steps: tuple[Step, ...]
    phase: int = 0
    caps: dict[str, int] = field(default_factory=dict)
    is_lied_to: bool = False
    tokens: range = range(0)
    opening: int = 0
    fresh: int = 0

    @property
    def batches(self) -> int:
        """Those that no other heist has had."""
        return sum(step.act is Act.BATCH for step in self.steps[self.fresh :])

    @property
    def depth(self) -> int:
        """All of them, one after the other."""
        return sum(step.act is Act.BATCH for step in self.steps)
