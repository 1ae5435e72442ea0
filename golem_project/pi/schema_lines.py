"""Writes tools and endpoints in few lines for snapshots: a line each, and a digest of all the words.

A line holds what decides whether a call is valid as it is; of the rest it holds a digest. A parameter that many tools
take alike stands once for all of them, and is put back where a tool is read. Two versions of the lines are compared
member by member, and each difference is told in one line.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from golem_project.pi.json_schema import ReadOnlySchema, Schema, SchemaReader
from golem_project.pi.manifest import describe_route, hash_schema, without_words
from golem_project.pi.openapi_document import OpenApi, PathOperation, Payload, ReadOnlyDocument
from golem_project.pi.openapi_tools import name_body
from tools_app.core.hashing import hash_canonical
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef

DOCUMENT: Final = "document"
"""What is of no endpoint: the title, and how callers say who they are."""
SHARED_BY: Final = 4
"""So many tools take a parameter alike for it to be written once."""
_WORDS: Final = ("summary", "description", "snippet", "guidelines", "progress_steps")
_TOLD_OTHERWISE: Final = ("tool", "parameters", "action_type", "query")
"""Members of a route that an entry has under another name, or as its own."""
_DIGEST_LETTERS: Final = 16
_MOST_LETTERS: Final = 240
_REFERENCE: Final = "#/components/schemas/"
_METHODS: Final = ("get", "post", "put", "patch", "delete")


def describe_tool(tool: ToolDef) -> Schema:
    """Everything of a tool that a caller or the control plane goes by, and the digest of its words."""
    route = describe_route(tool)
    schema = without_words(tool.schema)
    read = SchemaReader(schema)
    rest = {name: value for name, value in schema.items() if name not in ("properties", "required", "type")}
    return {
        **{name: value for name, value in route.items() if name not in (*_WORDS, *_TOLD_OTHERWISE)},
        "key": tool.key,
        "kind": type(tool).__name__,
        "prefix": tool.prefix,
        "risk_layer": int(tool.risk_layer),
        "budget": tool.tick_budget.name,
        "requires": sorted(requirement.value for requirement in tool.requires),
        "aliases": sorted(tool.aliases),
        "required": sorted(read.required),
        "rest_of_schema": rest,
        "words": _digest_words({name: route[name] for name in _WORDS}),
        "parameters": read.properties,
    }


def find_shared(tools: Iterable[ReadOnlySchema]) -> dict[str, object]:
    """The parameters that several of these tools take alike, each by its name and a digest of what it is."""
    counted: Counter[str] = Counter()
    found = {}
    for tool in tools:
        for name, schema in _parameters_of(tool).items():
            key = _name_shared(name, schema)
            counted[key] += 1
            found[key] = schema
    return {key: found[key] for key, count in counted.items() if count >= SHARED_BY}


def leave_out(tool: ReadOnlySchema, shared: Mapping[str, object]) -> dict[str, object]:
    """A tool without the parameters that are shared ones to the letter; `shares` names them."""
    parameters = _parameters_of(tool)
    keys = {name: _name_shared(name, schema) for name, schema in parameters.items()}
    own = {name: schema for name, schema in parameters.items() if keys[name] not in shared}
    return {**tool, "shares": sorted(key for key in keys.values() if key in shared), "parameters": own}


def put_back(tool: ReadOnlySchema, shared: Mapping[str, object]) -> dict[str, object]:
    """The tool with every parameter it takes. Raises KeyError where it names one that is not shared."""
    whole = {key.partition(":")[0]: copy.deepcopy(shared[key]) for key in tool.get("shares", ())}
    rest = {name: value for name, value in tool.items() if name != "shares"}
    return {**rest, "parameters": {**_parameters_of(tool), **whole}}


def _parameters_of(tool: ReadOnlySchema) -> dict[str, Schema]:
    """The schemas of what an entry of a tool takes, by name."""
    parameters: dict[str, Schema] = tool["parameters"]
    return parameters


def _name_shared(name: str, schema: Mapping[str, object]) -> str:
    return f"{name}:{hash_canonical({'text': _write(schema)})[2:6]}"


def name_home(tool: ToolDef) -> str:
    """The folder of the protocol or subsystem a tool lies in, else its app: `lending`, `stream`, `memory`."""
    app, *rooms = tool.handler.__module__.split(".")
    return rooms[1] if rooms[0] in ("protocols", "subsystems") else app.removesuffix("_app")


def describe_document(document: ReadOnlyDocument) -> dict[str, object]:
    """The OpenAPI document: one entry an endpoint, and one for each schema that is not the body of a tool.

    The digest of an endpoint covers every schema it refers to, so that of `preview_action` moves with each action.
    """
    whole = OpenApi(document)
    bodies = {name_body(tool.name) for tool in REGISTRY}
    rest = {name: each for name, each in document.items() if name not in ("paths", "components")}
    others = {kind: each for kind, each in whole.components.items() if kind != "schemas"}
    return {
        DOCUMENT: {"digest": _digest({"document": rest, "components": others})},
        **{
            f"{operation.method.upper()} {operation.path}": _describe_operation(operation, whole)
            for operation in whole.list_operations()
            if operation.method in _METHODS
        },
        **{
            f"schema {name}": {"holds": list_types(schema), "digest": _digest(schema)}
            for name, schema in whole.schemas.items()
            if name not in bodies
        },
    }


def describe_manifest(body: ReadOnlyDocument) -> dict[str, object]:
    """The manifest: one entry a Pi tool, the queries of a golem about itself, and the members of the whole."""
    tools = {
        tool["name"]: {
            "schema_version": tool["schema_version"],
            **_describe_taken(tool),
            "words": _digest_words(tool),
        }
        for tool in body["tools"]
    }
    own = {f"query {query['query']}": _describe_taken(query) for query in body["queries"] if "tool" not in query}
    members = {name: _name_type(body[name]) for name in body}
    return {"manifest": {"members": members, "version": body["manifest_version"]}, **tools, **own}


def _describe_taken(entry: ReadOnlySchema) -> dict[str, object]:
    parameters: Schema = entry["parameters"]
    return {"takes": list_types(parameters), "shape": _digest(parameters)}


def list_types(schema: ReadOnlySchema) -> str:
    """`amount:string! chain_id:integer|null`: each member with its type, and a mark on those that are needed."""
    read = SchemaReader(schema)
    forms = [*read.one_of, *read.any_of, *read.all_of]
    if "properties" not in schema:
        return " | ".join(describe_type(each) for each in forms) if forms else describe_type(schema)
    return " ".join(
        f"{name}:{describe_type(each)}{'!' * (name in read.required)}" for name, each in sorted(read.properties.items())
    )


def describe_type(schema: ReadOnlySchema) -> str:
    """The type of one member, `[string]` for a list of texts."""
    read = SchemaReader(schema)
    if "$ref" in schema:
        return read.reference
    if "const" in schema:
        return json.dumps(read.constant)
    for forms in (read.any_of, read.one_of, read.all_of):
        if forms:
            return "|".join(dict.fromkeys(describe_type(each) for each in forms))
    if "enum" in schema:
        return "(" + ",".join(str(each) for each in read.values) + ")"
    if read.kind == "array":
        return f"[{describe_type(read.items or {})}]"
    return "|".join(read.kinds or ["any"])


def render_lines(entries: Mapping[str, object]) -> str:
    """JSON with one line an entry; the parameters of a tool have one line each."""
    return "{\n" + ",\n".join(_render_entry(name, entries[name]) for name in sorted(entries)) + "\n}\n"


def tell_differences(stored: object, now: object, place: str = "") -> Iterator[str]:
    """Each member that is new, gone or another, with what it was and is."""
    if isinstance(stored, Mapping) and isinstance(now, Mapping):
        for name in sorted({*stored, *now}):
            inner = f"{place}.{name}" if place else name
            if name not in now:
                yield f"{inner} is gone, it was {_shorten(stored[name])}"
            elif name not in stored:
                yield f"{inner} is new: {_shorten(now[name])}"
            else:
                yield from tell_differences(stored[name], now[name], inner)
    elif stored != now:
        yield f"{place} was {_shorten(stored)} and is {_shorten(now)}"


def _describe_operation(operation: PathOperation, document: OpenApi) -> dict[str, object]:
    takes = [list_types(Payload(each).schema) for each in operation.bodies.values()]
    asked = [f"{each.name}:{each.place}{'!' * each.is_required}" for each in document.list_parameters(operation)]
    reached: dict[str, object] = {}
    _reach(operation.json, document.schemas, reached)
    return {
        "takes": " ".join(dict.fromkeys(takes)),
        "asks": " ".join(asked),
        "answers": " ".join(sorted(operation.responses)),
        "digest": _digest({"operation": operation.json, "$defs": reached}),
    }


def _reach(part: object, schemas: Mapping[str, ReadOnlySchema], reached: dict[str, object]) -> None:
    """Put into `reached` each schema that `part` refers to, and those that they refer to."""
    if isinstance(part, Mapping):
        name = str(part.get("$ref", "")).removeprefix(_REFERENCE)
        if name in schemas and name not in reached:
            reached[name] = schemas[name]
            _reach(schemas[name], schemas, reached)
    if isinstance(part, Mapping | list | tuple):
        for each in part.values() if isinstance(part, Mapping) else part:
            _reach(each, schemas, reached)


def _digest(content: Mapping[str, object]) -> str:
    plain = json.loads(json.dumps(content, default=str))
    return hash_schema(plain)[2 : 2 + _DIGEST_LETTERS]


def _digest_words(content: object) -> str:
    return hash_canonical({"text": _write(content)})[2 : 2 + _DIGEST_LETTERS]


def _name_type(value: object) -> str:
    return "list" if isinstance(value, list | tuple) else "object" if isinstance(value, Mapping) else "value"


def _render_entry(name: str, entry: object) -> str:
    parameters = entry.get("parameters") if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not parameters:
        return f"{_write(name)}: {_write(entry)}"
    head = {key: value for key, value in entry.items() if key != "parameters"}
    lines = [f"  {_write(each)}: {_write(schema)}" for each, schema in sorted(parameters.items())]
    return f'{_write(name)}: {_write(head)[:-1]}, "parameters": {{\n' + ",\n".join(lines) + "}}"


def _write(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _shorten(value: object) -> str:
    text = _write(value)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"
