"""The golem of `make run`: its heartbeat is on, by rules, as a dry run, and stays as its owner left it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import Golem, Heartbeat
from golem_project.demo.seed import seed_demo
from permits_app.gas_relayer import find_relayer_address, open_relayer
from permits_app.models.action_record import ActionRecord
from tests.evm.world import World
from tests.golem_project.heartbeat.pulses import tick
from tools_app.core import clock


@pytest.fixture(autouse=True)
def own_relayer(db: None, local_chain: World, settings: Any, tmp_path: Path) -> None:
    """The archetypes, and a place for the demo's relayer that no other test finds."""
    settings.GOLEM_RELAYER_ADDRESS_FILE = str(tmp_path / "relayer_address")
    sync_builtins()


def test_the_demo_has_a_relayer_with_coins_and_gives_it_more_when_the_chain_is_new(local_chain: World) -> None:
    seed_demo(now=clock.now(), with_token=False)
    address = find_relayer_address()
    assert open_relayer().address == address
    local_chain.rpc.call("anvil_setBalance", address, "0x0")
    seed_demo(now=clock.now(), with_token=False)
    assert find_relayer_address() == address
    assert int(local_chain.rpc.call("eth_getBalance", address, "latest"), 16) == 10**18


def test_the_demo_golem_rehearses_and_one_switch_makes_it_live() -> None:
    golem = seed_demo(now=clock.now(), with_token=False).golem
    heartbeat = Heartbeat.objects.get(golem=golem)
    assert heartbeat.is_on and heartbeat.planner == "RULE" and not golem.is_live
    assert [each.state for each in ActionRecord.objects.filter(tick=tick(golem).tick)] == ["REHEARSED"]
    Golem.objects.filter(pk=golem.pk).update(is_live=True)
    actions = ActionRecord.objects.filter(tick=tick(golem).tick)
    assert [(each.action_type, each.state) for each in actions] == [("add_liquidity", "EXECUTED")]


def test_a_heartbeat_its_owner_turned_off_is_not_turned_on_again() -> None:
    golem = seed_demo(now=clock.now(), with_token=False).golem
    Heartbeat.objects.filter(golem=golem).update(is_on=False)
    seed_demo(now=clock.now(), with_token=False)
    assert not Heartbeat.objects.get(golem=golem).is_on
