"""The union schema: flat, closed, and never narrower than the tools behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from golem_project.pi.parameter_union import UnknownReference, inline_schema, make_nullable, unite_parameters
from golem_project.pi.schema_lines import name_home
from tests.batches import in_batches
from tools_app.toolkit.enums import Category, TickBudget
from tools_app.toolkit.family import FAMILIES, ToolFamily
from tools_app.toolkit.params import Count, Flag, Limit, PositionId, RawAmount, Token
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef


def declare(*handlers: Any) -> list[ToolDef]:
    """Tools of a family that never reaches the registry."""
    family = ToolFamily(prefix="probe", category=Category.DATA)
    FAMILIES.remove(family)
    for handler in handlers:
        family.read(query=handler.__name__.removeprefix("probe_"), budget=TickBudget.FAST)(handler)
    return family.tools


def accepts(schema: dict[str, Any], value: Any) -> bool:
    return Draft202012Validator(schema).is_valid(value)


def probe_pages(ctx: Any, size: Limit, mark: Token, kind: PositionId | None = None) -> None:
    """Probe. Does not exist."""


def probe_counts(ctx: Any, size: Count, mark: RawAmount, kind: Flag = False) -> None:
    """Probe. Does not exist."""


def test_a_range_that_differs_becomes_the_wider_one() -> None:
    size = unite_parameters(declare(probe_pages, probe_counts))["size"]
    assert (size["type"], size["minimum"], size["maximum"]) == ("integer", 1, 1_000)
    assert size["description"].startswith("For pages: Most rows")
    assert "For counts: A count" in size["description"]


def test_forms_that_differ_stand_side_by_side() -> None:
    united = unite_parameters(declare(probe_pages, probe_counts))
    assert len(united["mark"]["anyOf"]) == 2
    assert {part["type"] for part in united["kind"]["anyOf"]} == {"string", "boolean"}
    assert accepts(united["mark"], "USDC") and accepts(united["mark"], "9" * 78)
    assert not accepts(united["mark"], "not a token and no amount")


def test_equal_parameters_keep_one_description() -> None:
    def probe_one(ctx: Any, token: Token) -> None:
        """Probe. Does not exist."""

    def probe_two(ctx: Any, token: Token) -> None:
        """Probe. Does not exist."""

    token = unite_parameters(declare(probe_one, probe_two))["token"]
    assert token["description"].startswith("Token address")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a"]},
        {"type": "integer", "minimum": 3},
        {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
        {"const": 5},
    ],
)
def test_a_nullable_schema_takes_null_and_everything_it_took(schema: dict[str, Any]) -> None:
    nullable = make_nullable(schema)
    assert accepts(nullable, None)
    assert not accepts(schema, None)
    for value in ("a", 5, True):
        assert accepts(nullable, value) is accepts(schema, value)


def test_a_reference_is_written_out_and_an_unknown_one_refused() -> None:
    definitions = {"Leg": {"type": "object", "title": "Leg", "properties": {"title": {"type": "string", "title": "T"}}}}
    flat = inline_schema({"type": "array", "items": {"$ref": "#/$defs/Leg"}}, definitions)
    assert flat["items"] == {"type": "object", "properties": {"title": {"type": "string"}}}
    with pytest.raises(UnknownReference):
        inline_schema({"$ref": "#/$defs/Missing"}, definitions)


EXAMPLES: dict[str, Any] = {
    "string": [
        "USDC",
        "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        "1",
        "2950.5",
        "abcd-1",
        "0x",
        "text",
        "AUTO",
        "00000000-0000-4000-8000-000000000001",
        "31337:0",
    ],
    "integer": [1, 30, 50, 100, 500, 3000],
    "boolean": [True, False],
    "number": [1],
    "array": [[], [1], ["USDC"]],
    "object": [{}],
}


def candidates() -> Iterable[Any]:
    for values in EXAMPLES.values():
        yield from values


@in_batches("tool", REGISTRY, name=lambda tool: tool.name, batch=name_home)
def test_whatever_a_tool_takes_the_union_takes(tool: ToolDef) -> None:
    united = unite_parameters([other for other in REGISTRY if other.pi_tool is tool.pi_tool])
    tried = 0
    for name, prop in tool.schema["properties"].items():
        own = {**prop, "$defs": tool.schema.get("$defs", {})}
        listed = [value for part in (prop, *prop.get("anyOf", [])) for value in part.get("enum", [])]
        for value in [*candidates(), *listed]:
            if value is not None and accepts(own, value):
                tried += 1
                assert accepts(united[name], value), (name, value)
    assert tried or not tool.schema["properties"]
