"""A heartbeat acts without a key; its session is the seven days behind it, on a plain account too."""

from __future__ import annotations

from datetime import timedelta

import pytest

from permits_app.models import SpendEntry, SpendingLimits
from permits_app.models.action_record import ActionRecord
from permits_app.models.spending import SpendState
from tests.factories.permits import make_permit
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core import clock

WEEK = timedelta(days=7)
USED = 49_900_000_000
LIMIT = 50_000_000_000


def spend(live: LiveGolem, *, ago: timedelta, key: bool = False) -> SpendEntry:
    """What was spent so long ago, by the heartbeat or with the golem's key."""
    permit = make_permit(golem=live.golem, status="COMMITTED")
    return SpendEntry.objects.create(
        golem=live.golem,
        permit=permit,
        api_key=live.key.key if key else None,
        state=SpendState.SETTLED,
        reserved_micro_usd=USED,
        settled_micro_usd=USED,
        counted_at=clock.now() - ago,
    )


@pytest.mark.parametrize(
    ("ago", "state"),
    [(WEEK - timedelta(minutes=1), "BLOCKED"), (WEEK, "EXECUTED")],
)
def test_a_golem_without_a_key_is_held_to_its_session_for_seven_days(
    live_golem: LiveGolem, ago: timedelta, state: str
) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_session_micro_usd=LIMIT)
    entry = spend(live_golem, ago=ago)
    turn_on(live_golem.golem)
    [action] = ActionRecord.objects.filter(tick=tick(live_golem.golem).tick)
    assert action.state == state, action.block_reason
    if state == "BLOCKED":
        assert action.problem["rule"] == "spending_limiter.per_session"
        entry.refresh_from_db()
        assert action.problem["resets_at"] == (entry.counted_at + WEEK).isoformat()


def test_a_keys_session_is_none_of_the_heartbeats(live_golem: LiveGolem) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_session_micro_usd=LIMIT)
    spend(live_golem, ago=timedelta(days=3), key=True)
    turn_on(live_golem.golem)
    [action] = ActionRecord.objects.filter(tick=tick(live_golem.golem).tick)
    assert action.state == "EXECUTED", action.block_reason
