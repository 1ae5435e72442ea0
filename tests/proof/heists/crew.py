"""Heists on all cores: each worker is a copy of this process with the machine in it, so nothing is built twice."""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.proof.heist import Gang

_PER_ERRAND = 4
_working: Gang | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one heist: how many batches it had, how many of them ran, and every finding with its line."""

    number: int
    batches: int
    ran: int
    found: list[tuple[str, str]]


class Crew:
    """Workers at one scene as it was when they were called together."""

    def __init__(self, pool: multiprocessing.pool.Pool | None) -> None:
        self._pool = pool

    def run(self, numbers: Iterable[int]) -> Iterator[Outcome]:
        """The heists of these numbers, in their order."""
        return map(_play, numbers) if self._pool is None else self._pool.imap(_play, numbers, chunksize=_PER_ERRAND)


@contextmanager
def call_together(gang: Gang, *, workers: int | None = None) -> Iterator[Crew]:
    """One worker for each core. They know nothing of what is changed here later.

    Without a machine in the process all of them would ask one node over one connection, so this process asks alone.
    """
    global _working
    _working = gang
    try:
        if gang.machine is None:
            yield Crew(None)
            return
        with multiprocessing.get_context("fork").Pool(workers or os.cpu_count() or 1) as pool:
            yield Crew(pool)
    finally:
        _working = None


def _play(number: int) -> Outcome:
    assert _working is not None
    played = _working.run(number)
    ran = sum(sent.succeeded for step, sent in zip(played.heist.steps, played.sent, strict=True) if step.calls)
    return Outcome(number, played.heist.batches, ran, [(str(finding), line) for finding, line in played.found])
