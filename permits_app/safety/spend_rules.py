"""Whether an amount fits a golem's spending limits: one pure rule for hook 3 and for the reservation itself.

Hook 3 asks it early, so that a refusal costs no simulation; the ledger asks it again under the lock of the
limits row, and only that answer counts. Seed: 001, "Spending limits"; decisions, "Safety hooks".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from permits_app.errors import SpendingLimitExceeded
from permits_app.safety.hook import Reject
from permits_app.usage import Usage
from tools_app.core.errors import Recovery
from tools_app.core.units import format_micro_usd


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


def judge_spend(*, limits: SpendCeilings, usage: Usage, amount_micro_usd: int, counts_per_day: bool) -> Reject | None:
    """The first limit that `amount_micro_usd` (gas included) would exceed, or None when it fits all of them.

    `usage` is without this amount. `counts_per_day` is off for a decrease or close that returns to the golem.
    """
    for window in _windows(limits, usage, counts_per_day):
        if window.used_micro_usd + amount_micro_usd > window.limit_micro_usd:
            return _refuse(window, amount_micro_usd)
    return None


def _windows(limits: SpendCeilings, usage: Usage, counts_per_day: bool) -> Sequence[_Window]:
    windows = [
        _Window(
            "spending_limiter.per_transaction", "in one transaction", 0, limits.per_transaction_micro_usd,
            Recovery.FIX_PARAMS,
        ),
        _Window(
            "spending_limiter.per_tick", "in one heartbeat tick", usage.tick_micro_usd, limits.per_tick_micro_usd,
            Recovery.WAIT,
        ),
        _Window(
            "spending_limiter.per_session", "with one token", usage.session_micro_usd, limits.per_session_micro_usd,
            Recovery.ASK_OWNER,
        ),
    ]  # fmt: skip
    if counts_per_day:
        windows.append(
            _Window(
                "spending_limiter.per_day", "in 24 hours", usage.day_micro_usd, limits.per_day_micro_usd,
                Recovery.WAIT, usage.day_resets_at,
            )
        )  # fmt: skip
    return windows


def _refuse(window: _Window, amount_micro_usd: int) -> Reject:
    remaining = max(0, window.limit_micro_usd - window.used_micro_usd)
    amount, limit, left = (format_micro_usd(figure) for figure in (amount_micro_usd, window.limit_micro_usd, remaining))
    return Reject(
        rule=window.rule,
        reason=f"this could cost {amount} {window.words}; the limit is {limit} and {left} of it remains",
        observed=amount,
        limit=limit,
        remaining=left,
        resets_at=window.resets_at.isoformat() if window.resets_at else "",
        would_pass=f"at most {left}, gas included" if remaining else "nothing until some of the limit is free again",
        error=SpendingLimitExceeded,
        # A whole window that is used up is not mended by other parameters.
        data={"recovery": window.recovery if remaining == 0 or window.used_micro_usd == 0 else Recovery.FIX_PARAMS},
    )
