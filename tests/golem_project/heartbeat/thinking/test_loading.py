"""A model that loads tools while it thinks: it begins with few, and is shown what it loaded from its next turn on."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.loadout import MOST_TOOLS
from archetypes_app.tier_queries import TIER_KEYS
from permits_app.actions.query import OWN_QUERIES
from tests.golem_project.heartbeat.thinking.conftest import Think
from tests.live_golem import LiveGolem
from tests.scripted_model import call, say


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


def test_a_tool_that_is_not_shown_says_how_to_load_it_and_one_outside_the_toolset_does_not_exist(
    live_golem: LiveGolem, think: Think
) -> None:
    found, _ = think(
        live_golem.golem,
        call("preview_action", action_type="configure_policy"),
        call("preview_action", action_type="supply", venue="aave"),
        say("done"),
    )
    assert found.refusals == ("TOOL_NOT_LOADED", "UNKNOWN_ACTION")
