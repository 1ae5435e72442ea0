"""The tools as the vendors' own libraries judge them: what a provider would drop or refuse, its library does."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import transform_schema
from openai.lib._pydantic import _ensure_strict_json_schema

from archetypes_app.loadout import Loadout, make_loadout
from golem_project.pi.definitions import define_tools
from golem_project.pi.dialects import Dialect, render_tools
from golem_project.pi.pi_tool import PiToolDef
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.toolset import Toolset

EVERYTHING = Toolset.of(REGISTRY, "all")
LOADOUTS = {
    "everything": Loadout(most=None),
    "core": make_loadout(toolset=EVERYTHING, first=()),
    **{
        category.value: Loadout(loaded=tuple(tool.name for tool in REGISTRY.by_category(category)), most=100)
        for category in Category
        if REGISTRY.by_category(category)
    },
}


@pytest.fixture(params=LOADOUTS, ids=str)
def tools(request: Any) -> tuple[PiToolDef, ...]:
    shown = LOADOUTS[request.param].cut(EVERYTHING)
    return define_tools(toolset=shown, permit_ttl_seconds=60, has_writes=True)


def list_properties(schema: Any, path: str = "") -> Iterator[str]:
    """Every property there is, with its way."""
    if not isinstance(schema, dict):
        return
    for name, inner in schema.get("properties", {}).items():
        yield f"{path}.{name}"
        yield from list_properties(inner, f"{path}.{name}")
    for part in schema.get("anyOf", []):
        yield from list_properties(part, path)
    yield from list_properties(schema.get("items"), f"{path}[]")


def test_openais_library_finds_nothing_to_change_in_a_strict_tool(tools: tuple[PiToolDef, ...]) -> None:
    for tool in render_tools(Dialect.OPENAI, tools):
        shown = tool["function"]["parameters"]
        judged = copy.deepcopy(shown)
        assert _ensure_strict_json_schema(judged, path=(), root=judged) == shown


def test_anthropics_library_loses_no_property_and_no_value(tools: tuple[PiToolDef, ...]) -> None:
    for tool in render_tools(Dialect.ANTHROPIC, tools):
        shown = tool["input_schema"]
        judged = transform_schema(copy.deepcopy(shown))
        assert sorted(list_properties(judged)) == sorted(list_properties(shown)), tool["name"]
        for name, prop in shown["properties"].items():
            assert judged["properties"][name].get("enum") == prop.get("enum"), (tool["name"], name)


def test_no_shape_loses_a_property_of_what_the_server_takes(tools: tuple[PiToolDef, ...]) -> None:
    full = {str(tool.name): sorted(set(list_properties(tool.parameters))) for tool in tools}
    openai = {each["function"]["name"]: each["function"]["parameters"] for each in render_tools(Dialect.OPENAI, tools)}
    anthropic = {each["name"]: each["input_schema"] for each in render_tools(Dialect.ANTHROPIC, tools)}
    pi = {each["name"]: each["parameters"] for each in render_tools(Dialect.PI, tools)}
    (declared,) = render_tools(Dialect.GEMINI, tools)
    gemini = {each["name"]: each["parameters"] for each in declared["functionDeclarations"]}
    for shape in (openai, anthropic, pi, gemini):
        assert {name: sorted(set(list_properties(schema))) for name, schema in shape.items()} == full
