"""What models read before they have a token: true to the registry, and nothing of anybody's."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES
from tests.golem_project.pi.conftest import MakeAgent
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool


def fetch(path: str) -> str:
    answer = Client().get(path)
    assert answer.status_code == 200, (path, answer.status_code)
    return str(answer.content.decode())


def test_the_short_guide_links_to_what_is_there() -> None:
    text = fetch("/llms.txt")
    assert text.startswith("# Golem\n\n> ")
    for path in re.findall(r"\]\((/(?:llms|skills|support)[^)]*)\)", text):
        fetch(path)


def test_the_full_guide_names_every_tool_with_each_of_its_parameters() -> None:
    text = fetch("/llms-full.txt")
    for tool in REGISTRY:
        part = text.split(f"### {tool.name}\n", 1)[1].split("\n### ", 1)[0]
        assert [name for name in tool.schema["properties"] if f"- {name}" not in part] == [], tool.name


def test_the_matrix_has_every_tool_once_and_says_what_only_reads() -> None:
    support = Client().get("/support.json").json()
    assert [entry["tool"] for entry in support["tools"]] == sorted(tool.name for tool in REGISTRY)
    for entry in support["tools"]:
        is_read = isinstance(REGISTRY.get(entry["tool"]), ReadTool)
        assert entry["annotations"]["read_only"] is is_read
        assert entry["annotations"]["destructive"] is not is_read


@pytest.mark.parametrize("name", [each.name for each in BUILTIN_ARCHETYPES])
def test_each_built_in_archetype_has_a_skill_file(name: str) -> None:
    text = fetch(f"/skills/{name}.md")
    assert text.startswith(f"---\nname: {name}\ndescription: ")


def test_a_skill_of_nobody_is_not_found() -> None:
    assert Client().get("/skills/nobody.md").status_code == 404
    assert Client().post("/llms.txt").status_code == 405


def test_the_matrix_and_the_manifest_say_the_same_of_a_tool(make_agent: MakeAgent) -> None:
    told = {entry["tool"]: entry["annotations"] for entry in Client().get("/support.json").json()["tools"]}
    manifest = make_agent().get("manifest").json()
    routes = [each for each in (*manifest["actions"], *manifest["queries"]) if "tool" in each]
    assert routes
    assert {each["tool"]: each["annotations"] for each in routes} == {
        each["tool"]: told[each["tool"]] for each in routes
    }


def test_only_what_cannot_be_taken_back_is_called_destructive(make_agent: MakeAgent) -> None:
    tools = {tool["name"]: tool["annotations"] for tool in make_agent().get("manifest").json()["tools"]}
    assert {name for name, told in tools.items() if told["destructive"]} == {"commit_action", "emergency_halt"}
    assert {name for name, told in tools.items() if told["read_only"]} == {
        "query_state",
        "search_context",
        "query_grimoire",
    }
