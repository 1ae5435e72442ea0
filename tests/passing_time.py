"""Time that passes for this process: whoever reads the product's clock, or lets a column fill itself, finds it later.

A test never writes when something ends. It lets the time pass until then, and looks.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from tools_app.core import clock

if TYPE_CHECKING:
    from tests.evm.world import World


class PassingTime:
    """How far this process is ahead of its machine; both clocks go on from there."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self._own = timedelta()
        self._patch: pytest.MonkeyPatch | None = None
        self._now, self._fill = clock.now, timezone.now

    def let_pass(self, span: timedelta, *, chain: World | None = None) -> datetime:
        """Go on by `span`, and `chain` with it when it is told; the time it is then."""
        assert span >= timedelta(), "time goes forward"
        self.ahead, self._own = self.ahead + span, timedelta()
        self._move()
        # Everybody's clock went on, and the one that all share too.
        clock.follow_wall()
        at = clock.now()
        if chain is not None:
            chain.rpc.call("evm_setTime", int(at.timestamp()))
            chain.rpc.call("evm_mine")
        return at

    def move_own_clock(self, span: timedelta) -> None:
        """Set the wall clock of this process by `span`; the database's, which all share, stays as it is. From here on
        the process is one that was compared with it, as each server and worker is at its start.
        """
        if not self._own:
            clock.hold_to(clock.wall(), within=timedelta(seconds=1))
        self._own += span
        self._move()

    def _move(self) -> None:
        if self._patch is None:
            assert clock.now is self._now, "something else moves the clock"
            self._patch = pytest.MonkeyPatch()
            # Beneath the clock, so that who took hold of its function when it was imported finds it later too.
            self._patch.setattr(clock, "time", SimpleNamespace(time=self._read, perf_counter=time.perf_counter))
            self._patch.setattr(timezone, "now", lambda: self._fill() + self.ahead + self._own)

    def let_pass_until(self, moment: datetime | None, *, chain: World | None = None) -> datetime:
        """Go on until it is `moment`, if it is not yet; the time it is then."""
        assert moment is not None, "it ends at no time"
        return self.let_pass(max(timedelta(), moment - clock.now()), chain=chain)

    def come_back(self) -> None:
        """To the machine's time, where each test begins."""
        self.ahead = self._own = timedelta()
        if self._patch is not None:
            self._patch.undo()
            self._patch = None
        # Nobody is told of a clock that was set back, and no test begins as a process that was compared.
        clock.follow_wall()

    def _read(self) -> float:
        return time.time() + (self.ahead + self._own).total_seconds()


_passing = PassingTime()
let_pass = _passing.let_pass
let_pass_until = _passing.let_pass_until
move_own_clock = _passing.move_own_clock
come_back = _passing.come_back
