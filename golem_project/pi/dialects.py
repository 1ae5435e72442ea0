"""Writes the manifest's tools in the shapes of the model providers.

- openai: function tools; those that look at or move value in strict mode: every property required, optional ones
  nullable, no keyword it refuses. What has no venue behind it is told plainly, which costs a third less.
- anthropic: `input_schema`, plain JSON Schema with one type each, optional where a property may be left out.
- gemini: `functionDeclarations` in its OpenAPI 3.0 subset: upper-case types, `nullable`, no additionalProperties.
- pi: the ToolDefinition of the pi extension API, without its functions.
- mcp: a Tool of the Model Context Protocol, with its hints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from golem_project.pi.annotations import annotate_pi_tool
from golem_project.pi.parameter_union import Schema, make_nullable
from golem_project.pi.pi_tool import PiToolDef
from tools_app.toolkit.enums import PiTool


class Dialect(StrEnum):
    """The shapes `GET /api/v1/pi/manifest?dialect=` answers in."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    PI = "pi"
    MCP = "mcp"


def render_tools(dialect: Dialect, tools: Sequence[PiToolDef]) -> list[dict[str, Any]]:
    """`tools` as the provider's request takes them."""
    return _RENDERERS[dialect](tools)


def to_strict(schema: Mapping[str, Any]) -> Schema:
    """A schema OpenAI's strict mode takes, accepting every call that `schema` accepts with the rest given as null."""
    strict = {key: value for key, value in schema.items() if key in _STRICT_KEYWORDS}
    if "const" in schema:
        strict["enum"] = [schema["const"]]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            strict["anyOf"] = [to_strict(part) for part in schema[key]]
    if "items" in schema:
        strict["items"] = to_strict(schema["items"])
    if schema.get("type") == "object" or "properties" in schema:
        required = set(schema.get("required", ()))
        properties = {name: to_strict(prop) for name, prop in schema.get("properties", {}).items()}
        strict["properties"] = {
            name: prop if name in required or is_nullable(prop) else make_nullable(prop)
            for name, prop in properties.items()
        }
        strict["required"] = list(properties)
        strict["additionalProperties"] = False
    return strict


