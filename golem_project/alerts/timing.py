"""Decides when a channel's lines are sent: at once, with its digest, or after its quiet hours. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

_FIRST_WAIT: Final = timedelta(minutes=1)
_LONGEST_WAIT: Final = timedelta(hours=1)


def is_quiet(at: datetime, *, quiet_from: int | None, quiet_until: int | None, time_zone: str) -> bool:
    """Whether `at` lies in the quiet hours, in minutes of the day there; they may go past midnight."""
    if quiet_from is None or quiet_until is None:
        return False
    there = at.astimezone(ZoneInfo(time_zone))
    minute = there.hour * 60 + there.minute
    if quiet_from <= quiet_until:
        return quiet_from <= minute < quiet_until
    return minute >= quiet_from or minute < quiet_until


def is_due(
    *,
    oldest: datetime,
    has_urgent: bool,
    now: datetime,
    digest_minutes: int,
    quiet_from: int | None,
    quiet_until: int | None,
    time_zone: str,
) -> bool:
    """Whether lines that wait since `oldest` are to be sent now. What is urgent waits for nothing."""
    if has_urgent:
        return True
    if is_quiet(now, quiet_from=quiet_from, quiet_until=quiet_until, time_zone=time_zone):
        return False
    return now >= oldest + timedelta(minutes=digest_minutes)


def wait_after(failures: int) -> timedelta:
    """How long to wait after so many failures in a row: a minute, doubled each time, an hour at most."""
    doubled: timedelta = _FIRST_WAIT * 2 ** min(failures - 1, 6)
    return min(doubled, _LONGEST_WAIT)
