"""The open bodies of the HTTP interface, closed for every tool that is built in.

A static document knows no golem: a tool that an owner brought has parameters of its own, so a word that no built-in
tool has, or a venue where none has it, leaves the body open. What it takes the server takes too; the server is more
lenient where a body says one thing in an unusual place: `params` beside flat parameters, a word within `params`, nulls
of any name. Seed: 002, "LLM-optimized tool descriptions".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any, Final

from permits_app.actions.read_wish import WHY, WISH_ID
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import json_schema
from tools_app.toolkit.tooldef import ToolDef

Schema = dict[str, Any]
_COMPONENTS: Final = "#/components/schemas/"
_NESTED: Final = "params"


@dataclass(frozen=True, slots=True)
class _Body:
    """How one of the eight names a tool: the word, other spellings of it, and what may stand beside its parameters."""

    word: str
    also_spelt: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    nests: bool = False

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.word, *self.also_spelt)


_BODIES: Final[Mapping[PiTool, _Body]] = {
    PiTool.PREVIEW_ACTION: _Body("action_type", also_spelt=("kind", "type"), beside=(WHY,), nests=True),
    PiTool.QUERY_STATE: _Body("query", nests=True),
    PiTool.SEARCH_CONTEXT: _Body("read"),
    PiTool.QUERY_GRIMOIRE: _Body("read"),
}


def close_bodies(result: Schema, **_: Any) -> Schema:
    """The OpenAPI document with what each built-in tool takes; drf-spectacular calls it with what it made."""
    components = result["components"]["schemas"]
    for pi_tool, body in _BODIES.items():
        tools = sorted((tool for tool in REGISTRY if tool.pi_tool is pi_tool), key=lambda tool: (tool.key, tool.name))
        for path in (path for path in result["paths"] if path.endswith(f"/pi/{pi_tool}")):
            components.update({name: part for tool in tools for name, part in _describe(tool, body).items()})
            content = result["paths"][path]["post"]["requestBody"]["content"]
            for media in content.values():
                media["schema"] = {**media["schema"], "allOf": list(_choose(tools, body))}
    result["components"]["schemas"] = dict(sorted(components.items()))
    return result


def name_body(tool: ToolDef) -> str:
    """The name of the tool's body among the document's schemas."""
    return "".join(part.capitalize() for part in tool.name.split("_")) + "Body"


def _describe(tool: ToolDef, body: _Body) -> dict[str, Schema]:
    """The schema of a flat body for `tool`, which is that of its `params` too, and those of the objects within it.

    A parameter that is null counts as left out. So does a null of any other name for the server; here it does not: no
    client can be written against a type of whatever names that are null.
    """
    name = name_body(tool)
    schema = _lift(json_schema(tool.params_model), name)
    inner = schema.pop("$defs", {})
    needed = [*schema.get("required", ())]
    said: dict[str, Schema] = {body.word: {"const": tool.key}, "venue": _at_venue(tool)}
    said |= dict.fromkeys((*body.also_spelt, *body.beside), {})
    properties = {
        each: part if each in needed else {"anyOf": [part, {"type": "null"}]}
        for each, part in schema["properties"].items()
    }
    closed = {
        "type": "object",
        "description": f"{tool.name}: {tool.summary}",
        "properties": {**said, **properties},
        "required": needed,
        "additionalProperties": False,
    }
    # A title is what generators name a type by, and tools share inner types.
    untitled = {
        f"{name}{each}": {key: value for key, value in part.items() if key != "title"} for each, part in inner.items()
    }
    return {name: closed, **untitled}


def _lift(part: Any, body: str) -> Any:
    """The same with references into the document's schemas, where a schema's own `$defs` cannot be pointed at, and with
    the default of an amount as the text it is.
    """
    if isinstance(part, Mapping):
        lifted = {
            name: f"{_COMPONENTS}{body}{value.rpartition('/')[2]}" if name == "$ref" else _lift(value, body)
            for name, value in part.items()
        }
        if part.get("type") == "string" and type(part.get("default")) is int:
            lifted["default"] = str(part["default"])
        return lifted
    return [_lift(each, body) for each in part] if isinstance(part, list) else part


def _choose(tools: list[ToolDef], body: _Body) -> Iterable[Schema]:
    """For each word that tools have: a body that says it, flat or nested, is one of theirs, at the venue it names.

    At a venue that none of them has it stays open, as an owner may have brought one; so does a body that takes up a
    wish, which says the rest.
    """
    yield from ({"not": {"required": [*pair]}} for pair in combinations(body.spellings, 2))
    by_word = []
    for key, group in groupby(tools, key=lambda tool: tool.key):
        served = list(group)
        said = dict.fromkeys(body.spellings, {"const": key})
        venues = {"venue": {"enum": [*sorted({tool.venue for tool in served}), None]}}
        bodies = [{"$ref": f"{_COMPONENTS}{name_body(tool)}"} for tool in served]
        flat = _any_of(bodies)
        if body.nests:
            nested = _any_of(
                {"properties": {_NESTED: inner} | ({} if len(served) == 1 else {"venue": _at_venue(tool)})}
                for tool, inner in zip(served, bodies, strict=True)
            )
            then = {"if": {"required": [_NESTED]}, "then": nested, "else": flat}
        else:
            then = flat
        by_word.append({"if": {"properties": {**said, **venues}}, "then": then})
    names_one = {"anyOf": [{"required": [name]} for name in body.spellings], "not": {"required": [WISH_ID]}}
    yield {"if": names_one, "then": {"allOf": by_word}}
    if body.nests:
        words = dict.fromkeys(body.spellings, {"enum": sorted({tool.key for tool in tools})})
        venues = {"venue": {"enum": [*sorted({tool.venue for tool in tools}), None]}}
        once = [*body.spellings, "venue", *body.beside]
        yield {
            "if": {**names_one, "properties": {**words, **venues}, "required": [_NESTED]},
            "then": {
                "propertyNames": {"enum": [*once, _NESTED]},
                "properties": {_NESTED: {"propertyNames": {"not": {"enum": once}}}},
            },
        }


def _at_venue(tool: ToolDef) -> Schema:
    return {"enum": [tool.venue, None]}


def _any_of(schemas: Iterable[Schema]) -> Schema:
    found = list(schemas)
    return found[0] if len(found) == 1 else {"anyOf": found}
