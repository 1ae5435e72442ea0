"""A debt under its floor behind a cage that takes no exchange any more: the tick pays it by itself."""

from __future__ import annotations

import pytest

from permits_app.models import PolicyCage
from permits_app.models.action_record import ActionRecord
from tests.evm.world import World
from tests.golem_project.heartbeat.loans import include
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.pi.conftest import tasks_here as tasks_here
from tests.live_golem import make_live_golem
from tests.permits_app.safety.caged_lending_walk import CagedLendingWalk

pytestmark = [
    pytest.mark.usefixtures("tasks_here", "transactional_db"),
    pytest.mark.protocols("aave_v3", "erc4626"),
]


def test_a_tick_pays_a_debt_by_itself_where_the_contract_takes_no_exchange(local_chain: World) -> None:
    walk = CagedLendingWalk(make_live_golem(local_chain))
    walk.begin()
    include(walk.live, "lending_auto_deleverage")
    turn_on(walk.live.golem, rule={})
    walk.worsen_in_contract(4)
    PolicyCage.objects.filter(golem=walk.live.golem).update(min_health_bps=30_000)
    for _ in range(4):
        tick(walk.live.golem)
        walk.caged.sync()
    told = [
        (each.wish_key.split(":")[0], each.state, each.block_reason) for each in ActionRecord.objects.order_by("pk")
    ]
    assert not walk.has_debt() and walk.has_collateral(), told
