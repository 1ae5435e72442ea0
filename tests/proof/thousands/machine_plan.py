"""Works out how many machines a fleet needs, from what each part of it was measured to take. Pure, but for a seed.

Cores are counted so that a third of each stays idle, for the crowd of a bad minute. How late a tick begins is played:
golems are due on their own grids with their jitter, and so many workers take the one that waits longest.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

MOST_IN_USE: Final = 0.65
MOST_LATE_SECONDS: Final = 2.0
DAY_SECONDS: Final = 86_400
_PLAYED_SECONDS: Final = 120.0
_JITTER: Final = 0.05
_CLAIMED_EVERY: Final = 1.0
"""Ticks begin with the look that claims them, of which there is one a second."""
_MOST_WORKERS: Final = 512
_BESIDE_WORKERS: Final = 24
"""Database connections of everything else: web, commits, streams, beat."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a fleet does, as is assumed of it."""

    golems: int
    theta_seconds: int
    trades_a_day: float
    """Of each golem."""
    pages_a_second: float
    kept_days: int
    """Of quiet ticks."""


@dataclass(frozen=True, slots=True)
class PartCost:
    """Milliseconds of processor of one time in its own process, in the database, and questions to a node."""

    process_ms: float
    database_ms: float
    node_requests: float = 0.0
    wal_bytes: float = 0.0
    kept_bytes: float = 0.0
    """What stays in the database."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What was measured. `swept` is all sweeps of one minute, whatever their own pace; `waited_ms` how long a worker is
    held by each tick, by the clock.
    """

    tick: PartCost
    trade: PartCost
    page: PartCost
    swept: PartCost
    forgotten: PartCost
    waited_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Machines, in parts of them."""

    ticks_a_second: float
    worker_processes: int
    lateness_p95_seconds: float
    worker_cores: int
    database_cores: int
    web_cores: int
    connections: int
    node_requests_a_second: float
    wal_gb_a_day: float
    disk_gb_of_ticks: float
    disk_gb_a_year: float

    def as_dict(self) -> dict[str, Any]:
        """For the report."""
        return asdict(self)


def plan_machines(load: Load, costs: Costs) -> Plan:
    """The plan; what is worked out in a second is held against a second of one core."""
    ticks = load.golems / load.theta_seconds
    trades = load.golems * load.trades_a_day / DAY_SECONDS
    rates = ((costs.tick, ticks), (costs.trade, trades), (costs.swept, 1 / 60), (costs.forgotten, ticks))
    workers = sum(part.process_ms * rate for part, rate in rates)
    database = sum(part.database_ms * rate for part, rate in (*rates, (costs.page, load.pages_a_second)))
    wal = sum(part.wal_bytes * rate for part, rate in rates)
    processes, late = find_workers(load, costs.waited_ms)
    return Plan(
        ticks_a_second=round(ticks, 1),
        worker_processes=processes,
        lateness_p95_seconds=round(late, 2),
        worker_cores=_cores(workers),
        database_cores=_cores(database),
        web_cores=_cores(costs.page.process_ms * load.pages_a_second),
        connections=processes + _BESIDE_WORKERS,
        node_requests_a_second=round(sum(part.node_requests * rate for part, rate in rates), 1),
        wal_gb_a_day=round(wal * DAY_SECONDS / 1e9, 1),
        disk_gb_of_ticks=round(costs.tick.kept_bytes * ticks * DAY_SECONDS * load.kept_days / 1e9, 1),
        disk_gb_a_year=round(costs.trade.kept_bytes * trades * DAY_SECONDS * 365 / 1e9, 1),
    )


def find_workers(load: Load, waited_ms: Sequence[float]) -> tuple[int, float]:
    """The fewest worker processes with which ticks begin in time, and the 95th percentile of seconds they are late."""
    busy = load.golems / load.theta_seconds * sum(waited_ms) / len(waited_ms) / 1000
    count = max(1, math.ceil(busy))
    while True:
        late = play_lateness(load, waited_ms, workers=count)
        if late <= MOST_LATE_SECONDS or count >= _MOST_WORKERS:
            return count, late
        count += max(1, count // 8)


def play_lateness(load: Load, waited_ms: Sequence[float], *, workers: int, seed: int = 40) -> float:
    """The 95th percentile of seconds between due and begun, over two minutes after as long a beginning."""
    chance = random.Random(seed)
    due = [(chance.random() * load.theta_seconds, golem) for golem in range(load.golems)]
    heapq.heapify(due)
    free = [0.0] * workers
    late: list[float] = []
    while due[0][0] < 2 * _PLAYED_SECONDS:
        at, golem = heapq.heappop(due)
        claimed = math.ceil(at / _CLAIMED_EVERY) * _CLAIMED_EVERY
        begun = max(claimed, free[0])
        heapq.heapreplace(free, begun + chance.choice(waited_ms) / 1000)
        if at >= _PLAYED_SECONDS:
            late.append(begun - at)
        step = load.theta_seconds * (1 + chance.uniform(-_JITTER, _JITTER))
        heapq.heappush(due, (max(at + step, begun), golem))
    late.sort()
    return late[len(late) * 95 // 100] if late else 0.0


def _cores(busy_ms_a_second: float) -> int:
    return max(1, math.ceil(busy_ms_a_second / 1000 / MOST_IN_USE))
