"""The open bodies of the HTTP interface, closed for everything that is built in.

A body is one of the schemas of its word: a small one for each tool, found by `action_type`, `query` or `read`. What
many tools take alike is one schema that they refer to. A static document knows no golem: a tool that an owner brought
has parameters of its own, so a word, or a venue, that nothing built in has leaves the body open. What the document
takes the server takes too. The server is more lenient: it takes `params` as an object of its own, `kind` or `type` for
`action_type`, nulls of any name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, groupby
from typing import Final

from archetypes_app.browse_and_load_tools import TIER_QUERIES
from golem_project.pi.json_schema import NULL, Schema, SchemaReader
from golem_project.pi.openapi_document import Document, OpenApi, Payload
from golem_project.pi.strict_fields import SAYS_SOMETHING, UUID_TEXT
from permits_app.actions.query import OWN_QUERIES, OWN_VENUE
from permits_app.previews.request_words import MOST_WHY, WHY, WISH_ID
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import json_schema
from tools_app.toolkit.short_text import shorten
from tools_app.toolkit.tooldef import ToolDef

_COMPONENTS: Final = "#/components/schemas/"
_CURSOR: Final[Schema] = {"type": ["string", "null"], "maxLength": 64, "pattern": SAYS_SOMETHING}
_WHY: Final[Schema] = {"type": ["string", "null"], "maxLength": MOST_WHY}
_ANY_READ: Final = "ReadInput"
_LONGEST_DESCRIPTION: Final = 60


@dataclass(frozen=True, slots=True)
class _Body:
    """How one of the eight names what is asked: the word, and what stands beside the parameters."""

    word: str
    beside: tuple[tuple[str, Schema], ...] = (("cursor", _CURSOR),)
    has_venue: bool = True
    is_wished: bool = False
    """Whether it may take up a wish, which says the rest."""


_BODIES: Final[Mapping[PiTool, _Body]] = {
    PiTool.PREVIEW_ACTION: _Body("action_type", beside=((WHY, _WHY),), is_wished=True),
    PiTool.QUERY_STATE: _Body("query"),
    PiTool.SEARCH_CONTEXT: _Body("read"),
    PiTool.QUERY_GRIMOIRE: _Body("read", has_venue=False),
}


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a word asks for at a venue: its name among the schemas, which tells the tool, and its parameters."""

    key: str
    venue: str
    name: str
    params: Schema

    @property
    def reference(self) -> Schema:
        return _refer(self.name)

    @property
    def at_venue(self) -> Schema:
        return {"enum": [self.venue, None]}


def close_bodies(result: Document, **_: object) -> Document:
    """The OpenAPI document with what everything built in takes; drf-spectacular calls it with what it made."""
    document = OpenApi(result)
    schemas = document.schemas
    described: dict[str, Schema] = {}
    for pi_tool, body in _BODIES.items():
        entries = sorted(_list_entries(pi_tool), key=lambda entry: (entry.key, entry.name))
        for operation in document.list_operations():
            if not entries or operation.method != "post" or not operation.path.endswith(f"/pi/{pi_tool}"):
                continue
            described.update({name: part for entry in entries for name, part in _describe(entry, body).items()})
            chosen = _choose(entries, body, title=name_body(pi_tool))
            described.update(chosen.schemas)
            for media in operation.bodies.values():
                # A search in words has a closed form of its own, beside the reads that may be made instead.
                form = schemas.pop(SchemaReader(Payload(media).schema).reference, {})
                asked = [
                    each for each in SchemaReader(form).one_of if not SchemaReader(each).reference.endswith(_ANY_READ)
                ]
                forms = SchemaReader(chosen.body).any_of
                media.update(schema={"anyOf": [*asked, *forms]} if asked else chosen.body)
    if f"{_COMPONENTS}{_ANY_READ}" not in json.dumps([schemas, document.paths]):
        schemas.pop(_ANY_READ, None)
    answers = {name: part for name, part in schemas.items() if name.endswith("Output")}
    schemas.update(_share({**_merge(described), **answers}))
    _share_refusals(document)
    _share_headers(document)
    document.components.update(schemas=dict(sorted(schemas.items())))
    return result


