"""A search of many waves that goes on where it stopped: what was learned so far, and how much it was."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.proof.heists.crew import Crew, Outcome
from tests.proof.heists.scouting import Scout
from tests.proof.heists.steps import Order, Turn

HEISTS_PER_WAVE = 90


@dataclass
class Tally:
    """How many batches there were, how many of them ran, the most of them one after the other, and the seconds of it
    all, on the clock and on processors.
    """

    batches: int = 0
    ran: int = 0
    deepest: int = 0
    most_ran: int = 0
    seconds: float = 0
    processor_seconds: float = 0

    def add(self, outcome: Outcome) -> None:
        """One more heist. The batches that a turned heist has from another count once."""
        self.batches += outcome.batches
        self.ran += outcome.ran
        self.deepest = max(self.deepest, outcome.depth)
        self.most_ran = max(self.most_ran, outcome.ran_in_all)
        self.processor_seconds += outcome.seconds


@dataclass
class Campaign:
    """The waves of one search."""

    scout: Scout = field(default_factory=Scout)
    tally: Tally = field(default_factory=Tally)

    def run_wave(self, number: int, crew: Crew) -> Iterator[Outcome]:
        """The heists of one wave; each is learned from."""
        started = time.monotonic()
        for outcome in crew.run(self.scout.choose(number * HEISTS_PER_WAVE, HEISTS_PER_WAVE)):
            self.scout.learn(outcome.order, outcome.places)
            self.tally.add(outcome)
            yield outcome
        self.tally.seconds += time.monotonic() - started

    def describe(self) -> str:
        """What there was so far, in a line."""
        tally = self.tally
        return (
            f"{tally.batches} batches, of which {tally.ran} ran, in {tally.seconds:.0f} s"
            f" and {tally.processor_seconds:.0f} s of processors;"
            f" at most {tally.deepest} in a row and {tally.most_ran} that ran;"
            f" {len(self.scout.known)} places known, {len(self.scout.waiting)} steps to set out from"
        )

    def save(self, path: Path) -> None:
        """As a file."""
        waiting = [[order.number, [list(turn) for turn in order.turns]] for order in self.scout.waiting]
        kept = {"tally": asdict(self.tally), "known": sorted(self.scout.known), "waiting": waiting}
        path.write_text(json.dumps(kept), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Campaign:
        """What another one saved; a new one where there is no file."""
        if not path.exists():
            return cls()
        kept = json.loads(path.read_text(encoding="utf-8"))
        waiting = deque(Order(number, tuple(Turn(*turn) for turn in turns)) for number, turns in kept["waiting"])
        return cls(Scout(set(kept["known"]), waiting), Tally(**kept["tally"]))
