"""Makes refused wishes wait, so that they are not asked again every tick. Pure.

A refusal that names when it ends waits until then; another doubles the wait, up to a day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tools_app.core.errors import Recovery
from tools_app.core.stored_json import read_stored

_FIRST: Final[Mapping[Recovery, timedelta]] = {
    Recovery.PREVIEW_AGAIN: timedelta(0),
    Recovery.WAIT: timedelta(seconds=30),
    Recovery.CHECK_STATE: timedelta(seconds=30),
    Recovery.FIX_PARAMS: timedelta(minutes=5),
    Recovery.ASK_OWNER: timedelta(minutes=30),
    Recovery.GIVE_UP: timedelta(hours=1),
}
REHEARSED: Final = "REHEARSED"
REHEARSAL: Final = timedelta(minutes=10)
_LONGEST: Final = timedelta(days=1)
_MOST_KEPT: Final = 32


@dataclass(frozen=True, slots=True)
class WishBackoff:
    """Why a wish waits: the code of the refusal, how often in a row, and until when."""

    until: datetime
    code: str
    count: int


def wait_after(
    *, before: WishBackoff | None, code: str, recovery: Recovery, resets_at: datetime | None, now: datetime
) -> WishBackoff:
    """The wait after one more refusal."""
    count = before.count + 1 if before is not None and before.code == code else 1
    first = _FIRST[recovery]
    # The second time even "preview again" waits.
    if count > 1 and not first:
        first = timedelta(seconds=30)
    step = min(_LONGEST, first * 2 ** min(count - 1, 12))
    until = now + step
    if resets_at is not None and now < resets_at <= now + _LONGEST:
        until = max(until, resets_at) if recovery is not Recovery.WAIT else resets_at
    return WishBackoff(until, code, count)


def is_waiting(wait: WishBackoff | None, *, now: datetime) -> bool:
    """Whether a wish has to wait still; a wait longer than a day was written by another clock and does not count."""
    return wait is not None and now < wait.until <= now + _LONGEST


def read_waits(stored: Mapping[str, object]) -> dict[str, WishBackoff]:
    """The waits of a stored state."""
    return {key: read_stored(WishBackoff, row) for key, row in stored.items()}


def write_waits(waits: Mapping[str, WishBackoff], *, now: datetime) -> dict[str, object]:
    """What is worth storing: the latest, and none that ended more than a day ago."""
    kept = sorted(
        ((key, wait) for key, wait in waits.items() if wait.until > now - _LONGEST), key=lambda item: item[1].until
    )[-_MOST_KEPT:]
    return {key: {"until": wait.until.isoformat(), "code": wait.code, "count": wait.count} for key, wait in kept}