def _merge(described: dict[str, Schema]) -> dict[str, Schema]:
    """The same schemas, those that say the same under several names once: what tools have within their parameters."""
    first: dict[str, str] = {}
    same = {name: first.setdefault(json.dumps(schema, sort_keys=True), name) for name, schema in described.items()}
    text = json.dumps({name: schema for name, schema in described.items() if same[name] == name})
    for name, kept in same.items():
        text = text.replace(f'"{_COMPONENTS}{name}"', f'"{_COMPONENTS}{kept}"')
    merged: dict[str, Schema] = json.loads(text)
    return merged


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a schema stands: in `holder` under `key`, and the name of the parameter that it belongs to."""

    name: str
    holder: dict[str, Schema]
    key: str

    def list_members(self) -> Iterator[_Slot]:
        """The schema of a list's members. A form of a choice stands where it is: generators ask for a type there."""
        part = self.holder[self.key]
        for each in (part, *SchemaReader(part).any_of):
            if SchemaReader(each).items is not None:
                yield _Slot(self.name, each, "items")


def _share(described: Mapping[str, Schema]) -> dict[str, Schema]:
    """The same schemas, with each parameter that several take alike as one schema of its own, named after them, and
    then each part that is alike within them.
    """
    shared: dict[str, Schema] = {}
    level = [
        _Slot(name, properties, name)
        for schema in described.values()
        if (properties := SchemaReader(schema).properties)
        for name in properties
    ]
    while level:
        known = set(shared)
        _share_alike(level, shared)
        new = [_Slot(name, shared, name) for name in shared if name not in known]
        level = [part for slot in (*level, *new) for part in slot.list_members()]
    return {**described, **shared}


def _share_alike(slots: list[_Slot], shared: dict[str, Schema]) -> None:
    """Put what stands in several of `slots` into `shared` where that is shorter, and references where it stood."""
    written = [json.dumps(slot.holder[slot.key], sort_keys=True) for slot in slots]
    called: dict[str, Counter[str]] = {}
    for slot, text in zip(slots, written, strict=True):
        called.setdefault(text, Counter())[slot.name] += 1
    names = {json.dumps(schema, sort_keys=True): name for name, schema in shared.items()}
    for text, by_name in sorted(called.items(), key=lambda each: -each[1].total()):
        uses, part = by_name.total(), json.loads(text)
        if text in names or uses < 2 or "$ref" in part:
            continue
        usual = by_name.most_common(1)[0][0]
        free = (f"{usual}_{number}" if number > 1 else usual for number in count(1))
        name = next(name for name in free if name not in shared)
        if uses * (len(_write(part)) - len(_write(_refer(name)))) > len(_write({name: part})):
            names[text] = name
            shared[name] = part
    for slot, text in zip(slots, written, strict=True):
        if text in names and len(text) > len(_write(_refer(names[text]))):
            slot.holder[slot.key] = _refer(names[text])


def _refer(name: str) -> Schema:
    return {"$ref": f"{_COMPONENTS}{name}"}


def _write(part: Schema) -> str:
    """As the document is served."""
    return json.dumps(part, separators=(",", ":"))


def _share_headers(document: OpenApi) -> None:
    """A header or a query that several operations take alike stands once."""
    lists = [operation.parameters for operation in document.list_operations()]
    uses = Counter(json.dumps(each, sort_keys=True) for asked in lists for each in asked)
    for asked in lists:
        for number, each in enumerate(asked):
            if uses[json.dumps(each, sort_keys=True)] > 1:
                name = str(each["name"])
                shared = document.components.setdefault("parameters", {}).setdefault(name, each)
                if shared == each:
                    asked[number] = {"$ref": f"#/components/parameters/{name}"}


def _share_refusals(document: OpenApi) -> None:
    """The refusal that all operations answer alike stands once, for all statuses of its kind; a body that there is has
    to be there.
    """
    refusal = "Refusal"
    for operation in document.list_operations():
        responses: Schema = {}
        for status, answer in operation.responses.items():
            if status[0] in "45" and answer == _share_answer(document, refusal, answer):
                responses[f"{status[0]}XX"] = {"$ref": f"#/components/responses/{refusal}"}
            else:
                responses[status] = answer
        if responses:
            operation.json.update(responses=responses)
        if operation.body is not None:
            operation.body.update(required=True)


