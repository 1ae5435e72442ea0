"""How sure a heuristic is: a Beta distribution over "it holds", whose evidence fades by half in 45 days. Pure.

Belief is the mean (PRIOR_FOR + for) / (PRIOR + for + against), with the evidence in thousandths of one observation.
A cycle of outcomes that fit adds three quarters of one, a single outcome that does not fit one and a half: a figure
that is wrong costs a revert's gas, one that is right saves a little. Evidence for is kept up to four, so that three
outcomes in a row undo what any number of them had built up. Without evidence a heuristic is believed at 45%, which is
under the 50% from which it tunes: what nobody has seen hold for long enough stops by itself.

See docs/decisions/0585-memory-what-a-heuristic-is-worth-fades.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self

from memory_app.models.insight import Insight
from tools_app.core.units import BPS

HALF_LIFE: Final = timedelta(days=45)
PRIOR_FOR: Final = 900
PRIOR_AGAINST: Final = 1_100
CONFIRMATION: Final = 750
CONTRADICTION: Final = 1_500
MOST_FOR: Final = 4_000
MOST_AGAINST: Final = 8_000


@dataclass(frozen=True, slots=True)
class Belief:
    """Evidence in thousandths of one observation, beyond the prior."""

    supporting: int = 0
    opposing: int = 0

    @classmethod
    def of(cls, row: Insight) -> Self:
        """The belief behind a row; worked out of its confidence where somebody else than outcomes set that."""
        return cls.read(supporting=row.evidence_for, opposing=row.evidence_against, percent=row.confidence_percent)

    @classmethod
    def read(cls, *, supporting: int, opposing: int, percent: int) -> Self:
        """The same of columns."""
        found = cls(supporting, opposing)
        return found if found.percent == percent else cls.from_percent(percent)

    @classmethod
    def from_percent(cls, percent: int) -> Self:
        """The least evidence that makes it as sure as `percent`, as far as evidence is kept."""
        prior = PRIOR_FOR + PRIOR_AGAINST
        if percent * prior >= 100 * PRIOR_FOR:
            wanted = MOST_FOR if percent >= 100 else -(-(percent * prior - 100 * PRIOR_FOR) // (100 - percent))
            return cls(supporting=min(MOST_FOR, wanted))
        wanted = MOST_AGAINST if percent <= 0 else (100 * PRIOR_FOR - percent * prior) // percent
        return cls(opposing=min(MOST_AGAINST, wanted))

    @property
    def percent(self) -> int:
        """How sure it is, in whole percent, rounded down."""
        held = PRIOR_FOR + self.supporting
        return 100 * held // (held + PRIOR_AGAINST + self.opposing)

    def confirmed(self) -> Self:
        """After one more cycle of outcomes that fit."""
        return type(self)(min(MOST_FOR, self.supporting + CONFIRMATION), self.opposing)

    def contradicted(self, outcomes: int = 1) -> Self:
        """After `outcomes` that do not fit, one at least."""
        return type(self)(self.supporting, min(MOST_AGAINST, self.opposing + CONTRADICTION * max(1, outcomes)))

    def faded(self, age: timedelta) -> Self:
        """After `age` without news; a clock that went back fades nothing."""
        return type(self)(fade(self.supporting, age), fade(self.opposing, age))


def fade(amount: int, age: timedelta) -> int:
    """What is left of `amount` after `age`: half of it after each half-life, rounded down."""
    if age <= timedelta(0):
        return amount
    return int(amount * 0.5 ** (age / HALF_LIFE))


def fade_factor(factor_bps: int, age: timedelta) -> int:
    """A factor on its way back to what is asked for: half of the way after each half-life."""
    if factor_bps >= BPS:
        return BPS + fade(factor_bps - BPS, age)
    return BPS - fade(BPS - factor_bps, age)


def age_of(moved_at: datetime | None, *, now: datetime) -> timedelta:
    """How long ago a heuristic was last moved; nothing for one that never was."""
    return timedelta(0) if moved_at is None else now - moved_at
