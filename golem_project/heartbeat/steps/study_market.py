"""LEARN, before ANALYZE: reads what is known of the market that the golem is about to enter.

Nothing is read while it enters nothing.
"""

from __future__ import annotations

from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.entry_caution import is_entering
from golem_project.heartbeat.steps.wanted_actions import list_wishes
from tools_app.subsystems.intel.indexed_market import read_known_market


def study_market(state: CycleState) -> None:
    """Read it once in a tick, out of the index and at the block that was looked at. Never raises GolemError."""
    pool = state.observation.pool
    if state.known_market is not None or state.reader is None or pool is None:
        return
    if any(is_entering(wish) for wish in list_wishes(state, range_bps=0)):
        state.known_market = read_known_market(state.reader, pool)
