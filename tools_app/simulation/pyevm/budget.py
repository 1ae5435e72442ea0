"""How long a run may take: a wall clock looked at every few thousand jumps, so that no contract can hang a worker."""

from __future__ import annotations

from typing import Final

from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationTimeout

TICKS_PER_LOOK: Final = 4_096


class Budget:
    """Counts jumps and calls; every TICKS_PER_LOOK of them it looks at the deadline."""

    __slots__ = ("_deadline", "ticks")

    def __init__(self, deadline: Deadline | None) -> None:
        self._deadline = deadline
        self.ticks = TICKS_PER_LOOK

    def spend_tick(self) -> None:
        """One call frame begins. Raises SimulationTimeout."""
        self.ticks -= 1
        if self.ticks < 0:
            self.check()

    def check(self) -> None:
        """Raises SimulationTimeout once the deadline has passed."""
        self.ticks = TICKS_PER_LOOK
        if self._deadline is not None and self._deadline.is_over:
            raise SimulationTimeout("The calls ran longer in process than there was time for")

    def check_ahead(self, ms: int) -> None:
        """Something that takes `ms` milliseconds and cannot be interrupted begins. Raises SimulationTimeout."""
        if ms and self._deadline is not None and self._deadline.remaining_ms() < ms:
            raise SimulationTimeout("A precompile would take longer in process than there is time for")
