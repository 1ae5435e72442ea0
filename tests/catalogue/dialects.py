"""Whether a call of a tool fits the shape of every provider in which agents read preview_action."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from golem_project.pi.definitions import define_tools
from golem_project.pi.provider_tool_formats import Dialect, render_tools
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool


def list_misfits(tool: WriteTool, params: Mapping[str, Any]) -> list[str]:
    """Every dialect that refuses the call, with what it says."""
    body = {"action_type": tool.key, "venue": tool.venue, **params}
    found = [f"its own schema: {error.message}" for error in Draft202012Validator(tool.schema).iter_errors(params)]
    for dialect, validator in _validators_of(tuple(sorted(tool.name for tool in REGISTRY))).items():
        # A strict provider's model names every parameter, and those it means nothing by as null.
        filled = dict.fromkeys(validator.schema["properties"]) if dialect == Dialect.OPENAI else {}
        errors = validator.iter_errors({**filled, **body})
        found += [f"{dialect}: {error.message}" for error in errors]
    return found


@cache
def _validators_of(names: tuple[str, ...]) -> dict[Dialect, Draft202012Validator]:
    tools = define_tools(toolset=Toolset.of(REGISTRY, "all"), permit_ttl_seconds=60)
    (preview,) = (tool for tool in tools if tool.name == "preview_action")
    return {dialect: Draft202012Validator(_parameters(dialect, preview)) for dialect in Dialect}


def _parameters(dialect: Dialect, preview: Any) -> dict[str, Any]:
    (rendered,) = render_tools(dialect, (preview,))
    if dialect is Dialect.OPENAI:
        rendered = rendered["function"]
    if dialect is Dialect.GEMINI:
        (declaration,) = rendered["functionDeclarations"]
        return _as_json_schema(declaration["parameters"])
    place = {Dialect.ANTHROPIC: "input_schema", Dialect.MCP: "inputSchema"}.get(dialect, "parameters")
    return dict(rendered[place])


def _as_json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Gemini's subset says types in capitals and null by a word of its own."""
    plain = {key: value for key, value in schema.items() if key not in ("propertyOrdering", "nullable", "format")}
    if "type" in schema:
        kind = str(schema["type"]).lower()
        plain["type"] = [kind, "null"] if schema.get("nullable") else kind
    if "enum" in schema and schema.get("nullable"):
        plain["enum"] = [*schema["enum"], None]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            plain[key] = [_as_json_schema(part) for part in schema[key]]
    if "items" in schema:
        plain["items"] = _as_json_schema(schema["items"])
    if "properties" in schema:
        plain["properties"] = {name: _as_json_schema(prop) for name, prop in schema["properties"].items()}
        plain["additionalProperties"] = False
    return plain
