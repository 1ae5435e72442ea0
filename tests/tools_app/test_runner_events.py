"""What the runner tells of a call: start, steps, end or error, all with one call id, and no value of any answer."""

from __future__ import annotations

import pytest

from archetypes_app.toolset import view_golem
from tests.evm.world import CHAIN_ID, World
from tests.factories.golems import make_golem, make_owner
from tools_app import runner
from tools_app.core import clock, event_bus
from tools_app.core.errors import GolemError
from tools_app.core.models import OutboxEvent
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

pytestmark = pytest.mark.django_db


def run(name: str, **params: object) -> list[OutboxEvent]:
    golem = make_golem(owner=make_owner(name="runner-events"), home_chain_id=CHAIN_ID)
    tool = REGISTRY.get(name)
    assert isinstance(tool, ReadTool)
    try:
        with event_bus.within_tick(42):
            runner.run_read(tool=tool, params=params, golem=view_golem(golem), now=clock.now())
    except GolemError as error:
        assert error.code == "TOKEN_NOT_FOUND"
    return list(OutboxEvent.objects.filter(golem_id=golem.pk).order_by("sequence"))


def test_a_call_tells_start_each_declared_step_and_end_under_one_id(local_chain: World) -> None:
    events = run("data_get_token_price", token="WETH")
    tool = REGISTRY.get("data_get_token_price")
    assert [event.type for event in events] == [
        "tool:start",
        *["tool:update"] * len(tool.progress_steps),
        "tool:end",
    ]
    assert len({event.payload["call_id"] for event in events}) == 1
    steps = [event.payload for event in events if event.type == "tool:update"]
    assert [(step["step_index"], step["step_name"]) for step in steps] == list(enumerate(tool.progress_steps))
    assert {step["total_steps"] for step in steps} == {len(tool.progress_steps)}
    end = events[-1].payload
    assert end["params_hash"] == events[0].payload["params_hash"]
    assert "price" in end["result_summary"]
    assert "WETH" not in str([event.payload for event in events])
    assert {event.heartbeat_tick for event in events} == {42}


def test_a_failing_call_tells_its_code(local_chain: World) -> None:
    events = run("data_get_token_price", token="NOSUCH")
    assert events[0].type == "tool:start"
    assert events[-1].type == "tool:error"
    assert events[-1].payload["error_code"] == "TOKEN_NOT_FOUND"
    assert {event.payload["call_id"] for event in events} == {events[0].payload["call_id"]}
