"""Writes the manifest's tools in the shapes of the model providers.

- openai: function tools; those that look at or move value in strict mode: every property required, optional ones
  nullable, no keyword it refuses. What has no venue behind it is told plainly, which costs a third less.
- anthropic: `input_schema`, plain JSON Schema with one type each, optional where a property may be left out.
- gemini: `functionDeclarations` in its OpenAPI 3.0 subset: upper-case types, `nullable`, no additionalProperties.
- pi: the ToolDefinition of the pi extension API, without its functions.
- mcp: a Tool of the Model Context Protocol, with its hints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from golem_project.pi.annotations import annotate_pi_tool
from golem_project.pi.json_schema import ReadOnlySchema, Schema, SchemaReader
from golem_project.pi.parameter_union import make_nullable
from golem_project.pi.pi_tool import PiToolDef
from tools_app.toolkit.enums import PiTool


class Dialect(StrEnum):
    """The shapes `GET /api/v1/pi/manifest?dialect=` answers in."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    PI = "pi"
    MCP = "mcp"


def render_tools(dialect: Dialect, tools: Sequence[PiToolDef]) -> list[Schema]:
    """`tools` as the provider's request takes them."""
    return _RENDERERS[dialect](tools)


def to_strict(schema: ReadOnlySchema) -> Schema:
    """A schema OpenAI's strict mode takes, accepting every call that `schema` accepts with the rest given as null."""
    read = SchemaReader(schema)
    strict = {key: value for key, value in schema.items() if key in _STRICT_KEYWORDS}
    if "const" in schema:
        strict |= {"enum": [read.constant]}
    if forms := read.one_of or read.any_of:
        strict |= {"anyOf": [to_strict(part) for part in forms]}
    if read.items is not None:
        strict |= {"items": to_strict(read.items)}
    if read.kind == "object" or "properties" in schema:
        properties = {name: to_strict(prop) for name, prop in read.properties.items()}
        strict |= {
            "properties": {
                name: prop if name in read.required or is_nullable(prop) else make_nullable(prop)
                for name, prop in properties.items()
            },
            "required": list(properties),
            "additionalProperties": False,
        }
    return strict


def to_anthropic(schema: ReadOnlySchema) -> Schema:
    """The same parameters without null: what may be left out need not be null, and lists of types are not taken."""
    plain: Schema = {key: value for key, value in schema.items() if key not in ("type", "anyOf", "enum")}
    read = SchemaReader(schema)
    named = [kind for kind in read.kinds if kind != "null"] if isinstance(read.kind, list) else read.kinds
    if "enum" in schema:
        plain |= {"enum": read.not_null_values}
    variants = [to_anthropic(part) for part in read.not_null_variants]
    if len(named) == 1:
        plain = {"type": named[0], **plain}
    elif named:
        variants = [{"type": kind} for kind in named]
    if len(variants) == 1:
        plain = {**variants[0], **plain}
    elif variants:
        plain |= {"anyOf": variants}
    if "properties" in schema:
        plain |= {"properties": {name: to_anthropic(prop) for name, prop in read.properties.items()}}
    if read.items is not None:
        plain |= {"items": to_anthropic(read.items)}
    return plain


def to_gemini(schema: ReadOnlySchema) -> Schema:
    """The same parameter in Gemini's subset."""
    read = SchemaReader(schema)
    nullable = is_nullable(schema)
    if read.not_null_variants:
        return _gemini_of_variants(read.not_null_variants, schema, nullable=nullable)
    kinds = read.kinds or ["string"]
    several = [name for name in kinds if name != "null"]
    if len(several) > 1:
        return _gemini_of_variants([{"type": name} for name in several], schema, nullable=nullable)
    kind = kinds[0] if isinstance(read.kind, str) else several[0]
    gemini: Schema = {"type": kind.upper()}
    gemini.update({key: schema[key] for key in _GEMINI_KEYWORDS if key in schema})
    if read.not_null_values and kind == "string":
        gemini.update(format="enum", enum=read.not_null_values)
    elif read.not_null_values:
        listed = ", ".join(map(str, read.not_null_values))
        gemini.update(description=f"{read.description} One of {listed}.".strip())
    if read.items is not None:
        gemini |= {"items": to_gemini(read.items)}
    if kind == "object":
        gemini |= {
            "properties": {name: to_gemini(prop) for name, prop in read.properties.items()},
            "propertyOrdering": list(read.properties),
            **({"required": read.required} if read.required else {}),
        }
    return {**gemini, "nullable": True} if nullable else gemini


def is_nullable(schema: ReadOnlySchema) -> bool:
    """Whether null satisfies `schema`."""
    read = SchemaReader(schema)
    return "null" in read.kinds or any(SchemaReader(part).is_null for part in read.any_of)


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


def _gemini_of_variants(variants: list[Schema], schema: ReadOnlySchema, *, nullable: bool) -> Schema:
    description = SchemaReader(schema).description
    described = {"description": description} if description else {}
    if all(SchemaReader(part).kind == "string" for part in variants):
        united: Schema = {"type": "STRING", **described}
    else:
        united = {"anyOf": [to_gemini(part) for part in variants], **described}
    return {**united, "nullable": True} if nullable else united


def _openai(tools: Sequence[PiToolDef]) -> list[Schema]:
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


def _anthropic(tools: Sequence[PiToolDef]) -> list[Schema]:
    return [
        {"name": str(tool.name), "description": tool.description, "input_schema": to_anthropic(tool.shown)}
        for tool in tools
    ]


def _gemini(tools: Sequence[PiToolDef]) -> list[Schema]:
    declarations = [
        {"name": str(tool.name), "description": tool.description, "parameters": _gemini_parameters(tool.shown)}
        for tool in tools
    ]
    return [{"functionDeclarations": declarations}]


def _gemini_parameters(schema: Schema) -> Schema:
    """Its parameters; one that is not required may be left out, so none says besides that it may be null."""
    gemini = to_gemini(schema)
    for prop in SchemaReader(gemini).properties.values():
        prop.pop("nullable", None)
    return gemini


def _pi(tools: Sequence[PiToolDef]) -> list[Schema]:
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


def _mcp(tools: Sequence[PiToolDef]) -> list[Schema]:
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


_RENDERERS: dict[Dialect, Callable[[Sequence[PiToolDef]], list[Schema]]] = {
    Dialect.OPENAI: _openai,
    Dialect.ANTHROPIC: _anthropic,
    Dialect.GEMINI: _gemini,
    Dialect.PI: _pi,
    Dialect.MCP: _mcp,
}
