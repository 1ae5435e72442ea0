"""Tiers: what a key is shown of its golem's tools, how it loads others, and what it is told. Over HTTP, as an agent."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.actions.load_tools import load_tools
from archetypes_app.actions.revoke_api_key import rotate_api_key
from archetypes_app.models import ApiKey, ToolOverride
from archetypes_app.models.override import OverrideMode
from archetypes_app.tool_loadout import MOST_CORE, MOST_TOOLS, Loadout, make_loadout
from golem_project.pi import recent_toolsets, token_count
from golem_project.pi.provider_tool_formats import Dialect
from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tools_app.core import clock
from tools_app.toolkit.enums import Category
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY

EVERYTHING = [category.value for category in Category if category is not Category.CODING]


@pytest.fixture
def tiered(make_agent: MakeAgent) -> Agent:
    """An agent with every tool there is and a key as owners make it."""
    return make_agent(categories=EVERYTHING, most_tools=MOST_TOOLS)


def ask(agent: Agent, query: str, **arguments: Any) -> dict[str, Any]:
    answer = agent.post("query_state", {"query": query, **arguments})
    assert answer.status_code == 200, answer.content
    data: dict[str, Any] = answer.json()["data"]
    return data


def enum_of(agent: Agent, tool: str, word: str) -> list[str]:
    manifest = agent.get("manifest").json()
    shown = next(entry for entry in manifest["tools"] if entry["name"] == tool)
    words: list[str] = shown["parameters"]["properties"][word].get("enum", [])
    return words


def count_shown(agent: Agent) -> int:
    manifest = agent.get("manifest").json()
    return len([entry for entry in (*manifest["actions"], *manifest["queries"]) if "tool" in entry])


def test_a_key_as_owners_make_it_is_shown_a_core_and_no_more(tiered: Agent) -> None:
    manifest = tiered.get("manifest").json()
    assert manifest["tiers"]["most_tools"] == MOST_TOOLS
    assert 1 <= len(manifest["tiers"]["core"]) <= MOST_CORE
    assert manifest["tiers"]["loaded"] == []
    assert manifest["tiers"]["in_toolset"] > 90
    assert count_shown(tiered) == len(manifest["tiers"]["core"])
    assert {"browse_tools", "load_tools", "describe_tool"} <= set(enum_of(tiered, "query_state", "query"))


def test_an_agent_that_only_browses_and_loads_reaches_a_tool_it_was_not_shown(tiered: Agent) -> None:
    assert "supply" not in enum_of(tiered, "preview_action", "action_type")
    categories = ask(tiered, "browse_tools")["categories"]
    lending = next(entry for entry in categories if entry["name"] == "lending")
    page = ask(tiered, "browse_tools", category="lending")
    tools = dict(page["tools"])
    while cursor := page.get("next_cursor"):
        page = ask(tiered, "browse_tools", category="lending", cursor=cursor)
        tools |= page["tools"]
    assert len(tools) == lending["tool_count"]
    name = next(name for name in tools if name.endswith("_supply"))
    loaded = ask(tiered, "load_tools", tools=[name])
    assert [entry["tool"] for entry in loaded["tools_added"]] == [name]
    assert "supply" in enum_of(tiered, "preview_action", "action_type")
    described = ask(tiered, "describe_tool", tools=[name])["tools"][0]
    assert described["parameters"] == REGISTRY.get(name).schema
    assert described["loaded"] is True


def test_how_to_call_what_was_loaded_uses_only_words_of_the_schema_it_appears_in(tiered: Agent) -> None:
    told_venue = []
    for name in ("aave_supply", "morpho_supply", "wallet_get_gas_price"):
        (told,) = ask(tiered, "load_tools", tools=[name])["tools_added"]
        manifest = {tool["name"]: tool for tool in tiered.get("manifest").json()["tools"]}
        known = manifest[told["call"]]["parameters"]["properties"]
        assert {"action_type", "query", "read", "venue"} & set(told) <= set(known), told
        assert set(told["needs"]) <= set(known), told
        told_venue.append("venue" in told)
    # The first lender is the only one to supply to; beside the second the venue chooses.
    assert told_venue[:2] == [False, True]


def test_manifest_etag_and_schemas_follow_what_is_loaded(tiered: Agent) -> None:
    before = tiered.get("manifest")
    ask(tiered, "load_tools", category="vault")
    after = tiered.get("manifest", **{"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert after.json()["schema_hash"] != before.json()["schema_hash"]
    again = tiered.get("manifest", **{"If-None-Match": after.headers["ETag"]})
    assert again.status_code == 304


def test_a_read_that_is_not_loaded_is_carried_out_and_its_answer_brings_its_schema(tiered: Agent) -> None:
    before = tiered.get("manifest").json()
    answer = tiered.post("query_state", {"query": "supported_chains"})
    assert answer.status_code == 200, answer.content
    told = answer.json()["tool_schema"]
    assert (told["tool"], told["call"]) == ("wallet_get_supported_chains", "query_state")
    assert told["parameters"] == REGISTRY.get("wallet_get_supported_chains").schema
    # Loading is about what a model reads: what it was shown stays as it was, and so does what it may call.
    assert tiered.get("manifest").json() == before
    ask(tiered, "load_tools", tools=["wallet_get_supported_chains"])
    assert "tool_schema" not in tiered.post("query_state", {"query": "supported_chains"}).json()


@pytest.mark.django_db(transaction=True)
def test_a_write_that_is_not_loaded_is_judged_as_any_and_a_mistake_in_it_is_taught_by_its_schema(
    tiered: Agent, tasks_here: None
) -> None:
    body = {"action_type": "Supply", "venue": "aave", "assett": "USDC"}
    problem = assert_problem(tiered.post("preview_action", body), 422, "INVALID_PARAMS", "FIX_PARAMS")
    assert problem["tool_schema"]["tool"] == "aave_supply"
    assert problem["tool_schema"]["parameters"]["required"] == problem["tool_schema"]["needs"]
    assert "amount" in problem["missing"] and "assett" in problem["extra"]
    assert problem["unfinished_call"]["arguments"]["venue"] == "aave"


def test_what_several_venues_serve_and_none_of_them_is_loaded_is_the_callers_to_choose(tiered: Agent) -> None:
    body = {"action_type": "supply", "asset": "USDC", "amount": "1000000"}
    problem = assert_problem(tiered.post("preview_action", body), 422, "VENUE_REQUIRED", "FIX_PARAMS")
    assert {"aave", "morpho"} <= set(problem["venues"])


def test_what_a_category_has_too_many_of_is_loaded_by_need_and_the_rest_is_called_by_name(tiered: Agent) -> None:
    answer = ask(tiered, "load_tools", category="lending")
    added = [REGISTRY.get(each["tool"]) for each in answer["tools_added"]]
    assert {tool.pi_tool.value for tool in added} == {"query_state", "preview_action"}
    assert {"repay", "supply", "withdraw"} <= {tool.key for tool in added}
    assert len({(tool.pi_tool, tool.key) for tool in added}) == len(added), "a word twice before another once"
    assert "called by name" in answer["message"]
    rest = [REGISTRY.get(name) for name in answer["no_room"]]
    tool = next(each for each in rest if each.pi_tool.value == "query_state" and not each.schema.get("required"))
    called = tiered.post("query_state", {"query": tool.key, "venue": tool.venue}).json()
    # Whatever came of it without a chain.
    assert called["tool_schema"]["tool"] == tool.name


def test_what_is_outside_the_toolset_does_not_exist_whatever_is_loaded(make_agent: MakeAgent) -> None:
    agent = make_agent(categories=["trading"], most_tools=MOST_TOOLS)
    problem = assert_problem(
        agent.post("query_state", {"query": "lending_summary"}), 404, "UNKNOWN_ACTION", "ASK_OWNER"
    )
    assert problem["categories"] == ["lending"] and "next_call" not in problem
    refused = assert_problem(
        agent.post("query_state", {"query": "load_tools", "tools": ["aave_supply"]}), 404, "UNKNOWN_TOOL"
    )
    assert "aave_supply" not in str(refused["suggestions"]["aave_supply"])
    assert_problem(agent.post("query_state", {"query": "browse_tools", "category": "lending"}), 422, "CATEGORY_UNKNOWN")
    assert "lending" not in [entry["name"] for entry in ask(agent, "browse_tools")["categories"]]


def test_the_least_recently_used_gives_way_and_is_told(tiered: Agent) -> None:
    core = tiered.get("manifest").json()["tiers"]["core"]
    others = [tool.name for tool in REGISTRY if tool.name not in core and str(tool.pi_tool) == "query_state"]
    room = MOST_TOOLS - len(core)
    first, more = others[:room], others[room : room + 2]
    assert ask(tiered, "load_tools", tools=first).get("dropped") is None
    # The first of them is used, so that the second is the one used longest ago.
    tool = REGISTRY.get(first[0])
    tiered.post("query_state", {"query": tool.key, "venue": tool.venue})
    assert ask(tiered, "load_tools", tools=more)["dropped"] == first[1:3]
    assert count_shown(tiered) == MOST_TOOLS


def test_loading_everything_loads_as_many_as_fit_and_names_the_rest(tiered: Agent) -> None:
    answer = ask(tiered, "load_tools", category="lending")
    core = tiered.get("manifest").json()["tiers"]["core"]
    assert len(answer["tools_added"]) == MOST_TOOLS - len(core)
    assert answer["no_room"] and count_shown(tiered) == MOST_TOOLS
    assert "dropped" not in answer
    # What is loaded already stays, so a second time nothing gives way either.
    assert "dropped" not in ask(tiered, "load_tools", category="lending")


def test_loading_twice_is_loading_once(tiered: Agent) -> None:
    ask(tiered, "load_tools", tools=["wallet_get_gas_price"])
    again = ask(tiered, "load_tools", tools=["wallet_get_gas_price"])
    assert (again["tools_added"], again["already"]) == ([], ["wallet_get_gas_price"])
    assert ApiKey.objects.get(pk=tiered.key.key.pk).loaded_tools == ["wallet_get_gas_price"]


def test_the_core_cannot_give_way(tiered: Agent) -> None:
    core = tiered.get("manifest").json()["tiers"]["core"]
    for category in ("lending", "memory", "staking", "testnet"):
        ask(tiered, "load_tools", category=category)
    assert tiered.get("manifest").json()["tiers"]["core"] == core


def test_what_is_loaded_belongs_to_the_key_and_to_the_one_that_replaces_it(tiered: Agent) -> None:
    ask(tiered, "load_tools", tools=["wallet_get_gas_price"])
    key = ApiKey.objects.get(pk=tiered.key.key.pk)
    fresh = rotate_api_key(key=key, rotated_by=tiered.golem.owner, now=clock.now() + timedelta(seconds=1))
    assert (fresh.key.loaded_tools, fresh.key.most_tools) == (["wallet_get_gas_price"], MOST_TOOLS)
    other = Agent(golem=tiered.golem, key=fresh, client=tiered.client)
    assert other.get("manifest").json()["tiers"]["loaded"] == ["wallet_get_gas_price"]


def test_a_tool_that_left_the_toolset_is_no_longer_loaded(tiered: Agent) -> None:
    ask(tiered, "load_tools", tools=["wallet_get_gas_price"])
    ToolOverride.objects.create(golem=tiered.golem, tool_name="wallet_get_gas_price", mode=OverrideMode.EXCLUDE)
    assert tiered.get("manifest").json()["tiers"]["loaded"] == []
    assert_problem(tiered.post("query_state", {"query": "gas_price"}), 404, "UNKNOWN_ACTION")


def test_an_owner_who_says_otherwise_has_everything_shown(make_agent: MakeAgent) -> None:
    agent = make_agent(categories=EVERYTHING, most_tools=None)
    assert count_shown(agent) > 90
    wide = make_agent(categories=EVERYTHING, most_tools=30)
    ask(wide, "load_tools", category="memory")
    assert 12 < count_shown(wide) <= 30


def test_load_tools_needs_a_category_or_names(tiered: Agent) -> None:
    problem = assert_problem(tiered.post("query_state", {"query": "load_tools"}), 422, "INVALID_PARAMS", "FIX_PARAMS")
    assert set(problem["fields"]) == {"category", "tools"}
    strange = assert_problem(
        tiered.post("query_state", {"query": "load_tools", "tools": ["wallet_get_gas_prices"]}), 404, "UNKNOWN_TOOL"
    )
    assert strange["suggestions"]["wallet_get_gas_prices"][0] == "wallet_get_gas_price"


def test_the_database_refuses_more_than_the_ceiling(tiered: Agent, db: None) -> None:
    key = tiered.key.key
    with pytest.raises(Exception, match="api_key_loads_at_most_its_tools"):
        ApiKey.objects.filter(pk=key.pk).update(loaded_tools=[f"tool_{number}" for number in range(13)])


def test_a_key_that_loads_in_a_loop_keeps_its_ceiling(tiered: Agent) -> None:
    names = [tool.name for tool in REGISTRY]
    for start in range(0, len(names), 7):
        load_tools(
            key_id=tiered.key.key.pk,
            names=names[start : start + 7],
            read=lambda key: make_loadout(
                toolset=Toolset.of(REGISTRY, "all"), first=(), loaded=key.loaded_tools, most=key.most_tools
            ),
        )
    assert len(ApiKey.objects.get(pk=tiered.key.key.pk).loaded_tools) <= MOST_TOOLS


def test_use_moves_a_tool_behind_the_others() -> None:
    loadout = Loadout(core=("swap",), loaded=("a", "b", "c"), most=4)
    assert loadout.use("a").loaded == ("b", "c", "a")
    assert loadout.use("swap") == loadout
    loading = loadout.use("a").load(["d"])
    assert (loading.loadout.loaded, loading.dropped) == (("c", "a", "d"), ("b",))
    assert loadout.load(["a", "d"]).dropped == ("b",)
    assert loadout.load(["d", "e", "f", "g"]).no_room == ("g",)


def test_what_costs_too_much_beside_the_others_makes_them_give_way_and_alone_finds_no_room() -> None:
    cost = {"swap": 1, "a": 2, "b": 2, "c": 2, "d": 5, "e": 9}

    def fits(loadout: Loadout) -> bool:
        return sum(cost[name] for name in loadout.names) <= 9

    loadout = Loadout(core=("swap",), loaded=("a", "b", "c"), most=12)
    heavy = loadout.load(["d"], fits=fits)
    assert (heavy.loadout.loaded, heavy.dropped, heavy.added) == (("c", "d"), ("a", "b"), ("d",))
    too_heavy = loadout.load(["e"], fits=fits)
    assert (too_heavy.loadout, too_heavy.dropped, too_heavy.no_room) == (loadout, (), ("e",))
    part = loadout.load(["b", "d", "e"], fits=fits)
    assert (part.loadout.loaded, part.dropped, part.no_room) == (("b", "d"), ("a", "c"), ("e",))


def test_what_a_key_loads_costs_its_model_no_more_than_the_budget(
    tiered: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_count, "MOST_TOKENS", 1_350)
    ask(tiered, "load_tools", tools=["uniswap_lp_add_liquidity", "wallet_get_gas_price"])
    told = ask(tiered, "load_tools", tools=["lending_execute_leverage_loop", "morpho_supply_market"])
    assert told.get("dropped") or told["no_room"]
    for dialect in Dialect:
        shown = tiered.get(f"manifest?dialect={dialect}").json()["tools"]
        if dialect in (Dialect.PI, Dialect.MCP):
            # What a client of these hands on to a model; the rest it shows to people or keeps.
            words = {"name", "description", "parameters", "inputSchema"}
            shown = [{name: part for name, part in tool.items() if name in words} for tool in shown]
        assert token_count.count_json(shown, tokenizer=token_count.TOKENIZERS[0]) <= 1_350, dialect


def test_what_was_shown_a_moment_ago_gives_no_tool_that_was_taken_away_since(tiered: Agent) -> None:
    ask(tiered, "load_tools", tools=["wallet_get_gas_price"])
    key = ApiKey.objects.get(pk=tiered.key.key.pk)
    assert tiered.post("query_state", {"query": "gas_price"}).json().get("code") != "UNKNOWN_ACTION"
    assert "wallet_get_gas_price" in (recent_toolsets.recall(key) or ()), "nothing is remembered, so nothing is tried"
    ToolOverride.objects.create(golem=tiered.golem, tool_name="wallet_get_gas_price", mode=OverrideMode.EXCLUDE)
    assert_problem(tiered.post("query_state", {"query": "gas_price"}), 404, "UNKNOWN_ACTION")
