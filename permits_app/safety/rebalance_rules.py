"""How often a golem may rebalance: the time between two, and the number within 24 h."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from permits_app.hook_rejection import Reject
from tools_app.core.errors import Recovery

DAY = timedelta(hours=24)


def judge_rebalances(
    *, times: Sequence[datetime], now: datetime, interval_seconds: int, most_per_day: int
) -> Reject | None:
    """Too soon after the last rebalance, or too many within 24 h. `times` are those of the last 24 h, any order."""
    within = sorted(time for time in times if time > now - DAY)
    if within:
        free_at = within[-1] + timedelta(seconds=interval_seconds)
        if now < free_at:
            return Reject(
                rule="policy_cage.rebalance_interval",
                reason=f"rebalances are at least {interval_seconds} s apart",
                observed=f"{int((now - within[-1]).total_seconds())} s since the last one",
                limit=f"{interval_seconds} s",
                resets_at=free_at.isoformat(),
                would_pass=f"the same action from {free_at.isoformat()} on",
                data={"recovery": Recovery.WAIT},
            )
    if len(within) >= most_per_day:
        # The window frees a place when the oldest of the last `most_per_day` is a day old.
        resets_at = (within[-most_per_day] + DAY).isoformat() if most_per_day else ""
        return Reject(
            rule="policy_cage.rebalances_per_day",
            reason=f"{len(within)} rebalances within 24 h; at most {most_per_day} are allowed",
            observed=f"{len(within)} rebalances within 24 h",
            limit=f"{most_per_day} rebalances in 24 h",
            remaining="0 rebalances",
            resets_at=resets_at,
            would_pass=f"the same action from {resets_at} on" if resets_at else "nothing while the limit is 0",
            data={"recovery": Recovery.WAIT if resets_at else Recovery.ASK_OWNER},
        )
    return None
