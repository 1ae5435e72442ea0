"""One worst bound for amounts that change while an order waits: the most that leaves, the least that arrives.

Whatever path an auction takes from one amount to another, by time, by blocks or by what fillers pay, it stays within
what was signed. So an order is judged, reserved and shown by its worst, however it may turn out better.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decaying:
    """Base units of a token that go from `start` to `end` while the order waits; `limits` are what they cannot pass."""

    token: str
    start: int
    end: int
    limits: tuple[int, ...] = ()

    @property
    def most(self) -> int:
        """The most of it, for what leaves."""
        return max(self.start, self.end, *self.limits)

    @property
    def least(self) -> int:
        """The least of it, for what arrives."""
        return min(self.start, self.end, *self.limits)

    def at(self, now: int, *, begins: int, ends: int) -> int:
        """Where it is at `now`, on the straight line between `begins` and `ends`, rounded down."""
        if now <= begins:
            return self.start
        if now >= ends:
            return self.end
        return self.start + (self.end - self.start) * (now - begins) // (ends - begins)
