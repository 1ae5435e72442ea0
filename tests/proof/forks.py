"""A fork of a session of tests: what it tells, how long it may be silent, and the connections it may not inherit."""

from __future__ import annotations

import json
import os
import select
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

# Longer than any test takes without a mutant on a slow machine.
PATIENCE_SECONDS: Final = 240


@dataclass
class Ran:
    """What a fork told: the tests that passed, those of them that reached its mutant, the one that failed or hung, and
    the processor's seconds it took.
    """

    passed: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    is_out_of_time: bool = False
    is_partly_bound: bool = False


def tell(writing: int, told: dict[str, Any]) -> None:
    line = (json.dumps(told) + "\n").encode()
    while line:
        line = line[os.write(writing, line) :]


def read_lines(reading: int, *, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[str | None]:
    """The lines of another process until it ends; None each time it said nothing for too long."""
    kept = b""
    while True:
        ready, _, _ = select.select([reading], [], [], patience_seconds)
        if not ready:
            yield None
            continue
        read = os.read(reading, 65_536)
        if not read:
            return
        *lines, kept = (kept + read).split(b"\n")
        yield from (line.decode() for line in lines)


def part_with_database() -> None:
    """Two processes must not speak on one connection."""
    from django.db import connections

    for each in connections.all():
        each.close()
        each.close_pool()  # type: ignore[attr-defined]


def forget_database() -> None:
    """A pool's threads do not come along into a fork."""
    from django.db.backends.postgresql.base import DatabaseWrapper

    DatabaseWrapper._connection_pools.clear()  # type: ignore[attr-defined]
