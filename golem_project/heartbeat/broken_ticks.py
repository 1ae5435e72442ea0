"""Tells people of ticks that break: with the third in a row, once, and once more when one goes through again.

A tick breaks that ends with an error, or whose worker stopped in it. What it would have done is not done, and nothing
else says so before six of ten ticks have failed.
"""

from __future__ import annotations

from typing import Final

from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.duties.alerting import RuleAlert, tell_alerts
from tools_app.core.errors import GolemError

SOURCE: Final = "broken-ticks"
MOST_IN_A_ROW: Final = 3
"""Broken ticks in a row of which people are told."""
GOES_ON: Final = "it goes through again"
_KEY: Final = "broken_ticks"


def count_broken(state: CycleState, error: GolemError | None) -> int:
    """Ticks in a row that broke, with this one. One that a stopped worker left counts too where this one breaks."""
    return _count_before(state) + 1 if error is not None else 0


def remember_broken(state: CycleState, error: GolemError | None) -> dict[str, object]:
    """For what the next tick starts from."""
    return {_KEY: count_broken(state, error)}


def tell_broken(state: CycleState, error: GolemError | None) -> None:
    """Tell people where this tick is the one that they are told of. Joins the transaction that ends it."""
    told_before = int(state.begun.state.get(_KEY) or 0) >= MOST_IN_A_ROW
    if error is not None and count_broken(state, error) >= MOST_IN_A_ROW and not told_before:
        words = f"{MOST_IN_A_ROW} ticks in a row, the last with {error.code}"
    elif error is None and told_before:
        words = GOES_ON
    else:
        return
    alerts = [RuleAlert("ticks break off", words, "a tick that goes through")]
    tell_alerts(golem=state.golem, source=SOURCE, alerts=alerts, now=state.now(), waits_for_window=False)


def _count_before(state: CycleState) -> int:
    left_by_worker = state.begun.abandoned_tick_id is not None
    return int(state.begun.state.get(_KEY) or 0) + left_by_worker
