"""Heists on all cores: each worker is a copy of this process with the machine in it, so nothing is built twice."""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from tests.proof.heists.scouting import Place
from tests.proof.heists.steps import Act, Order

if TYPE_CHECKING:
    from tests.proof.heist import Gang, Played

_PER_ERRAND = 4
_working: Gang | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one heist: how many batches it had that no other has had, and how many of them ran; how many it had
    in all; where it came, every finding with its line, and the seconds of a processor that it took.
    """

    order: Order
    batches: int
    depth: int
    ran: int
    ran_in_all: int
    places: list[Place]
    found: list[tuple[str, str]]
    seconds: float


class Crew:
    """Workers at one scene as it was when they were called together."""

    def __init__(self, pool: multiprocessing.pool.Pool | None) -> None:
        self._pool = pool

    def run(self, groups: Iterable[Sequence[Order]]) -> Iterator[Outcome]:
        """The heists of these orders, one after the other as they were asked for; those of a group have one trunk."""
        played = map(_play, groups) if self._pool is None else self._pool.imap(_play, groups, chunksize=_PER_ERRAND)
        return chain.from_iterable(played)


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


def _play(orders: Sequence[Order]) -> list[Outcome]:
    assert _working is not None
    started = time.process_time()
    all_played = _working.run_together(orders)
    seconds = (time.process_time() - started) / len(orders)
    return [_sum_up(order, played, seconds) for order, played in zip(orders, all_played, strict=True)]


def _sum_up(order: Order, played: Played, seconds: float) -> Outcome:
    heist = played.heist
    ran = [one.succeeded and step.act is Act.BATCH for step, one in zip(heist.steps, played.sent, strict=True)]
    return Outcome(
        order=order,
        batches=heist.batches,
        depth=heist.depth,
        ran=sum(ran[heist.fresh :]),
        ran_in_all=sum(ran),
        places=played.places,
        found=[(str(finding), line) for finding, line in played.found],
        seconds=seconds,
    )
