"""What counts in heartbeat ticks really does: a permit's life of three, the limit of one, and who may act in it."""

from __future__ import annotations

import pytest

from archetypes_app.models import Heartbeat
from permits_app.actions.expire import expire_lapsed
from permits_app.errors import PermitExpired, SpendingLimitExceeded
from permits_app.models import SpendEntry, SpendingLimits
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core import clock


def test_a_permit_ends_with_the_third_tick_after_it(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={}, is_live=False)
    tick(golem)
    permit_id = live_golem.preview()["permit_id"]
    tick(golem)
    tick(golem)
    assert expire_lapsed(golem_id=golem.pk, now=clock.now()) == 0
    tick(golem)
    with pytest.raises(PermitExpired):
        live_golem.start(permit_id)
    assert live_golem.permit(permit_id).status == "EXPIRED"
    assert SpendEntry.objects.get(permit_id=permit_id).state == "RELEASED"


def test_the_sweep_expires_what_the_ticks_ended(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={}, is_live=False)
    permit_id = live_golem.preview()["permit_id"]
    for _ in range(3):
        tick(golem)
    assert expire_lapsed(golem_id=None, now=clock.now()) == 1
    assert live_golem.permit(permit_id).status == "EXPIRED"


def test_the_limit_of_a_tick_is_free_again_in_the_next(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={}, is_live=False)
    tick(golem)
    SpendingLimits.objects.filter(golem=golem).update(per_tick_micro_usd=900_000_000)
    live_golem.preview()
    with pytest.raises(SpendingLimitExceeded) as refused:
        live_golem.preview(amount="490000000")
    assert "tick" in str(refused.value.as_problem()["rule"])
    due = Heartbeat.objects.get(golem=golem).next_tick_at
    assert refused.value.as_problem()["resets_at"] == due.isoformat()
    tick(golem)
    assert live_golem.preview(amount="490000000")["status"] == "CREATED"
