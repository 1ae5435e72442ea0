"""A tick that dies while it lowers a debt: the next ones go on, the debt is lowered once, the owner is told once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings

from archetypes_app.models import AlertBatch
from golem_project.heartbeat import cycle
from permits_app.actions.sweep_permits import sweep_permits
from permits_app.models import ActionPermit, OutboundTransaction, SpendEntry
from permits_app.models.action_record import OPEN_STATES, ActionRecord
from permits_app.models.spending import SpendState
from tests.golem_project.heartbeat.loans import TOOLS, health, include, lend_out, set_price
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.heartbeat.test_killed_tick import KILLED, STEPS, let_time_pass, run_killed_tick
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain

pytestmark = [
    pytest.mark.protocols("aave_v3"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
]
HERE = {
    "after the owner was told": (cycle, "alarm", True),
    **{
        name: STEPS[name]
        for name in (
            "after the preview, before it is noted",
            "inside the transaction of the commit's start",
            "after the bytes are stored",
            "after the first bytes are sent",
            "after EXECUTE",
            "before REFLECT",
        )
    },
}


@pytest.mark.parametrize("step", HERE)
def test_a_rescue_killed_at_a_step_is_ended_by_the_next_ticks_and_happens_once(
    shared_golem: LiveGolem, step: str
) -> None:
    include(shared_golem, *TOOLS)
    lend_out(shared_golem)
    begun = shared_golem.mined_nonce()
    turn_on(shared_golem.golem, rule={})
    set_price(shared_golem, 2_000)
    assert (health(shared_golem) or 0) < 15_000
    target, name, happens = HERE[step]
    assert run_killed_tick(shared_golem.golem, target, name, happens) == KILLED
    let_time_pass(shared_golem.golem)
    # Another five minutes of alerts begin: nothing but what was written down keeps the owner from being told again.
    let_pass(timedelta(seconds=settings.GOLEM_HEARTBEAT_ALERT_WINDOW_SECONDS))
    for _ in range(4):
        tick(shared_golem.golem)
    # A permit nobody noted down before the kill ends with its third tick, and its reservation with it.
    sweep_permits(now=clock.now())
    assert 16_800 <= (health(shared_golem) or 0) < 19_000
    golem = shared_golem.golem
    done = ActionPermit.objects.filter(golem=golem, status="COMMITTED")
    assert [permit.tool_name for permit in done] == ["lending_auto_deleverage"]
    assert shared_golem.mined_nonce() - begun == OutboundTransaction.objects.count() == len(done[0].calls)
    assert not ActionRecord.objects.filter(golem=golem, state__in=[str(each) for each in OPEN_STATES]).exists()
    assert not SpendEntry.objects.filter(golem=golem, state=SpendState.RESERVED).exists()
    assert AlertBatch.objects.filter(golem=golem, source="health-under").count() == 1
    assert verify_stored_chain(golem.pk).broken is None
