"""Gas that is dear against what the golem saw: what can wait waits, and a planner that thinks is told beforehand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from archetypes_app.models import Heartbeat
from archetypes_app.models.tick import PlannerKind
from golem_project.heartbeat.owner_controls import steer_golem
from golem_project.heartbeat.regime import GAS_PAUSE_TIMES
from golem_project.heartbeat.thinking import model_planner
from permits_app.models.action_record import ActionRecord
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.heartbeat.thinking.conftest import make_client
from tests.live_golem import LiveGolem
from tests.scripted_model import say, serve_model
from tools_app.core import clock


@pytest.fixture
def model_of_ticks() -> Iterator[Any]:
    yield model_planner.configure
    model_planner.configure(None)


def saw_base_fees(live: LiveGolem, *, times: int, more: int = 0) -> None:
    """Four ticks at a fee of which the chain's own is `times` as much, and `more` wei."""
    usual = 10**9
    live.world.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(times * usual + more))
    live.world.rpc.call("evm_mine")
    heart = Heartbeat.objects.get(golem=live.golem)
    Heartbeat.objects.filter(pk=heart.pk).update(state={**heart.state, "base_fees": [str(usual)] * 4})


def last_action(live: LiveGolem) -> ActionRecord:
    return ActionRecord.objects.filter(golem=live.golem).latest("created_at")


def test_what_is_not_urgent_waits_while_gas_costs_more_than_five_times_its_usual(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem)
    saw_base_fees(live_golem, times=GAS_PAUSE_TIMES, more=1)
    tick(live_golem.golem)
    action = last_action(live_golem)
    assert action.action_type == "add_liquidity"
    assert "gas costs more than five times its usual" in action.block_reason
    assert live_golem.mined_nonce() == 0


def test_at_five_times_its_usual_nothing_waits(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem)
    saw_base_fees(live_golem, times=GAS_PAUSE_TIMES)
    tick(live_golem.golem)
    assert last_action(live_golem).state == "EXECUTED"


@pytest.mark.parametrize(("more", "is_dear"), [(0, False), (1, True)])
def test_a_model_is_told_whether_gas_is_dear(
    live_golem: LiveGolem, model_of_ticks: Any, more: int, is_dear: bool
) -> None:
    turn_on(live_golem.golem, rule={}, planner=PlannerKind.MODEL)
    tick(live_golem.golem)
    steer_golem(golem=live_golem.golem, text="Look around.", actor="owner:1", now=clock.now())
    saw_base_fees(live_golem, times=GAS_PAUSE_TIMES, more=more)
    with serve_model([say("I looked.")]) as model:
        model_of_ticks(make_client(model.url))
        tick(live_golem.golem)
    assert f'"gas_is_dear":{json.dumps(is_dear)}' in model.opening
