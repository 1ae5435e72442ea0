"""Bounds the time of a run by the clock, so that no contract can hang a worker."""

from __future__ import annotations

from typing import Final

from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationTimeout, SimulationUnavailable

TICKS_PER_LOOK: Final = 4_096
_SLOW_MS: Final = 1
MOST_GAS: Final = 30_000_000
"""A transaction has no more gas than this in this process, whatever a block's header says: gas buys memory."""
MOST_FRAMES: Final = 50_000
"""Calls within one run; every one leaves something behind until the run ends."""


class Budget:
    """Counts jumps, by how far the code before them may have run, and calls; it looks at the deadline every
    TICKS_PER_LOOK of them.
    """

    __slots__ = ("_deadline", "_frames", "ticks")

    def __init__(self, deadline: Deadline | None) -> None:
        self._deadline = deadline
        self._frames = 0
        self.ticks = TICKS_PER_LOOK

    def spend_frame(self) -> None:
        """One call begins, a precompile's too. Raises SimulationTimeout, SimulationUnavailable."""
        self._frames += 1
        if self._frames > MOST_FRAMES and self._deadline is not None:
            raise SimulationUnavailable(f"The calls make more than {MOST_FRAMES} calls, too many to run in process")
        self.ticks -= 1
        if self.ticks < 0:
            self.check()

    def check(self) -> None:
        """Raises SimulationTimeout once the deadline has passed."""
        self.ticks = TICKS_PER_LOOK
        if self._deadline is not None and self._deadline.is_over:
            raise SimulationTimeout("The calls ran longer in process than there was time for")

    def check_ahead(self, ms: float) -> None:
        """Something that takes `ms` milliseconds and cannot be interrupted begins. Raises SimulationTimeout."""
        if ms and self._deadline is not None and self._deadline.remaining_ms() < ms:
            raise SimulationTimeout("A precompile would take longer in process than there is time for")

    def check_slow(self, ms: float) -> None:
        """Something that was foreseen to take `ms` milliseconds is done. Raises SimulationTimeout."""
        if ms >= _SLOW_MS:
            self.check()
