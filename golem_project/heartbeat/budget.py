"""The time of one tick, and what is left of it for all that runs inside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tools_app import runner
from tools_app.core.clock import Deadline


@contextmanager
def open_tick_budget(*, theta_seconds: int, most_seconds: int) -> Iterator[Deadline]:
    """The deadline of a tick: its theta, at most `most_seconds`; every tool and chain read inside ends by it."""
    deadline = Deadline.after_ms(min(theta_seconds, most_seconds) * 1_000)
    with runner.bounded_by(deadline):
        yield deadline
