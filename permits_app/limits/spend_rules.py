"""Decides whether an amount fits a golem's spending limits, for hook 3 and for the reservation. Pure.

Hook 3 asks it early, so that a refusal costs no simulation; the ledger asks it again under the lock of the
limits row, and only that answer counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from permits_app.errors import SpendingLimitExceeded
from permits_app.hook_rejection import Reject
from permits_app.limits.usage import Usage
from tools_app.core.errors import Recovery
from tools_app.core.units import format_micro_usd

_NO_NEXT_TICK: Final = "nothing before the next heartbeat tick, and the heartbeat is off: an owner turns it on"


class SpendCeilings(Protocol):
    """The columns of SpendingLimits this rule reads, in micro-USD."""

    per_transaction_micro_usd: int
    per_tick_micro_usd: int
    per_session_micro_usd: int
    per_day_micro_usd: int


@dataclass(frozen=True, slots=True)
class _Window:
    rule: str
    words: str
    used_micro_usd: int
    limit_micro_usd: int
    recovery: Recovery
    resets_at: datetime | None = None
    frees: str = "nothing until some of the limit is free again"


def judge_spend(*, limits: SpendCeilings, usage: Usage, amount_micro_usd: int, counts_per_day: bool) -> Reject | None:
    """The first limit that `amount_micro_usd` (gas included) would exceed, or None when it fits all of them.

    `usage` is without this amount. `counts_per_day` is off for a decrease or close that returns to the golem: it is
    held to none of them, so that a golem can always get out.
    """
    if not counts_per_day:
        return None
    for window in _windows(limits, usage):
        if window.used_micro_usd + amount_micro_usd > window.limit_micro_usd:
            return _refuse(window, amount_micro_usd)
    return None


def _windows(limits: SpendCeilings, usage: Usage) -> Sequence[_Window]:
    return (
        _Window(
            "spending_limiter.per_transaction",
            "in one transaction",
            0,
            limits.per_transaction_micro_usd,
            Recovery.FIX_PARAMS,
        ),
        _Window(
            "spending_limiter.per_tick",
            "in one heartbeat tick",
            usage.tick_micro_usd,
            limits.per_tick_micro_usd,
            Recovery.WAIT if usage.tick_resets_at else Recovery.ASK_OWNER,
            usage.tick_resets_at,
            "nothing before the next heartbeat tick" if usage.tick_resets_at else _NO_NEXT_TICK,
        ),
        _Window(
            "spending_limiter.per_session",
            "in one session",
            usage.session_micro_usd,
            limits.per_session_micro_usd,
            Recovery.WAIT if usage.session_resets_at else Recovery.ASK_OWNER,
            usage.session_resets_at,
        ),
        _Window(
            "spending_limiter.per_day",
            "in 24 hours",
            usage.day_micro_usd,
            limits.per_day_micro_usd,
            Recovery.WAIT,
            usage.day_resets_at,
        ),
    )


def _refuse(window: _Window, amount_micro_usd: int) -> Reject:
    remaining = max(0, window.limit_micro_usd - window.used_micro_usd)
    amount, limit, left = (format_micro_usd(figure) for figure in (amount_micro_usd, window.limit_micro_usd, remaining))
    return Reject(
        rule=window.rule,
        reason=f"this could cost {amount} {window.words}; the limit is {limit}"
        + (f" and {left} of it remains" if window.used_micro_usd else ""),
        observed=amount,
        limit=limit,
        remaining=left,
        resets_at=window.resets_at.isoformat() if window.resets_at else "",
        would_pass=f"at most {left}, gas included" if remaining else window.frees,
        error=SpendingLimitExceeded,
        data={"recovery": _next_step(window, remaining)},
    )


def _next_step(window: _Window, remaining: int) -> Recovery:
    """No other parameters mend a window that is used up, and no wait what is too much for an empty one."""
    if not window.limit_micro_usd and window.recovery is Recovery.WAIT:
        return Recovery.ASK_OWNER
    if remaining == 0:
        return window.recovery
    return Recovery.FIX_PARAMS if window.used_micro_usd or window.recovery is Recovery.WAIT else window.recovery
