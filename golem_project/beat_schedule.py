"""Beat's schedule, read from the database as often as an operator who changes it could notice.

The package asks the database whether it changed at every look at the schedule, thirty times a second with tasks that
are due every second.
"""

from __future__ import annotations

from typing import Any, Final

from django_celery_beat.schedulers import DatabaseScheduler

from tools_app.core import clock

LOOK_EVERY_MS: Final = 1_000


class Schedule(DatabaseScheduler):
    """The rows of `PeriodicTask`; a change of one is seen within a second."""

    _looked_at_ms: float | None = None

    def schedule_changed(self) -> Any:
        """Whether a row changed since the last look, which was a second ago at least; else no."""
        now_ms = clock.monotonic_ms()
        if self._looked_at_ms is not None and now_ms - self._looked_at_ms < LOOK_EVERY_MS:
            return False
        self._looked_at_ms = now_ms
        return super().schedule_changed()
