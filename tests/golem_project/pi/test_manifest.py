"""The manifest: made from the golem's toolset, hashed, cached, and true about what is missing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from archetypes_app.toolset import resolve_toolset
from golem_project.pi.definitions import define_tools, describe_key
from golem_project.pi.pi_tool import PiToolDef
from golem_project.pi.provider_tool_formats import Dialect
from permits_app.actions.query import OWN_QUERIES
from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tools_app.toolkit.enums import Phase, PiTool
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY

WRITE_TOOLS = {"preview_action", "commit_action", "cancel_action"}


@pytest.fixture
def full() -> tuple[PiToolDef, ...]:
    return define_tools(toolset=Toolset.of(REGISTRY, "all"), permit_ttl_seconds=45)


def names(manifest: dict[str, Any]) -> set[str]:
    return {tool["name"] for tool in manifest["tools"]}


def test_a_golem_with_everything_has_all_eight(full: tuple[PiToolDef, ...]) -> None:
    assert [tool.name for tool in full] == list(PiTool)


def test_every_schema_is_valid_closed_and_flat(full: tuple[PiToolDef, ...]) -> None:
    for tool in full:
        Draft202012Validator.check_schema(tool.parameters)
        assert tool.parameters["additionalProperties"] is False
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
        for prop in tool.parameters["properties"].values():
            assert prop["description"]
            assert prop.get("type") not in ("object", ["object", "null"]) or prop.get("properties")


def test_every_text_says_what_it_does_not_do_and_every_snippet_is_20_to_50_tokens(
    full: tuple[PiToolDef, ...],
) -> None:
    for tool in full:
        assert "Does not " in tool.description
        assert len(tool.description) <= 1_024
        assert 20 <= len(re.findall(r"\w+|[^\w\s]", tool.snippet)) <= 50, tool.snippet
        assert tool.snippet.startswith(f"{tool.name}:")
        assert any(line.phases for line in tool.guidelines), f"{tool.name} has no phase-conditional guideline"


def test_times_come_from_the_golems_own_permit_life(full: tuple[PiToolDef, ...]) -> None:
    preview = full[0]
    assert "45 seconds" in preview.description
    assert any("within 45 seconds" in line.text for line in preview.guidelines)
    assert "60 seconds" not in str(preview)


def test_a_phase_conditional_guideline_reads_as_a_sentence_of_its_own(full: tuple[PiToolDef, ...]) -> None:
    lines = [line.as_sentence() for tool in full for line in tool.guidelines if line.phases]
    phases = [phase.value for phase in Phase]
    assert lines and all(line.startswith("In ") and line.split()[1].rstrip(":") in phases for line in lines), lines


def test_preview_holds_each_action_of_the_toolset_and_all_their_parameters(full: tuple[PiToolDef, ...]) -> None:
    writes = [tool for tool in REGISTRY if tool.pi_tool is PiTool.PREVIEW_ACTION]
    properties = full[0].parameters["properties"]
    assert properties["action_type"]["enum"] == sorted({tool.key for tool in writes})
    assert full[0].parameters["required"] == ["action_type"]
    for tool in writes:
        assert set(tool.schema["properties"]) <= set(properties)
        assert describe_key(tool) in properties["action_type"]["description"].split("\n")
    for name, prop in properties.items():
        if name != "action_type":
            assert Draft202012Validator(prop).is_valid(None), name


def test_every_tool_is_reachable_through_exactly_one_route() -> None:
    routes = [(tool.pi_tool, tool.key, tool.venue) for tool in REGISTRY]
    routes += [(PiTool.QUERY_STATE, query.key, "golem") for query in OWN_QUERIES]
    assert len(routes) == len(set(routes))
    own = {query.key for query in OWN_QUERIES}
    assert not [tool for tool in REGISTRY if tool.pi_tool is PiTool.QUERY_STATE and tool.key in own]


def test_no_tools_parameter_hides_behind_a_word_of_the_pi_tool_itself() -> None:
    for tool in REGISTRY:
        own_words = {
            PiTool.PREVIEW_ACTION: {"action_type", "kind", "type", "venue", "params"},
            PiTool.QUERY_STATE: {"query", "venue", "params", "cursor"},
            PiTool.SEARCH_CONTEXT: {"read", "venue", "params", "cursor"},
            PiTool.QUERY_GRIMOIRE: {"read", "params", "cursor"},
        }
        assert not own_words[tool.pi_tool] & set(tool.schema["properties"]), tool.name


def test_a_golem_of_reads_has_no_write_tools_and_is_told_of_none(make_agent: MakeAgent) -> None:
    agent = make_agent(categories=["data"])
    for tool in REGISTRY:
        if tool.pi_tool is PiTool.PREVIEW_ACTION:
            ToolOverride.objects.create(golem=agent.golem, tool_name=tool.name, mode=OverrideMode.EXCLUDE)
    manifest = agent.get("manifest").json()
    assert names(manifest) == {str(tool) for tool in PiTool} - WRITE_TOOLS
    assert manifest["actions"] == []


def test_a_golem_without_a_wallet_lacks_its_writes_and_is_told_why(make_agent: MakeAgent) -> None:
    manifest = make_agent(address="").get("manifest").json()
    assert not WRITE_TOOLS & names(manifest)
    left_out = {entry["tool"]: entry for entry in manifest["left_out"]}
    assert left_out["uniswap_execute_swap"]["needs"] == "wallet"
    assert "wallet" in left_out["uniswap_execute_swap"]["warning"]


def test_a_golem_without_memory_has_no_grimoire(make_agent: MakeAgent) -> None:
    agent = make_agent(is_memory_enabled=False)
    assert "query_grimoire" not in names(agent.get("manifest").json())
    assert_problem(agent.post("query_grimoire", {"query": "x"}), 409, "MEMORY_NOT_ENABLED", "ASK_OWNER")


def test_an_excluded_tool_is_absent_everywhere(agent: Agent) -> None:
    ToolOverride.objects.create(golem=agent.golem, tool_name="uniswap_execute_swap", mode=OverrideMode.EXCLUDE)
    manifest = agent.get("manifest").json()
    assert "swap" not in [action["action_type"] for action in manifest["actions"]]
    assert "uniswap_execute_swap" not in str(manifest)
    preview = next(tool for tool in manifest["tools"] if tool["name"] == "preview_action")
    assert "swap" not in preview["parameters"]["properties"]["action_type"]["enum"]


def test_the_manifest_lists_every_tool_of_the_toolset_once(agent: Agent) -> None:
    manifest = agent.get("manifest").json()
    listed = [entry["tool"] for entry in (*manifest["actions"], *manifest["queries"]) if "tool" in entry]
    assert sorted(listed) == sorted(resolve_toolset(agent.golem).names())


@pytest.mark.parametrize("dialect", [None, *Dialect])
def test_an_unchanged_manifest_is_answered_with_304(agent: Agent, dialect: Dialect | None) -> None:
    path = "manifest" if dialect is None else f"manifest?dialect={dialect.value}"
    first = agent.get(path)
    tag = first.headers["ETag"]
    again = agent.get(path, **{"If-None-Match": f'"other", W/{tag}'})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    assert first.headers["Cache-Control"] == "private, no-cache"


def test_etag_and_schema_hash_move_with_the_toolset_and_the_tag_with_the_phase(agent: Agent) -> None:
    first = agent.get("manifest")
    type(agent.golem).objects.filter(pk=agent.golem.pk).update(phase=Phase.DEFENSIVE)
    second = agent.get("manifest")
    assert second.headers["ETag"] != first.headers["ETag"]
    assert second.json()["schema_hash"] == first.json()["schema_hash"]
    ToolOverride.objects.create(golem=agent.golem, tool_name="uniswap_execute_swap", mode=OverrideMode.EXCLUDE)
    assert agent.get("manifest").json()["schema_hash"] != first.json()["schema_hash"]


def test_the_same_tools_have_the_same_hash_for_every_golem(make_agent: MakeAgent) -> None:
    hashes = {make_agent().get("manifest").json()["schema_hash"] for _ in range(2)}
    assert len(hashes) == 1


def test_an_unknown_dialect_is_refused_with_those_that_exist(agent: Agent) -> None:
    problem = assert_problem(agent.get("manifest?dialect=cohere"), 422, "INVALID_PARAMS", "FIX_PARAMS")
    assert problem["allowed"] == [dialect.value for dialect in Dialect]
    assert_problem(agent.get("manifest?colour=red"), 422, "INVALID_PARAMS")


def test_no_manifest_names_a_file_or_a_server(agent: Agent) -> None:
    text = agent.get("manifest").content.decode()
    assert "/work" not in text and ".py" not in text and "127.0.0.1" not in text
