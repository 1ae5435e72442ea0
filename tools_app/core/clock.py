"""The only reader of the system clock. Everything else is handed `now`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime


def now() -> datetime:
    """The current UTC time, aware."""
    return datetime.now(tz=UTC)


def monotonic_ms() -> float:
    """Milliseconds on a clock that never jumps, for durations and deadlines."""
    return time.perf_counter() * 1000


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point on the monotonic clock by which a call must be done."""

    at_ms: float

    @classmethod
    def after_ms(cls, budget_ms: float) -> Deadline:
        return cls(at_ms=monotonic_ms() + budget_ms)

    def remaining_ms(self) -> float:
        """Milliseconds left, zero once passed."""
        return max(0.0, self.at_ms - monotonic_ms())

    @property
    def is_over(self) -> bool:
        return monotonic_ms() >= self.at_ms