def _share_answer(document: OpenApi, name: str, answer: Schema) -> Schema:
    """The shared answer of that name, which `answer` becomes where there are none yet."""
    answers: dict[str, Schema] = document.components.setdefault("responses", {name: answer})
    return answers[name]


def name_body(tool_name: str) -> str:
    """The name of the body that asks for a tool, or of a query of the golem's own, among the document's schemas."""
    return "".join(part.capitalize() for part in tool_name.split("_"))


def _list_entries(pi_tool: PiTool) -> Iterator[_Entry]:
    for tool in REGISTRY:
        if tool.pi_tool is pi_tool:
            yield _entry_of(tool)
    if pi_tool is not PiTool.QUERY_STATE:
        return
    for own in OWN_QUERIES:
        yield _Entry(own.key, OWN_VENUE, name_body(f"own_{own.key}"), {"properties": {}})
    for query in TIER_QUERIES:
        params = json_schema(query.params_model)
        if query.key == "load_tools":
            forms = [
                {"required": [name], "properties": {name: {"not": NULL}}} for name in SchemaReader(params).properties
            ]
            params = {**params, "anyOf": forms}
        yield _Entry(query.key, OWN_VENUE, name_body(f"own_{query.key}"), params)


def _entry_of(tool: ToolDef) -> _Entry:
    return _Entry(tool.key, tool.venue, name_body(tool.name), json_schema(tool.params_model))


def _describe(entry: _Entry, body: _Body) -> dict[str, Schema]:
    """The schema of a flat body for `entry`, which is that of its `params` too, and those of the objects within it.

    A parameter that is null counts as left out. So does a null of any other name for the server; here it does not: no
    client can be written against a type of whatever names that are null.
    """
    schema = SchemaReader(_lift_members(entry.params, entry.name))
    needed = schema.required
    # A generator takes a discriminator for what it is by its type.
    said: Schema = {
        body.word: {"type": "string", "const": entry.key},
        **({"venue": entry.at_venue} if body.has_venue else {}),
        **dict(body.beside),
    }
    properties = {
        name: _write_short(part if name in needed else _or_null(part)) for name, part in schema.properties.items()
    }
    closed = {
        "type": "object",
        "properties": {**said, **properties},
        "required": [body.word, *needed],
        "additionalProperties": False,
    }
    if schema.any_of:
        closed = {**closed, "anyOf": schema.any_of}
    # A title is what generators name a type by, and tools share inner types.
    untitled = {
        name: {key: value for key, value in part.items() if key != "title"} for name, part in schema.definitions.items()
    }
    return {entry.name: closed, **{f"{entry.name}{name}": part for name, part in untitled.items()}}


def _or_null(schema: Schema) -> Schema:
    """`schema`, or null; a part that is only a kind of value says both kinds in one."""
    if set(schema) - {"description", "default"} == {"anyOf"}:
        forms = [form for form in SchemaReader(schema).any_of if form != NULL]
        if len(forms) > 1 or not _is_kind(forms[0]):
            return {**schema, "anyOf": [*forms, NULL]}
        schema = {**forms[0], **{name: value for name, value in schema.items() if name != "anyOf"}}
    if _is_kind(schema):
        read = SchemaReader(schema)
        listed = {"enum": [*read.values, None]} if "enum" in schema else {}
        return {**schema, **listed, "type": [read.kind, "null"]}
    return {"anyOf": [schema, NULL]}


def _is_kind(schema: Schema) -> bool:
    """Whether it says one kind of value."""
    return isinstance(SchemaReader(schema).kind, str) and not {"const", "anyOf"} & set(schema)


