"""How parameters of several tools become one schema, and one schema the words of each vendor, at the edges."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.pi.definitions import define_tools
from golem_project.pi.manifest import _exact, without_words
from golem_project.pi.openapi_document import OpenApi, PathOperation
from golem_project.pi.parameter_union import _widen
from golem_project.pi.provider_tool_formats import _camel, to_anthropic, to_gemini
from golem_project.pi.python_client import _body_of, _is_closed, _list_fields
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY


@pytest.mark.parametrize(
    ("one", "other", "wider"),
    [
        ({"type": "integer"}, {"type": "string"}, None),
        ({"type": ["integer", "null"]}, {"type": ["integer", "null"]}, None),
        ({"type": "string", "enum": ["a", "b"]}, {"type": "string", "enum": ["b", "c"]}, ["a", "b", "c"]),
        ({"type": "string", "enum": ["a"]}, {"type": "string"}, None),
        ({"type": "string", "minLength": 1}, {"type": "string", "minLength": 2}, None),
        (
            {"type": "integer", "minimum": 1, "maximum": 5},
            {"type": "integer", "minimum": 3, "maximum": 9},
            {"type": "integer", "minimum": 1, "maximum": 9},
        ),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "maximum": 9}, {"type": "integer"}),
        ({"type": "number", "minimum": 1}, {"type": "number", "minimum": 0}, {"type": "number", "minimum": 0}),
        ({"type": "integer", "multipleOf": 2}, {"type": "integer"}, None),
    ],
)
def test_two_ranges_become_the_one_that_holds_both_and_what_differs_otherwise_stays_apart(
    one: dict[str, Any], other: dict[str, Any], wider: Any
) -> None:
    found = _widen(one, other)
    assert (found["enum"] if isinstance(wider, list) and found else found) == wider


@pytest.mark.parametrize(
    ("given", "gemini"),
    [
        ({"type": "string"}, {"type": "STRING"}),
        ({"type": ["integer", "null"]}, {"type": "INTEGER", "nullable": True}),
        ({"type": "string", "enum": ["a", None]}, {"type": "STRING", "format": "enum", "enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "INTEGER", "description": "One of 1, 2."}),
        ({"type": "array", "items": {"type": "string"}}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "propertyOrdering": ["a"], "required": ["a"]},
        ),
        ({"type": "object"}, {"type": "OBJECT", "properties": {}, "propertyOrdering": []}),
    ],
)
def test_a_parameter_in_geminis_words(given: dict[str, Any], gemini: dict[str, Any]) -> None:
    told = to_gemini(given)
    assert {name: told[name] for name in gemini} == gemini
    assert ("nullable" in told) is ("nullable" in gemini) and ("required" in told) is ("required" in gemini)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 3}),
        ({"type": ["string", "null"]}, {"type": "string"}),
        ({"type": ["string", "integer", "null"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"}, {"type": "string", "description": "d"}),
        ({"type": "string", "enum": ["a", None]}, {"type": "string", "enum": ["a"]}),
        (
            {"type": "array", "items": {"type": ["integer", "null"]}},
            {"type": "array", "items": {"type": "integer"}},
        ),
    ],
)
def test_a_parameter_in_anthropics_words_knows_no_null(given: dict[str, Any], plain: dict[str, Any]) -> None:
    assert to_anthropic(given) == plain


def test_names_of_hints_are_written_together() -> None:
    assert [_camel(name) for name in ("read_only", "open_world", "idempotent")] == [
        "readOnly",
        "openWorld",
        "idempotent",
    ]


def test_a_fraction_is_hashed_as_text_and_whole_numbers_as_they_are() -> None:
    assert _exact({1: [0.5, 2, (True, "a")], "b": None}) == {"1": ["0.5", 2, [True, "a"]], "b": None}


def test_words_are_left_out_of_a_shape_and_parameters_of_that_name_stay() -> None:
    shape = {
        "title": "T",
        "properties": {"title": {"type": "string", "description": "d"}},
        "anyOf": [{"examples": [1]}],
    }
    assert without_words(shape) == {"properties": {"title": {"type": "string"}}, "anyOf": [{}]}


@pytest.mark.parametrize(
    ("schema", "is_closed"),
    [
        ({"additionalProperties": False, "properties": {"a": {}}}, True),
        ({"additionalProperties": False, "properties": {}}, False),
        ({"additionalProperties": True, "properties": {"a": {}}}, False),
        ({"properties": {"a": {}}}, False),
    ],
)
def test_a_client_names_the_fields_of_a_body_that_takes_no_others(schema: dict[str, Any], is_closed: bool) -> None:
    assert _is_closed(schema) is is_closed
    assert bool(list(_list_fields(schema))) is is_closed


def test_fields_that_have_to_be_there_stand_first_and_a_body_is_found_by_its_reference() -> None:
    body = {
        "additionalProperties": False,
        "required": ["z"],
        "properties": {"a": {"type": "string"}, "z": {"type": "string"}},
    }
    document = OpenApi({"components": {"schemas": {"Asked": body}}})
    reference = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Asked"}}}}
    asking, bare = PathOperation("post", "/asked", {"requestBody": reference}), PathOperation("get", "/bare", {})
    assert _body_of(asking, document) == body and _body_of(bare, document) is None
    first, second = _list_fields(body)
    assert "z" in first and "a" in second and list(_list_fields(None)) == []


def test_what_may_be_named_by_a_text_or_by_its_parts_is_shown_as_the_text_and_described_as_both() -> None:
    tool = REGISTRY.get("morpho_supply_market")
    (preview,) = (
        each
        for each in define_tools(toolset=Toolset.of([tool], "one"), permit_ttl_seconds=60, has_writes=True)
        if each.name is PiTool.PREVIEW_ACTION
    )
    assert preview.shown["properties"]["market_id"]["type"] == ["string", "null"]
    told = preview.parameters["properties"]["market_id"]
    assert {part["type"] for part in told["anyOf"]} == {"string", "object", "null"}
    parts = next(part for part in told["anyOf"] if part["type"] == "object")
    assert set(parts["properties"]) == {"loanToken", "collateralToken", "oracle", "irm", "lltv"}
