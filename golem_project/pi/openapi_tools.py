"""The open bodies of the HTTP interface, closed for every tool that is built in.

A static document knows no golem: a tool that an owner brought has parameters of its own, so a word that no built-in
tool has leaves the body open. Seed: 002, "LLM-optimized tool descriptions".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final

from permits_app.actions.read_wish import WHY, WISH_ID
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import json_schema
from tools_app.toolkit.tooldef import ToolDef

Schema = dict[str, Any]
_COMPONENTS: Final = "#/components/schemas/"
_BODIES: Final[Mapping[PiTool, tuple[str, tuple[str, ...]]]] = {
    PiTool.PREVIEW_ACTION: ("action_type", (WHY,)),
    PiTool.QUERY_STATE: ("query", ()),
    PiTool.SEARCH_CONTEXT: ("read", ()),
    PiTool.QUERY_GRIMOIRE: ("read", ()),
}
"""The word that chooses the tool, and what a body may say besides its venue and the tool's parameters."""


def close_bodies(result: Schema, **_: Any) -> Schema:
    """The OpenAPI document with what each built-in tool takes; drf-spectacular calls it with what it made."""
    components = result["components"]["schemas"]
    for pi_tool, (word, own) in _BODIES.items():
        found = [path for path in result["paths"] if path.endswith(f"/pi/{pi_tool}")]
        for path in found:
            tools = sorted(
                (tool for tool in REGISTRY if tool.pi_tool is pi_tool), key=lambda tool: (tool.key, tool.name)
            )
            components.update({name: part for tool in tools for name, part in _describe(tool, word, own).items()})
            content = result["paths"][path]["post"]["requestBody"]["content"]
            for media in content.values():
                media["schema"] = {**media["schema"], "allOf": list(_choose(tools, word))}
    result["components"]["schemas"] = dict(sorted(components.items()))
    return result


def name_body(tool: ToolDef) -> str:
    """The name of the tool's body among the document's schemas."""
    return "".join(part.capitalize() for part in tool.name.split("_")) + "Body"


def _describe(tool: ToolDef, word: str, own: Iterable[str]) -> dict[str, Schema]:
    """The schema of a flat body for `tool`, and those of the objects within it. What is null counts as left out."""
    body = name_body(tool)
    schema = _lift(json_schema(tool.params_model), body)
    inner = schema.pop("$defs", {})
    needed = [*schema.get("required", ())]
    properties = {
        name: part if name in needed else {"anyOf": [part, {"type": "null"}]}
        for name, part in schema["properties"].items()
    }
    said: dict[str, Schema] = {name: {} for name in (word, "venue", *own) if name not in properties}
    closed = {
        "type": "object",
        "description": f"{tool.name}: {tool.summary}",
        "properties": {**said, **properties},
        "required": [word, *needed],
        "additionalProperties": {"type": "null"},
    }
    return {body: closed, **{f"{body}{name}": part for name, part in inner.items()}}


def _lift(part: Any, body: str) -> Any:
    """The same with references into the document's schemas, where a schema's own `$defs` cannot be pointed at."""
    if isinstance(part, Mapping):
        return {
            name: f"{_COMPONENTS}{body}{value.rpartition('/')[2]}" if name == "$ref" else _lift(value, body)
            for name, value in part.items()
        }
    return [_lift(each, body) for each in part] if isinstance(part, list) else part


def _choose(tools: list[ToolDef], word: str) -> Iterable[Schema]:
    """For each word that tools have: a body that says it flat is one of theirs, at the venue it names."""
    for key, group in groupby(tools, key=lambda tool: tool.key):
        served = list(group)
        venues = sorted({tool.venue for tool in served})
        bodies = []
        for tool in served:
            others = [venue for venue in venues if venue != tool.venue]
            body: Schema = {"$ref": f"{_COMPONENTS}{name_body(tool)}"}
            bodies.append({"allOf": [body], "properties": {"venue": {"not": {"enum": others}}}} if others else body)
        nested = {"anyOf": [{"required": ["params"]}, {"required": [WISH_ID]}]}
        yield {
            "if": {"required": [word], "properties": {word: {"const": key}}, "not": nested},
            "then": bodies[0] if len(bodies) == 1 else {"anyOf": bodies},
        }
