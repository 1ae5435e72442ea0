"""The tools as the vendors' own libraries judge them: what a provider would drop or refuse, its library does.

The tests that ask them load them: that takes seconds, and every process of a run reads this file.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from archetypes_app.tool_loadout import Loadout, make_loadout
from golem_project.pi.definitions import define_tools
from golem_project.pi.pi_tool import PiToolDef
from golem_project.pi.provider_tool_formats import Dialect, render_tools
from tools_app.toolkit.enums import Category
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY

if TYPE_CHECKING:
    from google.genai.types import Schema

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
    parts = schema.get("anyOf", [])
    for part in parts:
        # What may be named by a text is shown as the text; its parts are taken as well.
        if part.get("type") != "object" or not any(each.get("type") == "string" for each in parts):
            yield from list_properties(part, path)
    yield from list_properties(schema.get("items"), f"{path}[]")


def test_openais_library_finds_nothing_to_change_in_a_strict_tool(tools: tuple[PiToolDef, ...]) -> None:
    from openai.lib._pydantic import _ensure_strict_json_schema

    strict = [tool for tool in render_tools(Dialect.OPENAI, tools) if tool["function"]["strict"]]
    assert "preview_action" in [tool["function"]["name"] for tool in strict]
    for tool in strict:
        shown = tool["function"]["parameters"]
        judged = copy.deepcopy(shown)
        assert _ensure_strict_json_schema(judged, path=(), root=judged) == shown


def test_anthropics_library_loses_nothing_of_a_tool_but_bounds_which_it_writes_into_words(
    tools: tuple[PiToolDef, ...],
) -> None:
    """What its function makes of a schema is what its API takes in strict mode; it has no other validator."""
    from anthropic import transform_schema

    for tool in render_tools(Dialect.ANTHROPIC, tools):
        shown = tool["input_schema"]
        judged = transform_schema(copy.deepcopy(shown))
        assert sorted(list_properties(judged)) == sorted(list_properties(shown)), tool["name"]
        assert keep(judged) == keep(shown), tool["name"]
        assert (judged["additionalProperties"], judged["required"]) == (False, shown["required"]), tool["name"]
        for name, prop in shown["properties"].items():
            bounds = {word: prop[word] for word in BOUNDS & set(prop)}
            described = judged["properties"][name].get("description", "")
            assert [word for word in bounds if f"{word}: {bounds[word]}" not in described] == [], (tool["name"], name)


BOUNDS = {"minimum", "maximum", "minLength", "maxLength", "pattern"}


def keep(schema: Any) -> Any:
    """What decides which values a schema takes, but for bounds; a value that is listed says its type by itself."""
    words = ("enum", "const") if "enum" in schema or "const" in schema else ("type", "required")
    kept = {word: schema[word] for word in words if word in schema}
    if "anyOf" in schema:
        kept["anyOf"] = [keep(part) for part in schema["anyOf"]]
    if "items" in schema:
        kept["items"] = keep(schema["items"])
    if "properties" in schema:
        kept["properties"] = {name: keep(part) for name, part in schema["properties"].items()}
    return kept


def test_anthropics_own_types_take_each_tool_as_it_is_and_as_a_strict_one(tools: tuple[PiToolDef, ...]) -> None:
    from anthropic import transform_schema
    from anthropic.types import ToolParam
    from anthropic.types.tool_param import InputSchemaTyped

    whole, parameters = TypeAdapter(ToolParam), TypeAdapter(InputSchemaTyped)
    for tool in render_tools(Dialect.ANTHROPIC, tools):
        strict = {**tool, "strict": True, "input_schema": transform_schema(copy.deepcopy(tool["input_schema"]))}
        for sent in (tool, strict):
            assert whole.validate_python(sent, strict=True) == sent
            assert parameters.validate_python(sent["input_schema"], strict=True) == sent["input_schema"]
            assert set(sent) <= set(ToolParam.__annotations__)
    for broken in ({**tool, "strict": "yes"}, {"name": "nameless"}):
        with pytest.raises(ValidationError):
            whole.validate_python(broken, strict=True)
    with pytest.raises(ValidationError):
        parameters.validate_python({**tool["input_schema"], "type": "array"}, strict=True)


def list_declared(schema: Schema | None, path: str = "") -> Iterator[str]:
    """Every property that Google's own types kept, with its way."""
    if schema is None:
        return
    for name, inner in (schema.properties or {}).items():
        yield f"{path}.{name}"
        yield from list_declared(inner, f"{path}.{name}")
    for part in schema.any_of or ():
        yield from list_declared(part, path)
    yield from list_declared(schema.items, f"{path}[]")


def test_googles_library_takes_every_declaration_and_loses_no_property_and_no_value(
    tools: tuple[PiToolDef, ...],
) -> None:
    from google.genai import types as google

    for tool in render_tools(Dialect.GEMINI, tools)[0]["functionDeclarations"]:
        # Its types forbid what they do not know, so a keyword that Gemini lacks is an error here.
        judged = google.FunctionDeclaration.model_validate(tool)
        assert sorted(list_declared(judged.parameters)) == sorted(list_properties(tool["parameters"])), tool["name"]
        sent = judged.model_dump(by_alias=True, exclude_none=True, mode="json")["parameters"]
        assert sent == tool["parameters"]


def test_googles_library_refuses_what_its_provider_would(tools: tuple[PiToolDef, ...]) -> None:
    from google.genai import types as google

    (tool, *_) = render_tools(Dialect.GEMINI, tools)[0]["functionDeclarations"]
    with pytest.raises(ValueError, match="additional_properties|additionalProperties|Extra"):
        google.FunctionDeclaration.model_validate({**tool, "parameters": {**tool["parameters"], "oneOf": []}})


def test_no_shape_loses_a_property_of_what_the_server_takes(tools: tuple[PiToolDef, ...]) -> None:
    full = {str(tool.name): sorted(set(list_properties(tool.parameters))) for tool in tools}
    openai = {each["function"]["name"]: each["function"]["parameters"] for each in render_tools(Dialect.OPENAI, tools)}
    anthropic = {each["name"]: each["input_schema"] for each in render_tools(Dialect.ANTHROPIC, tools)}
    pi = {each["name"]: each["parameters"] for each in render_tools(Dialect.PI, tools)}
    (declared,) = render_tools(Dialect.GEMINI, tools)
    gemini = {each["name"]: each["parameters"] for each in declared["functionDeclarations"]}
    for shape in (openai, anthropic, pi, gemini):
        assert {name: sorted(set(list_properties(schema))) for name, schema in shape.items()} == full
