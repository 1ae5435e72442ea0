"""The machines that a fleet needs follow from what its parts were measured to take."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from tests.proof.thousands.machine_plan import (
    MOST_IN_USE,
    MOST_LATE_SECONDS,
    Costs,
    Load,
    PartCost,
    find_workers,
    plan_machines,
    play_lateness,
)

LOAD: Final = Load(golems=3_000, theta_seconds=30, trades_a_day=0, pages_a_second=0, kept_days=7)
NOTHING: Final = PartCost(0, 0)
COSTS: Final = Costs(
    tick=PartCost(13, 6.5, node_requests=2, wal_bytes=1_000, kept_bytes=2_000),
    trade=NOTHING,
    page=NOTHING,
    swept=NOTHING,
    forgotten=NOTHING,
    waited_ms=(20.0, 40.0),
)


def test_cores_hold_what_a_second_takes_with_a_third_of_each_idle() -> None:
    plan = plan_machines(LOAD, COSTS)
    assert plan.ticks_a_second == 100
    # 1,300 ms and 650 ms of each second, of which a core gives 650.
    assert (plan.worker_cores, plan.database_cores, MOST_IN_USE) == (2, 1, 0.65)
    assert plan.node_requests_a_second == 200
    assert plan.wal_gb_a_day == pytest.approx(8.6, abs=0.1)
    assert plan.disk_gb_of_ticks == pytest.approx(100 * 86_400 * 7 * 2_000 / 1e9, abs=0.1)


def test_trades_sweeps_and_pages_are_added() -> None:
    load = replace(LOAD, trades_a_day=28.8, pages_a_second=10)
    busy = replace(
        COSTS,
        trade=PartCost(650, 0, kept_bytes=1_000),
        page=PartCost(130, 65),
        swept=PartCost(39_000, 0),
        forgotten=PartCost(0, 6.5),
    )
    plan = plan_machines(load, busy)
    # One trade a second, 650 ms of sweeps in one, and the ticks' 1,300 ms.
    assert (plan.worker_cores, plan.database_cores, plan.web_cores) == (4, 3, 2)
    assert plan.disk_gb_a_year == pytest.approx(86_400 * 365 * 1_000 / 1e9, abs=0.1)


def test_the_fewest_workers_are_taken_with_which_ticks_begin_in_time() -> None:
    count, late = find_workers(LOAD, COSTS.waited_ms)
    assert 3 <= count <= 5 and late <= MOST_LATE_SECONDS
    assert play_lateness(LOAD, COSTS.waited_ms, workers=2) > MOST_LATE_SECONDS
    assert plan_machines(LOAD, COSTS).worker_processes == count
