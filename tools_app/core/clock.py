"""The only reader of the system clock. Everything else is handed `now`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_SET_BACK_SECONDS: Final = 2.0
"""A clock that was set back by no more is not followed: time goes on from where it was."""


class _Jumps:
    """Whether the wall clock of this process fell behind the one that never jumps."""

    def __init__(self) -> None:
        self.highest = float("-inf")
        self.was_set_back = False


_jumps = _Jumps()


def now() -> datetime:
    """The current UTC time, aware. In one process it goes back only where the wall clock was set back by seconds, which
    is noticed; by less nothing is lengthened.
    """
    at, passed = time.time(), time.perf_counter()
    offset = at - passed
    if offset < _jumps.highest - _SET_BACK_SECONDS:
        _jumps.was_set_back, _jumps.highest = True, offset
    elif offset >= _jumps.highest:
        _jumps.highest = offset
    else:
        at = passed + _jumps.highest
    return datetime.fromtimestamp(at, tz=UTC)


AHEAD: Final = timedelta(seconds=2)
"""How far ahead a time may lie that another process just wrote: the clocks of two machines differ a little."""


def outlives(expires_at: datetime, *, longest: timedelta, now: datetime) -> bool:
    """Whether what ends at `expires_at` was made before a clock was set back: nothing lives longer than `longest`."""
    return expires_at > now + longest + AHEAD


def is_over(ends_at: datetime, *, longest: timedelta, now: datetime) -> bool:
    """Whether what lives until `ends_at`, and for `longest` at most, has ended or was made before a clock was set
    back.
    """
    return now >= ends_at or outlives(ends_at, longest=longest, now=now)


def take_set_back() -> bool:
    """Whether the clock was set back by seconds since this was asked last; what it wrote before lies in the future."""
    was, _jumps.was_set_back = _jumps.was_set_back, False
    return was


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


def tell_unix_time(seconds: int) -> str:
    """A chain's time (Unix seconds) as answers tell it, in ISO 8601 and UTC."""
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat()


def tell_time(moment: datetime | None) -> str | None:
    """A moment as answers tell it, in ISO 8601; None where there is none."""
    return moment.isoformat() if moment is not None else None
