"""The fall from the high-water mark as another limit would have recorded it, decision by decision.

The marks that were read with each decision are followed; only what a limit decides of them, whether a fall stands as a
violation, is decided anew. A violation of the draft's own stands until the record shows an acknowledgement.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from permits_app.safety.call_records import Mark
from permits_app.safety.drawdown import (
    BREAKER_BLOCK_BPS,
    VOLATILITY_DENOMINATOR,
    VOLATILITY_NUMERATOR,
    Fall,
    fall_of,
    move_mark,
)

_LEAST_BLOCK_BPS = BREAKER_BLOCK_BPS * VOLATILITY_NUMERATOR // VOLATILITY_DENOMINATOR


class DrawdownFold:
    """Call `mark_before` and, where the draft comes to measure, `measure` for every decision, oldest first."""

    def __init__(self, *, most_bps: int, began_at: datetime) -> None:
        self._most_bps = most_bps
        self._began_at = began_at
        self._violation: tuple[datetime, int] | None = None
        self._recorded: datetime | None = None
        self._measured: set[datetime] = set()
        self._own: Mark | None = None
        self.is_known = True
        """Off while the record holds a violation of which this limit cannot be told whether it had seen one."""

    def mark_before(self, recorded: Mark | None) -> Mark | None:
        """The mark before a decision as the draft had it. `recorded` is what was read then."""
        if recorded is None:
            return None
        # An acknowledgement leaves a mark of zero that stands until the next measurement.
        is_acknowledged = recorded.violated_at is None and recorded.value_micro_usd == 0
        if is_acknowledged or self._recorded not in (None, recorded.violated_at):
            self._violation, self._own, self.is_known = None, None, True
        if recorded.violated_at != self._recorded:
            self._recorded = recorded.violated_at
            self._take_over(recorded)
        if self._violation is not None:
            return replace(recorded, violated_at=self._violation[0], violated_bps=self._violation[1])
        if recorded.violated_at is None:
            return recorded
        # The recorded mark stands still under its violation; the draft's goes on.
        return self._own or replace(recorded, violated_at=None, violated_bps=0)

    def measure(self, mark: Mark | None, *, value_micro_usd: int, at: datetime) -> Fall:
        """What `value_micro_usd` does to the draft's mark."""
        moved = move_mark(
            mark=mark or Mark(value_micro_usd, at), value_micro_usd=value_micro_usd, most_bps=self._most_bps, now=at
        )
        self._measured.add(at)
        if moved.violated_at is not None:
            self._violation = (moved.violated_at, moved.violated_bps)
        elif self._recorded is not None:
            self._own = moved
        return fall_of(moved)

    def _take_over(self, recorded: Mark) -> None:
        """A violation that comes from no decision of the period, but from a commit or from before it."""
        at, bps = recorded.violated_at, recorded.violated_bps
        if at is None or at in self._measured or self._violation is not None:
            return
        if bps > self._most_bps or bps >= BREAKER_BLOCK_BPS:
            self._violation = (at, bps)
        elif at < self._began_at or bps >= _LEAST_BLOCK_BPS:
            self.is_known = False
