"""What a golem is worth is held against its mark whoever looks: a tick, or a look at a golem that does not tick."""

from __future__ import annotations

from datetime import timedelta

import pytest

from archetypes_app.models import VitalityRecord
from golem_project import wiring
from golem_project.heartbeat.duties.regular_valuation import value_after_outcomes
from golem_project.heartbeat.tasks import value_after_outcomes_task, value_unattended_task
from permits_app.errors import PolicyRejected
from permits_app.models import HighWaterMark, NavSnapshot, OutcomeRecord
from permits_app.performance.nav_parts import NavState
from permits_app.safety.drawdown import read_fall
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass
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
    VitalityRecord.objects.update(measured_at=clock.now() - timedelta(minutes=11))
    _leave(live_golem, 0)
    assert value_unattended_task() == 1
    assert VitalityRecord.objects.get(golem=golem).value < full
    assert read_fall(golem.pk).violated_at is not None


def test_a_golem_that_previews_all_the_time_is_valued_no_less(live_golem: LiveGolem) -> None:
    assert value_unattended_task() == 1
    begun = let_pass(timedelta(minutes=11), chain=live_golem.world)
    # Moves the mark, and measures no vitality.
    live_golem.preview()
    assert HighWaterMark.objects.get().updated_at >= begun
    assert value_unattended_task() == 1
    assert VitalityRecord.objects.get().measured_at >= begun


def _age_feed(live: LiveGolem, symbol: str) -> None:
    feed = live.world.tokens[symbol].feed
    live.world.transact(live.world.actors.deployer, feed, "setUpdatedAt(uint256)", live.world.timestamp() - 100_000)


def _send(live: LiveGolem, symbol: str, raw: int) -> None:
    """As anybody may, whom nobody asks."""
    live.world.rpc.call("anvil_dealERC20", live.golem.address, live.world.tokens[symbol].address, hex(raw))


@pytest.mark.parametrize("is_known", [True, False], ids=["after a value", "before any value"])
def test_a_unit_of_a_token_whose_feed_is_late_switches_no_limit_off(live_golem: LiveGolem, is_known: bool) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={})
    if is_known:
        tick(golem)
    _send(live_golem, "WBTC", 1)
    _age_feed(live_golem, "WBTC")
    assert tick(golem).vitality is not None
    assert HighWaterMark.objects.get(golem=golem).value_micro_usd > 0
    _leave(live_golem, 5)
    assert tick(golem).vitality is not None
    assert read_fall(golem.pk).violated_at is not None
    with pytest.raises(PolicyRejected) as refused:
        live_golem.preview()
    assert refused.value.data["rule"] == "policy_cage.drawdown"


def test_a_golem_that_does_not_tick_is_held_to_its_mark_beside_such_a_unit_too(live_golem: LiveGolem) -> None:
    assert value_unattended_task() == 1
    _send(live_golem, "WBTC", 1)
    _age_feed(live_golem, "WBTC")
    _leave(live_golem, 5)
    VitalityRecord.objects.update(measured_at=clock.now() - timedelta(minutes=11))
    assert value_unattended_task() == 1
    assert read_fall(live_golem.golem.pk).violated_at is not None


def test_what_counted_before_or_was_bought_since_is_missed_as_a_whole(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={})
    tick(golem)
    live_golem.commit(live_golem.preview()["permit_id"])
    _age_feed(live_golem, "WETH")
    assert tick(golem).vitality is None, "bought since"
    assert read_fall(golem.pk).violated_at is None


@pytest.mark.parametrize(("share_bps", "is_missed"), [(50, False), (51, True)])
def test_a_two_hundredth_of_the_last_value_may_be_missing(
    live_golem: LiveGolem, share_bps: int, is_missed: bool
) -> None:
    golem = live_golem.golem
    token = live_golem.world.tokens["WBTC"]
    turn_on(golem, rule={})
    _send(live_golem, "WBTC", 10**6)
    tick(golem)
    last = NavSnapshot.objects.get(golem=golem)
    worth = NavState.from_json(last.state).quotes[token.address].value(10**6)
    NavSnapshot.objects.filter(pk=last.pk).update(value_micro_usd=worth * 10_000 // share_bps)
    _age_feed(live_golem, "WBTC")
    assert (tick(golem).vitality is None) is is_missed


def test_a_golem_that_ticks_is_not_looked_at_twice(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem, rule={})
    assert value_unattended_task() == 0


def test_a_node_that_does_not_answer_moves_no_mark(live_golem: LiveGolem) -> None:
    wiring.configure_networks({})
    assert value_unattended_task() == 0
    assert not HighWaterMark.objects.filter(golem=live_golem.golem).exists()


def test_what_an_action_left_is_held_to_the_mark_soon_after_its_outcome(live_golem: LiveGolem) -> None:
    assert value_after_outcomes_task() == 0, "it has not acted yet"
    assert value_unattended_task() == 1
    assert live_golem.commit(live_golem.preview()["permit_id"])["status"] == "COMMITTED"
    _leave(live_golem, 5)
    assert value_after_outcomes_task() == 1
    assert read_fall(live_golem.golem.pk).violated_at is not None
    assert OutboxEvent.objects.filter(golem_id=live_golem.golem.pk, type="policy:violation").count() == 1
    assert value_after_outcomes_task() == 0, "the mark was held to it"


def test_an_outcome_of_a_golem_that_nobody_valued_begins_its_mark(live_golem: LiveGolem) -> None:
    assert live_golem.commit(live_golem.preview()["permit_id"])["status"] == "COMMITTED"
    HighWaterMark.objects.all().delete()
    assert value_after_outcomes_task() == 1
    assert HighWaterMark.objects.get(golem=live_golem.golem).value_micro_usd > 0


@pytest.mark.parametrize(("age", "is_due"), [(timedelta(hours=1), False), (timedelta(minutes=59), True)])
def test_an_outcome_is_looked_at_for_an_hour(live_golem: LiveGolem, age: timedelta, is_due: bool) -> None:
    assert live_golem.commit(live_golem.preview()["permit_id"])["status"] == "COMMITTED"
    HighWaterMark.objects.all().delete()
    born = OutcomeRecord.objects.get().created_at
    assert value_after_outcomes(now=born + age) == int(is_due)
