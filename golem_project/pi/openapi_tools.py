"""The open bodies of the HTTP interface, closed for everything that is built in.

A static document knows no golem: a tool that an owner brought has parameters of its own, so a word that nothing built
in has, or a venue where nothing of that word is, leaves the body open. What the document takes the server takes too;
the server is more lenient where a body says one thing in an unusual place: `params` beside flat parameters, a word
within `params`, nulls of any name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any, Final

from archetypes_app.tool_loading_queries import TIER_QUERIES
from golem_project.pi.strict_fields import SAYS_SOMETHING
from permits_app.actions.query import OWN_QUERIES, OWN_VENUE
from permits_app.previews.request_words import WHY, WISH_ID
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import json_schema
from tools_app.toolkit.tooldef import ToolDef

Schema = dict[str, Any]
_COMPONENTS: Final = "#/components/schemas/"
_NESTED: Final = "params"
_CURSOR: Final[Schema] = {"type": ["string", "null"], "maxLength": 64, "pattern": SAYS_SOMETHING}


@dataclass(frozen=True, slots=True)
class _Body:
    """How one of the eight names what is asked: the word, other spellings of it, and what stands beside parameters."""

    word: str
    also_spelt: tuple[str, ...] = ()
    beside: tuple[tuple[str, Schema], ...] = (("cursor", _CURSOR),)
    has_venue: bool = True
    nests: bool = False
    is_wished: bool = False
    """Whether it may take up a wish, which says the rest."""

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.word, *self.also_spelt)


_BODIES: Final[Mapping[PiTool, _Body]] = {
    PiTool.PREVIEW_ACTION: _Body(
        "action_type", also_spelt=("kind", "type"), beside=((WHY, {}),), nests=True, is_wished=True
    ),
    PiTool.QUERY_STATE: _Body("query", nests=True),
    PiTool.SEARCH_CONTEXT: _Body("read"),
    PiTool.QUERY_GRIMOIRE: _Body("read", has_venue=False),
}


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a word asks for at a venue: its name among the document's schemas, its summary and its parameters."""

    key: str
    venue: str
    name: str
    summary: str
    params: Schema

    @property
    def reference(self) -> Schema:
        return {"$ref": f"{_COMPONENTS}{self.name}"}

    @property
    def at_venue(self) -> Schema:
        return {"enum": [self.venue, None]}


def close_bodies(result: Schema, **_: Any) -> Schema:
    """The OpenAPI document with what everything built in takes; drf-spectacular calls it with what it made."""
    components = result["components"]["schemas"]
    for pi_tool, body in _BODIES.items():
        entries = sorted(_list_entries(pi_tool), key=lambda entry: (entry.key, entry.name))
        for path in (path for path in result["paths"] if entries and path.endswith(f"/pi/{pi_tool}")):
            components.update({name: part for entry in entries for name, part in _describe(entry, body).items()})
            content = result["paths"][path]["post"]["requestBody"]["content"]
            for media in content.values():
                media["schema"] = {**media["schema"], "allOf": list(_choose(entries, body))}
    result["components"]["schemas"] = dict(sorted(components.items()))
    return result


def name_body(tool_name: str) -> str:
    """The name of the body that asks for a tool, or of a query of the golem's own, among the document's schemas."""
    return "".join(part.capitalize() for part in tool_name.split("_")) + "Body"