def _write_short(schema: Schema) -> Schema:
    """`schema` with the beginning of its description, all of which describe_tool and llms-full.txt tell."""
    read = SchemaReader(schema)
    # What is null where it is left out needs no default: null counts as left out.
    short = {name: value for name, value in schema.items() if name != "default" or value is not None}
    if read.any_of:
        short |= {"anyOf": [_write_short(form) for form in read.any_of]}
    if read.items is not None:
        short |= {"items": _write_short(read.items)}
    return {**short, "description": shorten(read.description, _LONGEST_DESCRIPTION)} if read.description else short


def _lift_members(schema: Mapping[str, object], body: str) -> Schema:
    """The same as `_lift` does, of a whole schema."""
    return {
        name: f"{_COMPONENTS}{body}{SchemaReader(schema).reference}" if name == "$ref" else _lift(value, body)
        for name, value in schema.items()
    }


def _lift(part: object, body: str) -> object:
    """The same with references into the document's schemas, where a schema's own `$defs` cannot be pointed at, and with
    the default of an amount as the text it is.
    """
    if isinstance(part, Mapping):
        lifted, read = _lift_members(part, body), SchemaReader(part)
        return (
            {**lifted, "default": str(read.default)} if read.kind == "string" and type(read.default) is int else lifted
        )
    return [_lift(each, body) for each in part] if isinstance(part, list) else part


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A body that is found by its word, and the schemas it refers to beside those of tools."""

    body: Schema
    schemas: dict[str, Schema]


def _choose(entries: list[_Entry], body: _Body, *, title: str) -> _Chosen:
    """One of the bodies of the word it says: one tool's, or one of those at several venues.

    A word, or a venue of a word, that none of them has leaves it open, as an owner may have brought such a tool; so
    does a body that takes up a wish, which says the rest.
    """
    schemas: dict[str, Schema] = {}
    mapping: dict[str, str] = {}
    for key, group in groupby(entries, key=lambda entry: entry.key):
        asked = list(group)
        name = asked[0].name if len(asked) == 1 else f"{title}{name_body(key)}"
        if len(asked) > 1:
            schemas[name] = {"anyOf": [entry.reference for entry in asked]}
        mapping[key] = f"{_COMPONENTS}{name}"
    forms = [form.rpartition("/")[2] for form in mapping.values()]
    for name, schema in _leave_open(entries, body):
        schemas[f"{title}{name}"] = schema
        forms.append(f"{title}{name}")
    found = {
        "anyOf": [_refer(form) for form in forms],
        "discriminator": {"propertyName": body.word, "mapping": mapping},
    }
    return _Chosen(found, schemas)


def _leave_open(entries: list[_Entry], body: _Body) -> Iterator[tuple[str, Schema]]:
    """What is not built in: an owner's own word, an own venue of a word, and a wish."""
    words = sorted({entry.key for entry in entries})
    beside = dict(body.beside)
    own: Schema = {"type": "string", "minLength": 1, "maxLength": 64, "pattern": SAYS_SOMETHING}
    nested: Schema = {"params": {"type": ["object", "null"]}} if body.has_venue else {}
    venue: Schema = {"venue": {"type": ["string", "null"], "maxLength": 64}} if body.has_venue else {}
    yield (
        "OwnWord",
        {
            "type": "object",
            "description": "A tool that the golem's owner brought, with parameters of its own.",
            "properties": {body.word: {**own, "not": {"enum": words}}, **venue, **beside, **nested},
            "required": [body.word],
            "additionalProperties": {"description": "A parameter of the tool."},
        },
    )
    if body.has_venue:
        places = sorted({entry.venue for entry in entries})
        yield (
            "OwnVenue",
            {
                "type": "object",
                "description": "A tool that the golem's owner brought, at a venue of its own.",
                "properties": {body.word: own, "venue": {**own, "not": {"enum": places}}, **beside},
                "required": [body.word, "venue"],
                "additionalProperties": {"description": "A parameter of the tool."},
            },
        )
    if body.is_wished:
        yield (
            "Wish",
            {
                "type": "object",
                "description": "The wish of a module, which says the rest.",
                "properties": {body.word: own, **venue, **beside, WISH_ID: {"type": "string", "pattern": UUID_TEXT}},
                "required": [body.word, WISH_ID],
                "additionalProperties": False,
            },
        )
