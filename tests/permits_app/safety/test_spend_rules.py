"""The one spending rule at limit - 1, limit and limit + 1 of every window, and against a naive reference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permits_app.errors import SpendingLimitExceeded
from permits_app.limits.spend_rules import judge_spend
from permits_app.limits.usage import Usage
from tests.permits_app.safety.calls import NOW
from tools_app.core.errors import Recovery

USD = 1_000_000
UNUSED = Usage(tick_micro_usd=0, session_micro_usd=0, day_micro_usd=0, writes_last_hour=0)


@dataclass
class Ceilings:
    per_transaction_micro_usd: int = 10_000 * USD
    per_tick_micro_usd: int = 50_000 * USD
    per_session_micro_usd: int = 50_000 * USD
    per_day_micro_usd: int = 100_000 * USD


def use(field: str | None, micro_usd: int) -> Usage:
    changes: dict[str, Any] = {field: micro_usd} if field else {}
    return replace(UNUSED, **changes)


@pytest.mark.parametrize(
    ("window", "used_field", "limit"),
    [
        ("per_transaction", None, 10_000 * USD),
        ("per_tick", "tick_micro_usd", 50_000 * USD),
        ("per_session", "session_micro_usd", 50_000 * USD),
        ("per_day", "day_micro_usd", 100_000 * USD),
    ],
)
@pytest.mark.parametrize("over", [-1, 0, 1])
def test_a_window_takes_exactly_its_limit(window: str, used_field: str | None, limit: int, over: int) -> None:
    amount = 4_000 * USD
    used = use(used_field, limit - amount + over)
    amount = amount if used_field else limit + over
    refusal = judge_spend(limits=Ceilings(), usage=used, amount_micro_usd=amount, counts_per_day=True)
    assert (refusal is not None) == (over > 0)
    if refusal is not None:
        assert refusal.rule == f"spending_limiter.{window}"
        assert refusal.error is SpendingLimitExceeded


def test_a_refusal_tells_observed_limit_remaining_and_when_the_window_frees_itself() -> None:
    used = replace(UNUSED, day_micro_usd=99_000 * USD, day_resets_at=NOW + timedelta(hours=3))
    refusal = judge_spend(limits=Ceilings(), usage=used, amount_micro_usd=1_500 * USD, counts_per_day=True)
    assert refusal is not None
    assert (refusal.observed, refusal.limit, refusal.remaining) == ("$1,500.00", "$100,000.00", "$1,000.00")
    assert refusal.resets_at == "2026-11-21T15:00:00+00:00"
    assert refusal.would_pass == "at most $1,000.00, gas included"
    assert refusal.data["recovery"] is Recovery.FIX_PARAMS


def test_a_used_up_day_says_wait_and_a_used_up_session_says_ask_the_owner() -> None:
    spent_day = replace(UNUSED, day_micro_usd=100_000 * USD)
    spent_session = replace(UNUSED, session_micro_usd=50_000 * USD)
    day = judge_spend(limits=Ceilings(), usage=spent_day, amount_micro_usd=1, counts_per_day=True)
    session = judge_spend(limits=Ceilings(), usage=spent_session, amount_micro_usd=1, counts_per_day=True)
    assert day is not None
    assert session is not None
    assert (day.data["recovery"], session.data["recovery"]) == (Recovery.WAIT, Recovery.ASK_OWNER)
    assert day.remaining == "$0.00"


@pytest.mark.parametrize(
    ("next_tick", "recovery", "would_pass"),
    [
        (NOW + timedelta(seconds=40), Recovery.WAIT, "nothing before the next heartbeat tick"),
        (
            None,
            Recovery.ASK_OWNER,
            "nothing before the next heartbeat tick, and the heartbeat is off: an owner turns it on",
        ),
    ],
)
def test_a_used_up_tick_waits_for_the_next_one_and_without_a_heartbeat_for_its_owner(
    next_tick: datetime | None, recovery: Recovery, would_pass: str
) -> None:
    usage = replace(UNUSED, tick_micro_usd=50_000 * USD, tick_resets_at=next_tick)
    refusal = judge_spend(limits=Ceilings(), usage=usage, amount_micro_usd=1, counts_per_day=True)
    assert refusal is not None
    assert refusal.as_error("spending_limiter").next_step is recovery
    assert refusal.resets_at == (next_tick.isoformat() if next_tick else "")
    assert refusal.would_pass.endswith(would_pass)


@pytest.mark.parametrize(
    ("used", "recovery"), [(0, Recovery.FIX_PARAMS), (1, Recovery.FIX_PARAMS), (100_000 * USD - 1, Recovery.FIX_PARAMS)]
)
def test_what_is_too_large_for_a_day_or_for_the_rest_of_it_is_made_smaller(used: int, recovery: Recovery) -> None:
    usage, limits = replace(UNUSED, day_micro_usd=used), Ceilings(per_transaction_micro_usd=10**15)
    limits.per_tick_micro_usd = limits.per_session_micro_usd = 10**15
    refusal = judge_spend(limits=limits, usage=usage, amount_micro_usd=100_001 * USD, counts_per_day=True)
    assert refusal is not None
    assert refusal.data["recovery"] is recovery


def test_what_decreases_a_position_and_returns_passes_every_limit_of_spending() -> None:
    used = replace(UNUSED, tick_micro_usd=10**12, session_micro_usd=10**12, day_micro_usd=10**12)
    nothing = Ceilings(0, 0, 0, 0)
    for limits in (Ceilings(), nothing):
        assert judge_spend(limits=limits, usage=used, amount_micro_usd=10**13, counts_per_day=False) is None
        assert judge_spend(limits=limits, usage=used, amount_micro_usd=10**13, counts_per_day=True) is not None


_figures = st.integers(min_value=0, max_value=10**14)


@given(
    limits=st.builds(Ceilings, _figures, _figures, _figures, _figures),
    tick=_figures,
    session=_figures,
    day=_figures,
    amount=_figures,
    counts=st.booleans(),
)
def test_what_fits_every_window_passes_and_nothing_else(
    limits: Ceilings, tick: int, session: int, day: int, amount: int, counts: bool
) -> None:
    usage = Usage(tick_micro_usd=tick, session_micro_usd=session, day_micro_usd=day, writes_last_hour=0)
    fits = not counts or (
        amount <= limits.per_transaction_micro_usd
        and tick + amount <= limits.per_tick_micro_usd
        and session + amount <= limits.per_session_micro_usd
        and day + amount <= limits.per_day_micro_usd
    )
    refusal = judge_spend(limits=limits, usage=usage, amount_micro_usd=amount, counts_per_day=counts)
    assert (refusal is None) == fits
