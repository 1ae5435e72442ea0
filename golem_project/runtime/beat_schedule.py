"""Reads beat's schedule from the database, so that an operator's change holds soon, whatever the clock does.

The package asks the database whether it changed at every look at the schedule, thirty times a second with tasks that
are due every second. And it believes what it once wrote: after a clock went forward and back, every task had run two
hours from now, and nothing was due until then, also for a new beat.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry

from tools_app.core import clock, liveness

LOOK_EVERY_MS: Final = 1_000


class BeatEntry(ModelEntry):
    """One row. It never ran later than now."""

    last_run_at: datetime | None
    model: Any  # Any: the row of a library without types

    def is_due(self) -> object:
        """Whether it is due and when to look again; what ran in a future that did not come ran now."""
        self.come_back(now=clock.now())
        return super().is_due()

    def save(self) -> None:
        """Write down that it ran, no later than now."""
        self.come_back(now=clock.now())
        super().save()

    def come_back(self, *, now: datetime) -> bool:
        """Whether it ran in a future that did not come. The row is shared by the entries before and after a run, each
        of which has a time of its own.
        """
        latest, is_ahead = now + clock.AHEAD, False
        for each in (self, self.model):
            if each.last_run_at is not None and each.last_run_at > latest:
                each.last_run_at, is_ahead = now, True
        return is_ahead


class Schedule(DatabaseScheduler):
    """The rows of `PeriodicTask`; a change of one is seen within a second."""

    Entry = BeatEntry
    _looked_at_ms: float | None = None
    _offset: datetime | None = None
    _pulse_ms: float | None = None

    def tick(self, *args: object, **kwargs: object) -> Any:  # Any: the library has no types
        """Send what is due; before that, see whether the clock was set, and say that beat is alive."""
        self._follow_clock()
        if self._pulse_ms is None or clock.monotonic_ms() - self._pulse_ms >= liveness.EVERY_SECONDS * 1000:
            self._pulse_ms = clock.monotonic_ms()
            liveness.beat(liveness.BEAT, now=clock.now())
        wait = super().tick(*args, **kwargs)
        return min(wait, liveness.EVERY_SECONDS) if wait else wait

    def schedule_changed(self) -> object:
        """Whether a row changed since the last look, which was a second ago at least; else no."""
        now_ms = clock.monotonic_ms()
        if self._looked_at_ms is not None and now_ms - self._looked_at_ms < LOOK_EVERY_MS:
            return False
        self._looked_at_ms = now_ms
        before = self._last_timestamp
        # The package takes only a later time for a change; after a clock was set back the next one is earlier.
        return super().schedule_changed() or (before is not None and self._last_timestamp != before)

    def _follow_clock(self) -> None:
        """Its heap holds times of the wall clock: after a jump, and at the start, it is made anew, and what was written
        in a future that did not come is written again, for the next run of a row may be hours away.
        """
        offset = clock.now() - timedelta(milliseconds=clock.monotonic_ms())
        before, self._offset = self._offset, offset
        if before is not None and abs((offset - before).total_seconds()) <= clock.AHEAD.total_seconds():
            return
        self._heap = None
        ahead = {name for name, entry in self.schedule.items() if entry.come_back(now=clock.now())}
        if ahead:
            self._dirty |= ahead
            self.sync()
