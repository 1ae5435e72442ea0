"""Measures the milliseconds of each stage of a preview."""

from __future__ import annotations

from tools_app.core import clock


class Stopwatch:
    """Milliseconds of each stage, answered with the permit so that a slow preview explains itself."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since_ms = clock.monotonic_ms()

    def lap(self, name: str) -> None:
        now_ms = clock.monotonic_ms()
        self.laps[name] = round(now_ms - self._since_ms, 1)
        self._since_ms = now_ms