def _list_entries(pi_tool: PiTool) -> Iterator[_Entry]:
    for tool in REGISTRY:
        if tool.pi_tool is pi_tool:
            yield _entry_of(tool)
    if pi_tool is not PiTool.QUERY_STATE:
        return
    for own in OWN_QUERIES:
        yield _Entry(own.key, OWN_VENUE, name_body(f"own_{own.key}"), own.summary, {"properties": {}})
    for query in TIER_QUERIES:
        params = json_schema(query.params_model)
        if query.key == "load_tools":
            params["anyOf"] = [
                {"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in params["properties"]
            ]
        yield _Entry(query.key, OWN_VENUE, name_body(f"own_{query.key}"), query.summary, params)


def _entry_of(tool: ToolDef) -> _Entry:
    summary = f"{tool.name}: {tool.summary}"
    return _Entry(tool.key, tool.venue, name_body(tool.name), summary, json_schema(tool.params_model))


def _describe(entry: _Entry, body: _Body) -> dict[str, Schema]:
    """The schema of a flat body for `entry`, which is that of its `params` too, and those of the objects within it.

    A parameter that is null counts as left out. So does a null of any other name for the server; here it does not: no
    client can be written against a type of whatever names that are null.
    """
    schema = _lift(entry.params, entry.name)
    inner = schema.pop("$defs", {})
    needed = [*schema.get("required", ())]
    said: Schema = {body.word: {"const": entry.key}}
    if body.has_venue:
        said["venue"] = entry.at_venue
    said |= {**dict.fromkeys(body.also_spelt, {}), **dict(body.beside)}
    properties = {
        name: part if name in needed else {"anyOf": [part, {"type": "null"}]}
        for name, part in schema["properties"].items()
    }
    closed = {
        "type": "object",
        "description": entry.summary,
        "properties": {**said, **properties},
        "required": needed,
        "additionalProperties": False,
    }
    if "anyOf" in schema:
        closed["anyOf"] = schema["anyOf"]
    # A title is what generators name a type by, and tools share inner types.
    untitled = {name: {key: value for key, value in part.items() if key != "title"} for name, part in inner.items()}
    return {entry.name: closed, **{f"{entry.name}{name}": part for name, part in untitled.items()}}


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


def _choose(entries: list[_Entry], body: _Body) -> Iterator[Schema]:
    """For each word there is: a body that says it, flat or nested, is one of those it asks for, at the venue it names.

    At a venue that none of them has it stays open, as an owner may have brought one; so does a body that takes up a
    wish, which says the rest.
    """
    yield from ({"not": {"required": [*pair]}} for pair in combinations(body.spellings, 2))
    by_word = []
    for key, group in groupby(entries, key=lambda entry: entry.key):
        asked = list(group)
        flat = _any_of(entry.reference for entry in asked)
        nested = _any_of(
            {"properties": {_NESTED: entry.reference} | ({} if len(asked) == 1 else {"venue": entry.at_venue})}
            for entry in asked
        )
        then = {"if": {"required": [_NESTED]}, "then": nested, "else": flat} if body.nests else flat
        by_word.append({"if": _says(body, [key], asked), "then": then})
    names_one = _any_of({"required": [name]} for name in body.spellings)
    if body.is_wished:
        names_one = {**names_one, "not": {"required": [WISH_ID]}}
    yield {"if": names_one, "then": {"allOf": by_word}}
    if body.nests:
        words = sorted({entry.key for entry in entries})
        once = [*body.spellings, "venue", *(name for name, _ in body.beside)]
        yield {
            "if": {"allOf": [names_one, {**_says(body, words, entries), "required": [_NESTED]}]},
            "then": {
                "propertyNames": {"enum": [*once, _NESTED]},
                "properties": {_NESTED: {"propertyNames": {"not": {"enum": once}}}},
            },
        }


def _says(body: _Body, words: list[str], entries: Iterable[_Entry]) -> Schema:
    """A body whose word is among `words`, and whose venue is among the entries', where it says them."""
    word = {"const": words[0]} if len(words) == 1 else {"enum": words}
    venue = {"venue": {"enum": [*sorted({entry.venue for entry in entries}), None]}} if body.has_venue else {}
    return {"properties": {**dict.fromkeys(body.spellings, word), **venue}}


def _any_of(schemas: Iterable[Schema]) -> Schema:
    found = list(schemas)
    return found[0] if len(found) == 1 else {"anyOf": found}