def to_anthropic(schema: Mapping[str, Any]) -> Schema:
    """The same parameters without null: what may be left out need not be null, and lists of types are not taken."""
    plain: Schema = {key: value for key, value in schema.items() if key not in ("type", "anyOf", "enum")}
    kinds = schema.get("type")
    named = [kind for kind in kinds if kind != "null"] if isinstance(kinds, list) else [kinds] if kinds else []
    if "enum" in schema:
        plain["enum"] = [value for value in schema["enum"] if value is not None]
    variants = [to_anthropic(part) for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    if len(named) == 1:
        plain = {"type": named[0], **plain}
    elif named:
        variants = [{"type": kind} for kind in named]
    if len(variants) == 1:
        plain = {**variants[0], **plain}
    elif variants:
        plain["anyOf"] = variants
    if "properties" in schema:
        plain["properties"] = {name: to_anthropic(prop) for name, prop in schema["properties"].items()}
    if isinstance(schema.get("items"), Mapping):
        plain["items"] = to_anthropic(schema["items"])
    return plain


def to_gemini(schema: Mapping[str, Any]) -> Schema:
    """The same parameter in Gemini's subset."""
    variants = [part for part in schema.get("anyOf", []) if part.get("type") != "null"]
    nullable = is_nullable(schema)
    if variants:
        return _gemini_of_variants(variants, schema, nullable=nullable)
    kinds = schema.get("type", "string")
    several = [name for name in kinds if name != "null"] if isinstance(kinds, list) else []
    if len(several) > 1:
        return _gemini_of_variants([{"type": name} for name in several], schema, nullable=nullable)
    kind = kinds if isinstance(kinds, str) else next(name for name in kinds if name != "null")
    gemini: Schema = {"type": kind.upper()}
    gemini.update({key: schema[key] for key in _GEMINI_KEYWORDS if key in schema})
    values = [value for value in schema.get("enum", ()) if value is not None]
    if values and kind == "string":
        gemini.update(format="enum", enum=values)
    elif values:
        gemini["description"] = f"{gemini.get('description', '')} One of {', '.join(map(str, values))}.".strip()
    if "items" in schema:
        gemini["items"] = to_gemini(schema["items"])
    if kind == "object":
        properties = schema.get("properties", {})
        gemini["properties"] = {name: to_gemini(prop) for name, prop in properties.items()}
        gemini["propertyOrdering"] = list(properties)
        if schema.get("required"):
            gemini["required"] = list(schema["required"])
    if nullable:
        gemini["nullable"] = True
    return gemini


def is_nullable(schema: Mapping[str, Any]) -> bool:
    """Whether null satisfies `schema`."""
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        return True
    return kinds == "null" or any(part.get("type") == "null" for part in schema.get("anyOf", []))


_STRICT_KEYWORDS = frozenset(
    {
        "type",
        "description",
        "enum",
        "pattern",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
    }
)
_STRICT = frozenset({PiTool.PREVIEW_ACTION, PiTool.COMMIT_ACTION, PiTool.CANCEL_ACTION, PiTool.QUERY_STATE})
_GEMINI_KEYWORDS = ("description", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


def _gemini_of_variants(variants: list[Schema], schema: Mapping[str, object], *, nullable: bool) -> Schema:
    kinds = {part.get("type") for part in variants}
    described = {"description": schema["description"]} if schema.get("description") else {}
    if kinds == {"string"}:
        united: Schema = {"type": "STRING", **described}
    else:
        united = {"anyOf": [to_gemini(part) for part in variants], **described}
    if nullable:
        united["nullable"] = True
    return united


def _openai(tools: Sequence[PiToolDef]) -> list[dict[str, object]]:
    return [
        {
            "type": "function",
            "function": {
                "name": str(tool.name),
                "description": tool.description,
                "parameters": to_strict(tool.shown) if tool.name in _STRICT else to_anthropic(tool.shown),
                "strict": tool.name in _STRICT,
            },
        }
        for tool in tools
    ]


def _anthropic(tools: Sequence[PiToolDef]) -> list[dict[str, object]]:
    return [
        {"name": str(tool.name), "description": tool.description, "input_schema": to_anthropic(tool.shown)}
        for tool in tools
    ]


def _gemini(tools: Sequence[PiToolDef]) -> list[dict[str, object]]:
    declarations = [
        {"name": str(tool.name), "description": tool.description, "parameters": _gemini_parameters(tool.shown)}
        for tool in tools
    ]
    return [{"functionDeclarations": declarations}]


def _gemini_parameters(schema: Schema) -> Schema:
    """Its parameters; one that is not required may be left out, so none says besides that it may be null."""
    gemini = to_gemini(schema)
    for prop in gemini["properties"].values():
        prop.pop("nullable", None)
    return gemini


def _pi(tools: Sequence[PiToolDef]) -> list[dict[str, object]]:
    return [
        {
            "name": str(tool.name),
            "label": tool.label,
            "description": tool.description,
            "promptSnippet": tool.snippet,
            "promptGuidelines": [line.as_sentence() for line in tool.guidelines],
            "parameters": tool.shown,
        }
        for tool in tools
    ]


def _mcp(tools: Sequence[PiToolDef]) -> list[dict[str, object]]:
    return [
        {
            "name": str(tool.name),
            "title": tool.label,
            "description": tool.description,
            "inputSchema": tool.shown,
            "annotations": {f"{_camel(name)}Hint": holds for name, holds in annotate_pi_tool(tool).items()},
        }
        for tool in tools
    ]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_RENDERERS: dict[Dialect, Callable[[Sequence[PiToolDef]], list[dict[str, Any]]]] = {
    Dialect.OPENAI: _openai,
    Dialect.ANTHROPIC: _anthropic,
    Dialect.GEMINI: _gemini,
    Dialect.PI: _pi,
    Dialect.MCP: _mcp,
}
