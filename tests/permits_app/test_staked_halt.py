"""A halt leaves a staking pool through its queue: what a step out of one position opens is left too, when it can be."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.halt import carry_out_halt, halt_golem, list_unfinished_halts
from permits_app.models import HaltRecord, HaltSetting, PendingRequest
from tests.live_golem import LiveGolem
from tests.tools_app.protocols.lido.staking import ETH, at, report
from tools_app.core import clock
from tools_app.protocols.lido.positions import LATE_SECONDS
from tools_app.toolkit.registry import REGISTRY


def carry_out(golem: LiveGolem) -> dict[str, Any]:
    steps = carry_out_halt(golem_id=golem.golem.pk, epoch=1, now=clock.now())
    return {step["step"]: step for step in steps}


@pytest.mark.protocols("lido")
def test_a_halt_goes_into_the_queue_waits_for_it_and_claims(live_golem: LiveGolem) -> None:
    golem, world = live_golem.golem, live_golem.world
    for tool in REGISTRY:
        if tool.venue == "lido":
            ToolOverride.objects.create(golem=golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    nothing = dict.fromkeys(("token_in", "token_out"))
    asked = live_golem.preview(**nothing, action_type="stake", venue="lido", amount=str(2 * ETH))
    assert live_golem.commit(asked["permit_id"])["status"] == "COMMITTED"
    HaltSetting.objects.create(golem=golem, unwind_on_halt=True)
    halt_golem(golem=golem, reason="drained", actor="owner:1", now=clock.now())
    steps = carry_out(live_golem)
    # What stETH calls an approval is an allowance, and none of a right over a withdrawal request.
    assert steps["rights taken back"]["rights"] == []
    assert world.rpc.balance_of(at("wsteth"), golem.address) == 0
    assert world.rpc.balance_of(at("steth"), golem.address) < 200
    row = PendingRequest.objects.get()
    assert row.protocol == "lido" and abs(int(row.amounts[0]["raw"]) - 2 * ETH) < 200
    assert HaltRecord.objects.get().completed_at is None, "it waits for the queue"
    assert (golem.pk, 1) in list_unfinished_halts()
    assert carry_out(live_golem)["rights taken back"]["rights"] == []
    assert PendingRequest.objects.count() == 1, "it does not ask twice"
    report(world, last_id=int(row.ref.rpartition("/")[2]), ether=10 * ETH)
    before = int(world.rpc.call("eth_getBalance", golem.address, "latest"), 16)
    carry_out(live_golem)
    assert int(world.rpc.call("eth_getBalance", golem.address, "latest"), 16) > before + ETH
    assert HaltRecord.objects.get().completed_at is not None


@pytest.mark.protocols("lido")
def test_what_no_step_gets_out_is_handed_to_the_owner_and_the_halt_ends(live_golem: LiveGolem) -> None:
    golem, world = live_golem.golem, live_golem.world
    for tool in REGISTRY:
        if tool.venue == "lido":
            ToolOverride.objects.create(golem=golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    nothing = dict.fromkeys(("token_in", "token_out"))
    asked = live_golem.preview(**nothing, action_type="stake", venue="lido", amount=str(2 * ETH))
    assert live_golem.commit(asked["permit_id"])["status"] == "COMMITTED"
    HaltSetting.objects.create(golem=golem, unwind_on_halt=True)
    halt_golem(golem=golem, reason="drained", actor="owner:1", now=clock.now())
    carry_out(live_golem)
    assert HaltRecord.objects.get().completed_at is None, "it waits for the queue"
    # Nobody finalizes it for longer than the queue ever took.
    world.rpc.call("evm_increaseTime", LATE_SECONDS + 1)
    world.rpc.call("evm_mine")
    steps = carry_out(live_golem)
    told = [each for step in steps.values() for each in step.get("positions", []) if each.get("outcome")]
    [stuck] = [each for each in told if each["outcome"] == "its owner is needed"]
    assert "is not final after" in stuck["reason"]
    assert HaltRecord.objects.get().completed_at is not None
    assert PendingRequest.objects.count() == 1, "what waits there is still followed"
