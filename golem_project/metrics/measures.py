"""Every measure that processes count by themselves: its name, its labels, and whether it is a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the classes of a time, in seconds."""


@dataclass(frozen=True, slots=True)
class CountedFigure:
    """One family of figures. What is timed is told as a histogram of seconds, all else as a count."""

    name: str
    words: str
    labels: tuple[str, ...]
    is_timed: bool = False


REQUESTS: Final = CountedFigure(
    "golem_request_seconds", "Seconds until an answer began", ("endpoint", "method", "status"), is_timed=True
)
TASKS: Final = CountedFigure("golem_task_seconds", "Seconds of work on a task", ("task", "outcome"), is_timed=True)
WAITS: Final = CountedFigure(
    "golem_queue_wait_seconds", "Seconds that a task waited until a worker took it", ("queue",), is_timed=True
)
RETRIES: Final = CountedFigure("golem_task_retries", "Tasks that asked to be tried again", ("task",))
REFUSALS: Final = CountedFigure(
    "golem_refusals", "Refusals of the API, by code and by the rule of a hook", ("code", "rule")
)

ALL: Final = (REQUESTS, TASKS, WAITS, RETRIES, REFUSALS)
BY_NAME: Final = {measure.name: measure for measure in ALL}
