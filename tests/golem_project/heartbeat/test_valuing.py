"""What a golem is worth is held against its mark whoever looks: a tick, or a look at a golem that does not tick."""

from __future__ import annotations

from datetime import timedelta

import pytest

from archetypes_app.models import VitalityRecord
from golem_project import wiring
from golem_project.heartbeat.tasks import value_unattended_task
from permits_app.errors import PolicyRejected
from permits_app.models import HighWaterMark, NavSnapshot
from permits_app.safety.drawdown import read_fall
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent


def _leave(live: LiveGolem, coins: int) -> None:
    """As if the price had fallen, or somebody had taken it: of ten coins so many are left."""
    live.world.rpc.call("anvil_setBalance", live.golem.address, hex(coins * 10**18))


def test_a_fall_while_nothing_trades_is_recorded_told_and_enforced_by_the_next_tick(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={})
    tick(golem)
    assert HighWaterMark.objects.get(golem=golem).value_micro_usd > 0
    _leave(live_golem, 5)
    tick(golem)
    fall = read_fall(golem.pk)
    assert fall.violated_at is not None and fall.violated_bps >= 1_300
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="PolicyCageCheck").count() == 1
    assert OutboxEvent.objects.filter(golem_id=golem.pk, type="policy:violation").count() == 1
    golem.refresh_from_db()
    assert golem.phase == "THRIVING"
    with pytest.raises(PolicyRejected) as refused:
        live_golem.preview()
    assert refused.value.data["rule"] == "policy_cage.drawdown"
    tick(golem)
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="PolicyCageCheck").count() == 1


def test_a_tick_that_finds_its_golem_poor_worsens_its_phase_in_the_order_of_locks(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={})
    tick(golem)
    _leave(live_golem, 0)
    for symbol in ("USDC", "DAI"):
        live_golem.world.rpc.call("anvil_dealERC20", golem.address, live_golem.world.tokens[symbol].address, hex(0))
    record = tick(golem)
    golem.refresh_from_db()
    assert golem.phase != "THRIVING" and record.mutations == [f"phase THRIVING to {golem.phase}"]
    # Which lock came before which is watched in every test.
    assert AuditEntry.objects.get(golem_id=golem.pk, event="PhaseTransition").data["to"] == golem.phase


def test_a_golem_driven_over_rest_alone_is_valued_and_loses_vitality(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    assert value_unattended_task() == 1
    assert value_unattended_task() == 0, "valued a moment ago"
    assert NavSnapshot.objects.filter(golem=golem).count() == 1
    full = VitalityRecord.objects.get(golem=golem).value
    HighWaterMark.objects.update(updated_at=clock.now() - timedelta(minutes=11))
    _leave(live_golem, 0)
    assert value_unattended_task() == 1
    assert VitalityRecord.objects.get(golem=golem).value < full
    assert read_fall(golem.pk).violated_at is not None


def test_a_golem_that_ticks_is_not_looked_at_twice(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem, rule={})
    assert value_unattended_task() == 0


def test_a_node_that_does_not_answer_moves_no_mark(live_golem: LiveGolem) -> None:
    wiring.configure_networks({})
    assert value_unattended_task() == 0
    assert not HighWaterMark.objects.filter(golem=live_golem.golem).exists()
