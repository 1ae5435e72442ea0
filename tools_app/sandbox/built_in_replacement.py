"""Decides which built-in tools an owner's text may replace: only those that money never reads.

That is a property of the tool, not a list of names. What may be replaced is asked by agents alone: nothing that
decides, values, reviews or watches calls it, which tests/architecture/test_replaceable_tools.py proves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field

from tools_app.core.errors import Recovery
from tools_app.core.stored_json import read_stored
from tools_app.sandbox.definition import Definition, DefinitionRefused
from tools_app.sandbox.owner_toml_definition import read_tool
from tools_app.toolkit.declared_params import TAKEN_NAMES, build_declared_model
from tools_app.toolkit.enums import CapabilityTier, Category, PiTool, RiskLayer
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import json_schema
from tools_app.toolkit.tooldef import ForeignTool, ReadTool, ToolDef

# Categories whose tools know no chain, price, token, balance or memory.
_WITHOUT_MONEY: Final = frozenset({Category.CODING})
_LOWER: Final = ("minimum", "minLength")
_UPPER: Final = ("maximum", "maxLength")
_NO_CONST: Final = object()


@dataclass(frozen=True, slots=True)
class _TakenOver:
    """Which parameters a JSON Schema takes."""

    properties: dict[str, dict[str, object]]
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Value:
    """What a JSON Schema takes as one parameter, beside its bounds."""

    type: object = None
    pattern: str | None = None
    enum: tuple[object, ...] | None = None
    const: object = _NO_CONST
    options: Annotated[tuple[dict[str, object], ...], Field(alias="anyOf")] = ()

    def list_values(self) -> tuple[object, ...] | None:
        """The values it takes; None where it takes any."""
        if self.enum is None and self.const is not _NO_CONST:
            return (self.const,)
        return self.enum


class BuiltInNotReplaceable(
    DefinitionRefused,
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="This text does not take the place of the built-in tool of its name",
):
    """The name is a built-in's that nothing takes the place of, or the text takes less than that built-in does."""


def is_replaceable(tool: ToolDef) -> bool:
    """Whether a text may stand in its place: a harmless read that agents ask for, about no money and no chain, whose
    parameters a text can declare.
    """
    return (
        isinstance(tool, ReadTool)
        and not isinstance(tool, ForeignTool)
        and tool.capability is CapabilityTier.READ
        and tool.risk_layer is RiskLayer.LOW
        and tool.pi_tool is PiTool.QUERY_STATE
        and tool.category in _WITHOUT_MONEY
        and not tool.requires
        and tool.supported_chains is None
        and not (TAKEN_NAMES | {"chain_id"}) & set(read_stored(_TakenOver, tool.schema).properties)
    )


def find_replaced(definition: Definition) -> ToolDef | None:
    """The built-in of exactly this name that the definition stands in the place of; None where no built-in has it.

    Raises BuiltInNotReplaceable.
    """
    if definition.name not in REGISTRY:
        return None
    tool = REGISTRY.get(definition.name)
    if not is_replaceable(tool):
        raise BuiltInNotReplaceable(
            f"{tool.name} is built in, and nothing takes its place: it holds money, changes something, is what"
            " decisions about money read, or takes what no text declares; give the text a name of its own",
            tool=tool.name,
        )
    if "http" not in definition.body and "compose" not in definition.body:
        raise BuiltInNotReplaceable(f"{tool.name} reads; only an http read or a composition takes its place")
    if definition.category is not tool.category:
        raise BuiltInNotReplaceable(f"the category of {tool.name} is {tool.category}", tool=tool.name)
    if any(read.query == tool.key for read in read_tool(definition).compose or ()):
        raise BuiltInNotReplaceable(f"what takes the place of {tool.name} does not read it", tool=tool.name)
    told = json_schema(build_declared_model(definition.name, definition.members.parameters))
    narrower = find_narrower(tool.schema, told)
    if narrower:
        raise BuiltInNotReplaceable(f"{tool.name} takes more than this text does: {narrower}", tool=tool.name)
    return tool


def find_narrower(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:  # Any: JSON that an owner wrote
    """Where the JSON Schema `after` refuses parameters that `before` takes, in words; empty where it nowhere does."""
    taken, own = read_stored(_TakenOver, before), read_stored(_TakenOver, after)
    for name, told in taken.properties.items():
        if name not in own.properties:
            return f"it has no parameter {name}"
        refused = _find_refused(_without_null(told), _without_null(own.properties[name]))
        if refused:
            return f"{name}: {refused}"
    more = sorted(set(own.required) - set(taken.required))
    return f"it needs {', '.join(more)}" if more else ""


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, object]:  # Any: JSON that an owner wrote
    options = [option for option in read_stored(_Value, schema).options if read_stored(_Value, option).type != "null"]
    return options[0] if len(options) == 1 else schema


def _find_refused(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:  # Any: JSON that an owner wrote
    taken, own = read_stored(_Value, before), read_stored(_Value, after)
    if taken.type != own.type:
        return f"its type is {taken.type}"
    for word in _LOWER:
        if word in after and after[word] > before.get(word, after[word] - 1):
            return f"its {word} is {before.get(word, 'not bounded')}"
    for word in _UPPER:
        if word in after and after[word] < before.get(word, after[word] + 1):
            return f"its {word} is {before.get(word, 'not bounded')}"
    if own.pattern is not None and own.pattern != taken.pattern:
        return "it has no such pattern"
    values, own_values = taken.list_values(), own.list_values()
    if own_values is not None and (values is None or not set(values) <= set(own_values)):
        return f"its values are {', '.join(map(str, values)) if values else 'any'}"
    return ""
