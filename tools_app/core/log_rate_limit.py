"""A bound on log lines that say the same again and again, whoever causes them: they fill no disk and take no time."""

from __future__ import annotations

import logging
import threading
from typing import Final

from tools_app.core import clock

MOST_A_MINUTE: Final = 60
"""So many lines of one place in the code are written within a minute, by one process."""
_MINUTE_MS: Final = 60_000


class PaceFilter(logging.Filter):
    """Lets MOST_A_MINUTE lines of a place in the code through; the first one of a later minute tells how many were not
    written. Adds `left_out` to every record that is.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        # Begin of its minute, lines written in it, lines left out since: by place, of which code has so many.
        self._places: dict[tuple[str, int], tuple[float, int, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        place, now = (record.pathname, record.lineno), clock.monotonic_ms()
        with self._lock:
            begun, written, left_out = self._places.get(place, (now, 0, 0))
            if now - begun >= _MINUTE_MS:
                begun, written = now, 0
            is_written = written < MOST_A_MINUTE
            self._places[place] = (begun, written + 1, 0) if is_written else (begun, written, left_out + 1)
        record.left_out = f" ({left_out} more of this kind were not written)" if is_written and left_out else ""
        return is_written
