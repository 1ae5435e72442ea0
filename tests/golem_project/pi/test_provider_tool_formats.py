"""The providers' shapes: each checked against the rules its API refuses by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from golem_project.pi.definitions import define_tools
from golem_project.pi.pi_tool import PiToolDef
from golem_project.pi.provider_tool_formats import Dialect, is_nullable, render_tools, to_gemini, to_strict
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY

STRICT_KEYWORDS = {
    "type",
    "description",
    "enum",
    "anyOf",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
}
GEMINI_KEYWORDS = {
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
}
GEMINI_TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}


@pytest.fixture(scope="module")
def tools() -> tuple[PiToolDef, ...]:
    return define_tools(toolset=Toolset.of(REGISTRY, "all"), permit_ttl_seconds=60)


def walk(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", [])):
        yield from walk(inner)
    if isinstance(schema.get("items"), dict):
        yield from walk(schema["items"])


def test_openai_tools_that_look_at_or_move_value_are_strict_functions(tools: tuple[PiToolDef, ...]) -> None:
    for tool in render_tools(Dialect.OPENAI, tools):
        function = tool["function"]
        assert tool["type"] == "function"
        assert set(function) == {"name", "description", "parameters", "strict"}
        is_strict = function["name"] in ("preview_action", "commit_action", "cancel_action", "query_state")
        assert function["strict"] is is_strict
        assert len(function["description"]) <= 1_024
        root = function["parameters"]
        assert root["type"] == "object" and "anyOf" not in root
        for schema in walk(root):
            assert set(schema) <= STRICT_KEYWORDS
            if schema.get("type") == "object":
                assert schema["additionalProperties"] is False
                assert not is_strict or schema["required"] == list(schema["properties"])


def test_a_strict_call_with_nulls_fits_both_shapes(tools: tuple[PiToolDef, ...]) -> None:
    preview = tools[0].parameters
    call = dict.fromkeys(preview["properties"]) | {"action_type": "swap", "amount": "500000000"}
    assert Draft202012Validator(to_strict(preview)).is_valid(call)
    assert Draft202012Validator(preview).is_valid(call)
    assert not Draft202012Validator(to_strict(preview)).is_valid({"action_type": "swap"})
    assert not Draft202012Validator(to_strict(preview)).is_valid(call | {"foreign": 1})


def test_anthropic_tools_carry_plain_json_schema(tools: tuple[PiToolDef, ...]) -> None:
    for tool in render_tools(Dialect.ANTHROPIC, tools):
        assert set(tool) == {"name", "description", "input_schema"}
        Draft202012Validator.check_schema(tool["input_schema"])
        assert tool["input_schema"]["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf"} & set(tool["input_schema"])


def test_gemini_declarations_stay_in_its_subset(tools: tuple[PiToolDef, ...]) -> None:
    (block,) = render_tools(Dialect.GEMINI, tools)
    assert set(block) == {"functionDeclarations"}
    for declaration in block["functionDeclarations"]:
        assert set(declaration) == {"name", "description", "parameters"}
        assert declaration["parameters"]["type"] == "OBJECT"
        for schema in walk(declaration["parameters"]):
            assert set(schema) <= GEMINI_KEYWORDS, schema
            assert "anyOf" in schema or schema["type"] in GEMINI_TYPES
            assert isinstance(schema.get("nullable", False), bool)
            if "enum" in schema:
                assert schema["type"] == "STRING" and all(isinstance(value, str) for value in schema["enum"])
            if schema.get("type") == "OBJECT":
                assert set(schema.get("required", [])) <= set(schema["properties"])
                assert schema["propertyOrdering"] == list(schema["properties"])


def test_gemini_names_the_values_of_a_number_in_words() -> None:
    gemini = to_gemini({"type": ["integer", "null"], "enum": [500, 3000, None], "description": "Fee."})
    assert gemini == {"type": "INTEGER", "description": "Fee. One of 500, 3000.", "nullable": True}


def test_gemini_is_told_both_forms_where_text_or_a_number_is_meant() -> None:
    mixed = {"anyOf": [{"type": "string", "pattern": "^x"}, {"type": "integer"}, {"type": "null"}], "description": "D"}
    both = [{"type": "STRING", "pattern": "^x"}, {"type": "INTEGER"}]
    assert to_gemini(mixed) == {"anyOf": both, "description": "D", "nullable": True}
    flags = {"anyOf": [{"type": "string"}, {"type": "boolean"}]}
    assert to_gemini(flags) == {"anyOf": [{"type": "STRING"}, {"type": "BOOLEAN"}]}


def test_pi_tools_have_the_members_of_a_tool_definition(tools: tuple[PiToolDef, ...]) -> None:
    for tool in render_tools(Dialect.PI, tools):
        assert set(tool) == {"name", "label", "description", "promptSnippet", "promptGuidelines", "parameters"}
        assert "\n" not in tool["promptSnippet"]
        lines = tool["promptGuidelines"]
        assert lines and len(lines) == len(set(lines)) and all(line == line.strip() for line in lines)


@pytest.mark.parametrize("schema", [{"type": "null"}, {"type": ["string", "null"]}, {"anyOf": [{"type": "null"}]}])
def test_null_is_seen_in_every_spelling(schema: dict[str, Any]) -> None:
    assert is_nullable(schema)
    assert not is_nullable({"type": "string"})
