"""Every parameter of every tool is taken up to the bound that agents were told, and refused beyond it.

The bounds are read from the stored snapshots, not from the code: one that moves is noticed by either.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from uuid import UUID

import pytest

from golem_project.management.commands.snapshots import read_stored_tools
from golem_project.pi.schema_lines import name_home
from tests.batches import in_batches
from tests.catalogue.declared_refusals import list_declared
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.runner import check_chain, check_params
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.views import GolemView

_KINDS: Final = {"minimum": -1, "maximum": 1, "minLength": -1, "maxLength": 1, "minItems": -1, "maxItems": 1}
_ADDRESS: Final = "0x00000000219ab540356cBB839Cbe05303d7705Fa"
_NOBODYS: Final = GolemView(UUID(int=0), "Nobody's", None, 31_337, "USDC", Phase.THRIVING)


def _list_parameters() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for tool, entry in read_stored_tools().items():
        for name, schema in entry["parameters"].items():
            for form in schema.get("anyOf", [schema]):
                yield tool, name, form


SCHEMAS: Final = {
    (tool, name, kind): schema for tool, name, schema in _list_parameters() for kind in _KINDS if kind in schema
}


def _make(schema: Mapping[str, Any], kind: str, size: int) -> list[Any]:
    """Values of that size that may be meant: of a text plain words, an object as JSON, an address of a page, bytes."""
    if kind.endswith("imum"):
        return [size]
    if kind.endswith("Items"):
        item = schema["items"]
        if "$ref" in item:
            return [[{"token": "USDC", "spender": _ADDRESS}] * size]
        if "enum" in item:
            return [[item["enum"][0]] * size]
        if item.get("maximum", 0) < 0:
            return [[item["maximum"]] * size]
        one: Any = 1 if item["type"] == "integer" else _ADDRESS if "0x" in item["pattern"] else "1"
        many = [one + each if isinstance(one, int) else one for each in range(size)]
        # Where one may be named once alone.
        hashes = [[f"0x{each:0{digits}x}" for each in range(1, size + 1)] for digits in (40, 64)]
        ids = [f"00000000-0000-0000-0000-{each:012x}" for each in range(size)]
        return [many, [str(each + 1) for each in range(size)], *hashes, ids]
    texts = ["x" * size, "https://a.b/" + "x" * (size - 12), "0x" + "0" * (size - 2)]
    return [each for each in [*texts, json.dumps({"a": "x" * max(0, size - 9)})] if len(each) == size]


def _is_refused(tool: str, name: str, value: Any) -> bool:
    try:
        check_params(tool=REGISTRY.get(tool), params={name: value})
    except InvalidParams as error:
        return any(each.partition(".")[0] == name for each in error.data["fields"])
    return False


@in_batches("bound", SCHEMAS, name=".".join, batch=lambda bound: name_home(REGISTRY.get(bound[0])))
def test_a_parameter_is_taken_up_to_its_bound_and_refused_beyond(bound: tuple[str, str, str]) -> None:
    tool, name, kind = bound
    schema = SCHEMAS[tool, name, kind]
    edge, outward = schema[kind], _KINDS[kind]
    assert not all(_is_refused(tool, name, value) for value in _make(schema, kind, edge))
    assert all(_is_refused(tool, name, value) for value in _make(schema, kind, edge + outward))


def test_there_are_bounds_to_ask_for() -> None:
    assert len(SCHEMAS) > 300


@in_batches("name", sorted(tool.name for tool in REGISTRY), batch=lambda name: name_home(REGISTRY.get(name)))
def test_what_a_tool_declares_that_it_never_takes_is_refused(name: str) -> None:
    """A text of no pattern or choice, an empty list, an amount of nothing, a chain that it is not on."""
    tool = REGISTRY.get(name)
    for changes, code in list_declared(tool):
        [(parameter, value)] = changes.items()
        if code == InvalidParams.code:
            assert _is_refused(name, parameter, value), changes
            continue
        with pytest.raises(GolemError) as refused:
            check_chain(tool=tool, params=changes, golem=_NOBODYS)
        assert refused.value.code == code, changes


def test_there_are_many_declared_refusals() -> None:
    assert sum(1 for tool in REGISTRY for _ in list_declared(tool)) > 700
