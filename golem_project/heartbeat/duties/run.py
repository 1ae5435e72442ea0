"""Every duty in turn; one that fails leaves the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from golem_project.heartbeat.duties.consolidator import consolidate_due
from golem_project.heartbeat.duties.delete_quiet_ticks import forget_quiet_ticks
from golem_project.heartbeat.duties.learn_read_order import learn_habits
from golem_project.heartbeat.duties.monitor import monitor_golems
from golem_project.heartbeat.duties.position_monitor import monitor_positions
from golem_project.heartbeat.duties.request_alerts import tell_requests
from golem_project.heartbeat.duties.sleepwalker import walk_asleep
from permits_app.actions.search_positions import search_positions
from tools_app.core.isolated_sweeps import one_by_one

DUTIES: Final[Mapping[str, Callable[..., int]]] = {
    "consolidated": consolidate_due,
    "alerted": monitor_golems,
    "positions": monitor_positions,
    "requests": tell_requests,
    "published": walk_asleep,
    "searched": search_positions,
    "forgotten": forget_quiet_ticks,
    "learned": learn_habits,
}


def run_duties(*, now: datetime) -> dict[str, int]:
    """How many golems or rows each duty touched."""
    done = one_by_one(DUTIES, lambda name: (name, DUTIES[name](now=now)), what="the duty")
    return {**dict.fromkeys(DUTIES, 0), **dict(done)}
