"""Tools that were called without the prefix of what they belong to answer by both names, at every door."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from archetypes_app.models import ApiKey, ToolOverride
from archetypes_app.models.override import OverrideMode
from archetypes_app.tool_loadout import MOST_TOOLS
from golem_project.pi.internal_call import call_tool
from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY

RENAMED = import_module("archetypes_app.migrations.0025_names_with_their_prefix").RENAMED
# Those that the texts name; the others are of an observer's list.
NINE = {
    *("search_episodes", "search_insights", "get_episode_by_id", "get_memory_stats", "update_heuristic_confidence"),
    *("trigger_curator_cycle", "link_causal_nodes", "delegate_to_archetype", "tune_parameters"),
}
CATEGORIES = ["data", "memory", "self_improvement", "intelligence", "safety"]
REFUSED = {"UNKNOWN_TOOL", "UNKNOWN_ACTION", "UNKNOWN_VENUE", "VENUE_REQUIRED", "UNKNOWN_QUERY"}


@pytest.fixture
def agent(make_agent: MakeAgent) -> Agent:
    return make_agent(categories=CATEGORIES, most_tools=MOST_TOOLS)


def ask(agent: Agent, pi_tool: PiTool, word: str) -> dict[str, Any]:
    """What is answered to a bare word: the tool's answer, or which parameter it lacks."""
    says = {PiTool.PREVIEW_ACTION: "action_type", PiTool.QUERY_GRIMOIRE: "read"}.get(pi_tool, "query")
    answered: dict[str, Any] = agent.post(str(pi_tool), {says: word}).json()
    return answered


def test_each_of_the_texts_names_answers_and_none_is_listed() -> None:
    assert set(RENAMED) >= NINE
    assert {old: REGISTRY.get(old).name for old in RENAMED} == RENAMED
    assert not set(RENAMED) & {tool.name for tool in REGISTRY}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("old", sorted(RENAMED))
def test_a_call_by_the_key_by_the_name_and_by_the_name_of_before_reaches_the_same_tool(
    old: str, agent: Agent, tasks_here: None
) -> None:
    tool = REGISTRY.get(old)
    told = [ask(agent, tool.pi_tool, word) for word in (tool.key, tool.name, old)]
    assert not {each.get("code") for each in told} & REFUSED, told
    schemas = {json.dumps(each.get("tool_schema"), sort_keys=True) for each in told if "tool_schema" in each}
    assert all(tool.name in each for each in schemas)
    assert len({(each.get("code"), tuple(each.get("missing", ()))) for each in told}) == 1, told


def test_a_tool_is_described_loaded_and_called_over_mcp_by_its_name_of_before(agent: Agent) -> None:
    described = agent.post("query_state", {"query": "describe_tool", "tools": ["get_memory_stats"]}).json()["data"]
    assert described["tools"][0]["tool"] == "memory_get_stats"
    loaded = agent.post("query_state", {"query": "load_tools", "tools": ["get_memory_stats"]}).json()["data"]
    assert [each["tool"] for each in loaded["tools_added"]] == ["memory_get_stats"]
    answer = call_tool("query_grimoire", {"read": "get_memory_stats"}, token=agent.key.token)
    assert not answer.is_refusal and answer.body["data"]["episodes"] == 0


def test_a_name_that_was_never_anybodys_is_unknown(agent: Agent) -> None:
    assert_problem(agent.post("query_state", {"query": "get_memory_statistics"}), 404, "UNKNOWN_ACTION", "FIX_PARAMS")


@pytest.mark.django_db
def test_what_owners_and_keys_had_named_is_named_anew_and_back(agent: Agent) -> None:
    migration = import_module("archetypes_app.migrations.0025_names_with_their_prefix")
    override = ToolOverride.objects.create(golem=agent.golem, tool_name="tune_parameters", mode=OverrideMode.EXCLUDE)
    keys = ApiKey.objects.filter(golem=agent.golem)
    keys.update(loaded_tools=["uniswap_get_quote", "search_episodes"])
    migration.say_new_names(apps, None)
    override.refresh_from_db()
    assert override.tool_name == "memory_tune_parameters"
    assert keys.get().loaded_tools == ["uniswap_get_quote", "memory_search_episodes"]
    migration.say_old_names(apps, None)
    override.refresh_from_db()
    assert override.tool_name == "tune_parameters"
    assert keys.get().loaded_tools == ["uniswap_get_quote", "search_episodes"]
