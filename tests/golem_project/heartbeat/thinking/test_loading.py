"""A model that loads tools while it thinks: it begins with few, and is shown what it loaded from its next turn on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from archetypes_app.browse_and_load_tools import TIER_KEYS
from archetypes_app.tool_loadout import MOST_TOOLS, choose_core
from archetypes_app.toolset import resolve_toolset
from golem_project.heartbeat.thinking.tool_selection import choose_loadout
from permits_app.actions.query import OWN_QUERIES
from tests.golem_project.heartbeat.loans import TOOLS, include
from tests.golem_project.heartbeat.thinking.conftest import Think
from tests.live_golem import SWAP, LiveGolem
from tests.scripted_model import call, calls, commit_last, say
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool


def actions(request: dict[str, Any]) -> list[str]:
    """The action types a model was shown."""
    for tool in request["tools"]:
        if tool["function"]["name"] == "preview_action":
            found: list[str] = tool["function"]["parameters"]["properties"]["action_type"].get("enum", [])
            return found
    return []


def queries(request: dict[str, Any]) -> list[str]:
    tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in request["tools"]}
    found: list[str] = tools["query_state"]["properties"]["query"]["enum"]
    return found


def test_a_model_browses_loads_and_is_shown_what_it_loaded(live_golem: LiveGolem, think: Think) -> None:
    found, model = think(
        live_golem.golem,
        call("query_state", query="browse_tools"),
        call("query_state", query="browse_tools", category="wallet"),
        call("query_state", query="load_tools", tools=["wallet_configure_policy"]),
        say("ready"),
    )
    assert found.refusals == ()
    assert "configure_policy" not in actions(model.requests[2])
    assert "configure_policy" in actions(model.requests[3])


@pytest.mark.parametrize("count", [1, 6])
def test_what_a_model_loads_keeps_its_ceiling(live_golem: LiveGolem, think: Think, count: int) -> None:
    script = [call("query_state", query="load_tools", category=name) for name in ("memory", "wallet", "lp")] * count
    _, model = think(live_golem.golem, *script[:6], say("full"))
    last = model.requests[-1]
    shown = set(actions(last)) | set(queries(last))
    own = TIER_KEYS | {query.key for query in OWN_QUERIES}
    assert len(shown - own) <= MOST_TOOLS


def test_a_tool_that_is_not_shown_is_carried_out_and_shown_next_and_one_outside_the_toolset_does_not_exist(
    live_golem: LiveGolem, think: Think
) -> None:
    found, model = think(
        live_golem.golem,
        call("preview_action", **TRANSFER),
        call("preview_action", action_type="supply", venue="aave"),
        say("done"),
    )
    assert found.refusals == ("SAFETY_ADDRESS_NOT_ALLOWED", "UNKNOWN_ACTION")
    assert "transfer" not in actions(model.requests[0])
    assert "transfer" in actions(model.requests[1])


TRANSFER: dict[str, Any] = {
    "action_type": "transfer",
    "token": "USDC",
    "recipient": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    "amount": "1000000",
}


def instructions(request: dict[str, Any]) -> str:
    """What the model was told of itself and its tools."""
    return str(next(each["content"] for each in request["messages"] if each["role"] == "system"))


def test_the_core_stays_whatever_a_model_loads_and_it_still_trades(live_golem: LiveGolem, think: Think) -> None:
    before = live_golem.balance("WETH")
    loads = [call("query_state", query="load_tools", category=name) for name in ("memory", "wallet", "staking")]
    found, model = think(
        live_golem.golem, *loads, calls(("preview_action", json.dumps(SWAP))), commit_last(), say("ok")
    )
    assert "TOOL_NOT_LOADED" not in found.refusals
    assert all("swap" in actions(request) for request in model.requests)
    assert live_golem.balance("WETH") > before


def test_who_is_woken_for_a_debt_never_loses_what_repays_it(live_golem: LiveGolem, think: Think) -> None:
    include(live_golem, *TOOLS)
    loads = [call("query_state", query="load_tools", category=name) for name in ("memory", "lp", "data", "wallet")]
    _, model = think(
        live_golem.golem,
        *loads,
        say("ok"),
        interventions=("repay the loan before it is liquidated",),
        anomalies=("HEALTH_UNDER: the loan at aave_v3 is in danger",),
    )
    first = [each for each in actions(model.requests[0]) if each in ("repay", "auto_deleverage")]
    assert first
    assert all(set(first) <= set(actions(request)) for request in model.requests)


def test_what_a_model_is_told_of_its_tools_follows_what_it_loaded_at_once(live_golem: LiveGolem, think: Think) -> None:
    tool = REGISTRY.get("wallet_configure_policy")
    _, model = think(
        live_golem.golem,
        call("query_state", query="load_tools", tools=[tool.name]),
        call("query_state", query="limits"),
        say("ok"),
    )
    before, after, later = map(instructions, model.requests)
    assert tool.snippet not in before
    assert tool.snippet in after and after == later
    dropped = {each for each in actions(model.requests[0]) if each not in actions(model.requests[1])}
    for each in dropped:
        assert f"{each}:" not in after.partition("Actions and reads you have now")[2].partition("About them")[0]


def test_loading_twice_changes_nothing(live_golem: LiveGolem, think: Think) -> None:
    again = call("query_state", query="load_tools", tools=["wallet_configure_policy"])
    _, model = think(live_golem.golem, again, again, say("ok"))
    assert actions(model.requests[1]) == actions(model.requests[2])
    assert instructions(model.requests[1]) == instructions(model.requests[2])


def test_three_writes_stay_beside_the_core_and_those_that_pay_come_first(live_golem: LiveGolem) -> None:
    include(live_golem, *TOOLS)
    toolset = resolve_toolset(live_golem.golem)
    core = choose_core(toolset=toolset, first=[])
    writes = [tool for tool in toolset if isinstance(tool, WriteTool) and tool.name not in core]
    selected = toolset.without((tool.name for tool in toolset if tool not in writes), reason="not chosen")
    loadout = choose_loadout(toolset=toolset, selected=selected, first=[])
    assert loadout.core[: len(core)] == core and len(loadout.core) == len(core) + 3
    assert {"aave_repay", "lending_auto_deleverage"} <= set(loadout.core)
    assert len(loadout.names) == len(set(loadout.names)) == MOST_TOOLS
