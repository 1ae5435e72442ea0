"""Declares figures and runs them. A measure is a function that returns one or more `Figure`s."""

from __future__ import annotations

import importlib
import pkgutil
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tools_app.core import clock


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `target` is the most (or, with `at_least`, the least) that keeps the promise.

    `reference` says what the value is compared with in the same run, with its own figure where there is one; `profile`,
    where the time goes.
    """

    id: str
    what: str
    value: float
    unit: str
    target: float | None = None
    reference: str = ""
    at_least: bool = False
    profile: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        if self.target is None:
            return True
        return self.value >= self.target if self.at_least else self.value <= self.target

    def as_dict(self) -> dict[str, Any]:
        """The row of `var/bench.json`."""
        members = asdict(self)
        members.pop("at_least")
        profile = members.pop("profile")
        return {**members, "ok": self.ok, **({"profile": list(profile)} if profile else {})}


Measure = Callable[[], Iterable[Figure]]

MEASURES: dict[str, Measure] = {}


def measure(topic: str) -> Callable[[Measure], Measure]:
    """Declare the function that measures `topic`; its figures' ids start with the topic."""

    def declare(function: Measure) -> Measure:
        if topic in MEASURES:
            raise ValueError(f"two measures are called {topic!r}")
        MEASURES[topic] = function
        return function

    return declare


def load_measures() -> None:
    """Import every file of this package, so that each declares its measures."""
    package = importlib.import_module("tests.bench")
    for found in pkgutil.iter_modules(package.__path__, prefix="tests.bench."):
        importlib.import_module(found.name)


def time_calls(call: Callable[[], Any], *, count: int, warm_up: int = 3) -> list[float]:
    """Milliseconds of each of `count` calls after `warm_up` unmeasured ones."""
    for _ in range(warm_up):
        call()
    times = []
    for _ in range(count):
        started = clock.monotonic_ms()
        call()
        times.append(clock.monotonic_ms() - started)
    return times


def percentile(times: Sequence[float], percent: int) -> float:
    """The `percent`-th percentile, rounded to microseconds."""
    if percent == 50:
        return round(statistics.median(times), 3)
    ordered = sorted(times)
    return round(ordered[min(len(ordered) - 1, len(ordered) * percent // 100)], 3)
