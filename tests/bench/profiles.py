"""Tells where the time of a figure goes: functions, packages and statements, by what they took themselves.

The same call is profiled in this process, beside what was measured and not within it: a profiler costs time.
"""

from __future__ import annotations

import cProfile
import pstats
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from django.db import connection

from golem_project.embedded.paths import CHECKOUT
from tools_app.core import clock

_MOST_FUNCTIONS: Final = 12
_MOST_PACKAGES: Final = 8
_MOST_STATEMENTS: Final = 6
_SHOWN: Final = 90
_DEPTH: Final = 2


def profile_calls(call: Callable[[], Any], *, count: int) -> tuple[str, ...]:
    """Lines of the packages, functions and statements that `count` calls of `call` spent most in, in ms of each."""
    statements: Counter[str] = Counter()
    times: Counter[str] = Counter()

    def watch(execute: Callable[..., Any], sql: str, *given: Any) -> Any:
        name, started = _name_statement(sql), clock.monotonic_ms()
        try:
            return execute(sql, *given)
        finally:
            statements[name] += 1
            times[name] += int(1_000 * (clock.monotonic_ms() - started))

    profiler = cProfile.Profile()
    with connection.execute_wrapper(watch):
        profiler.enable()
        try:
            for _ in range(count):
                call()
        finally:
            profiler.disable()
    own: dict[tuple[str, str], float] = {}
    packages: Counter[str] = Counter()
    for (path, _, function), (_, _, spent, _, _) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        package = _name_package(path)
        own[(package, function)] = own.get((package, function), 0.0) + spent
        packages[package] += int(1_000_000 * spent)
    total = sum(own.values())
    told = [f"profiled here: {1000 * total / count:.1f} ms each, with what the profiler costs"]
    told += [f"{micros / 1000 / count:.2f} ms in {package}" for package, micros in packages.most_common(_MOST_PACKAGES)]
    first = sorted(own.items(), key=lambda each: -each[1])[:_MOST_FUNCTIONS]
    told += [f"{1000 * spent / count:.2f} ms in {package}:{function}" for (package, function), spent in first]
    told += [
        f"{micros / 1000 / count:.2f} ms in {statements[name] / count:g} of {name}"
        for name, micros in times.most_common(_MOST_STATEMENTS)
    ]
    return tuple(told)


def _name_package(path: str) -> str:
    """`django.db` for a file of a package, `tools_app.simulation` for one of ours, `built in` for none."""
    if path in {"~", ""} or path.startswith("<"):
        return "built in"
    file = Path(path)
    for root in (CHECKOUT, *(Path(each) for each in sys.path if each.endswith("-packages")), Path(sys.base_prefix)):
        if file.is_relative_to(root) and "site-packages" not in file.relative_to(root).parts:
            parts = [each for each in file.relative_to(root).with_suffix("").parts if each not in {"lib", "python3.11"}]
            return ".".join(parts[:_DEPTH])
    return file.stem


def _name_statement(sql: Any) -> str:
    return re.sub(r"\s+", " ", str(sql)).strip()[:_SHOWN]
