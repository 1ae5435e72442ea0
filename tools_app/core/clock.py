"""The only reader of the system clock. Everything else is handed `now`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_SET_BACK_SECONDS: Final = 2.0
"""A clock that was set back by no more is not followed: time goes on from where it was."""


_DRIFT_SECONDS: Final = 30.0
"""So long a comparison with the clock that all processes share is enough for a process whose own did not jump."""


class _Jumps:
    """What this process knows of its wall clock, held against the one that never jumps."""

    highest = float("-inf")
    was_set_back = False
    compared_at: float | None = None
    """By the clock that never jumps; None where this process was never compared, and follows its wall clock."""
    right = float("-inf")
    """Where the wall clock stood when it was last found right."""
    shared: float | None = None
    """Where the shared clock stands; only while the wall clock is known to be wrong."""
    went_ahead = False

    def forget(self) -> None:
        vars(self).clear()


_jumps = _Jumps()


def now() -> datetime:
    """The current UTC time, aware. In one process it goes back only where the wall clock was set back by seconds, which
    is noticed; by less nothing is lengthened. Once it was compared (`hold_to`), no jump ahead ends a wait: time goes on
    from where it was until the shared clock says the same.
    """
    at, passed = time.time(), time.perf_counter()
    offset = at - passed
    if _jumps.shared is not None:
        at = passed + _jumps.shared
    elif _jumps.compared_at is not None and offset > _jumps.right + _SET_BACK_SECONDS:
        _jumps.went_ahead = True
        at = passed + max(_jumps.highest, _jumps.right)
    elif offset < _jumps.highest - _SET_BACK_SECONDS:
        _jumps.was_set_back, _jumps.highest = True, offset
    elif offset >= _jumps.highest:
        _jumps.highest = offset
    else:
        at = passed + _jumps.highest
    return datetime.fromtimestamp(at, tz=UTC)


def wall() -> datetime:
    """What the clock of this process's machine says, right or wrong."""
    return datetime.fromtimestamp(time.time(), tz=UTC)


def is_doubtful() -> bool:
    """Whether a process that was compared should be again: its clock jumped or is wrong, or may have drifted."""
    now()
    if _jumps.compared_at is None:
        return False
    jumped = _jumps.went_ahead or _jumps.was_set_back or _jumps.shared is not None
    return jumped or time.perf_counter() - _jumps.compared_at > _DRIFT_SECONDS


def hold_to(shared: datetime, *, within: timedelta) -> bool:
    """Compare this process with the clock that all share, which says `shared`: follow its own where the two are
    `within` of each other, else the shared one. Whether its own is right.
    """
    at, passed = time.time(), time.perf_counter()
    is_right = abs(at - shared.timestamp()) <= within.total_seconds()
    _jumps.compared_at, _jumps.went_ahead = passed, False
    if is_right:
        _jumps.shared, _jumps.right = None, at - passed
    else:
        # What it wrote it wrote by another clock: nothing of it lies in a future that did not come.
        _jumps.shared, _jumps.was_set_back = shared.timestamp() - passed, False
    return is_right


def follow_wall() -> None:
    """Follow the wall clock alone from here on, as who was never compared does."""
    _jumps.forget()


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
