"""Decides whether one more write fits the hour, for hook 4 and for the reservation. Pure.

Hook 4 asks it early; the ledger asks it again under the lock of the limits row, so that previews at once never open
more permits than there may be.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from permits_app.errors import RateLimited
from permits_app.hook_rejection import Reject
from tools_app.core.errors import Recovery
from tools_app.toolkit.enums import ActionClass

DECREASES_TIMES: Final = 3
LEAST_DECREASES: Final = 20


def most_writes_per_hour(*, configured: int, cap: int | None) -> int:
    """The owner's limit, and never more than what a profile caps it at."""
    return configured if cap is None else min(configured, cap)


def judge_rate(
    *, writes: int, most: int, resets_at: datetime | None, action_class: ActionClass = ActionClass.NEW_POSITION
) -> Reject | None:
    """Refuse when `writes` within the hour are already as many as there may be.

    Closing is never refused: nothing can be closed twice without being opened between. Decreases go on beyond what
    opens, yet not without end, since each of them costs gas.
    """
    if action_class is ActionClass.CLOSE_POSITION:
        return None
    if action_class is ActionClass.DECREASE_POSITION:
        most = max(LEAST_DECREASES, DECREASES_TIMES * most)
    if writes < most:
        return None
    return Reject(
        rule="rate_limiter.per_hour",
        reason=f"{writes} writes within the hour; at most {most} are allowed",
        observed=f"{writes} writes within the hour",
        limit=f"{most} writes an hour",
        remaining="0 writes",
        resets_at=resets_at.isoformat() if resets_at else "",
        would_pass="the same action once a write is older than an hour" if most else "nothing while the limit is 0",
        error=RateLimited,
        data={"recovery": Recovery.WAIT if most else Recovery.ASK_OWNER},
    )
