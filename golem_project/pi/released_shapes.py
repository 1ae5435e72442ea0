"""What the last releases took and answered, kept as data: a client of theirs works for ninety days after the next one.

A file in `releases/` is written by `manage.py release_shapes VERSION` when a version is given out, and never changed.
For as long as it is served, everything a client of that version may send is taken, and every member it may read is
answered: `manage.py snapshots --check` refuses a change that breaks either, unless the tool serves its old shape
(`used_to_take`). A file whose time is over is deleted, with a line in the changelog. Pure but for reading.
"""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from golem_project.pi.json_schema import ReadOnlySchema, SchemaReader
from golem_project.pi.openapi_document import (
    JSON_MEDIA,
    OpenApi,
    PathOperation,
    Payload,
    ReadOnlyDocument,
    follow,
)
from tools_app.standards.receipts import Mined
from tools_app.toolkit.answer import list_put_beside
from tools_app.toolkit.deprecated_params import SERVED_FOR
from tools_app.toolkit.registry import ToolRegistry, UnknownTool
from tools_app.toolkit.report import Report, fields_of
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.tooldef import ReadTool, ToolDef, WriteTool
from tools_app.toolkit.views import TokenMeta

FOLDER: Final = Path(__file__).parent / "releases"
_DEPTH: Final = 6
_TOLD_AS_ONE: Final = (TokenMeta, TokenAmount, UsdAmount)
"""Values that an answer spells in its own way, the same everywhere."""
_SPELT_OTHERWISE_TOO: Final = frozenset({"action_type"})
"""Words that the server takes by other spellings too, as every version's clients may write them, though the document
asks for one of them.
"""

Answers = Mapping[str, Any]  # Any: None, or again answers
"""Members of an answer by name, those of an object inside as its own mapping; a list is told by its members."""


StoredShapes = Mapping[str, Any]  # Any: the JSON of a shape by its name, which `_AskedAndAnswered` reads


@dataclass(frozen=True, slots=True)
class _AskedAndAnswered:
    """What a tool or an operation takes, needs and answers. An operation has no route and no version of its own."""

    takes: Mapping[str, list[object]]
    """The values that each parameter is limited to, none where it is not."""
    needs: list[str]
    answers: Answers
    route: list[str]
    schema_version: int

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> _AskedAndAnswered:  # Any: the JSON of a shape
        """The shape that `describe_tools` or `describe_paths` told. Raises KeyError for what is none."""
        takes = stored["takes"]
        return cls(
            takes=takes if isinstance(takes, Mapping) else {name: [] for name in takes},
            needs=stored["needs"],
            answers=stored["answers"],
            route=stored.get("route", []),
            schema_version=stored.get("schema_version", 0),
        )


@dataclass(frozen=True, slots=True)
class Release:
    """One version. `tools` and `paths` are as `describe_tools` and `describe_paths` told them then."""

    version: str
    released: date
    tools: StoredShapes
    paths: StoredShapes

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Release:  # Any: the JSON of a release's file
        """The release that a file keeps. Raises KeyError, ValueError for what is none."""
        return cls(stored["version"], date.fromisoformat(stored["released"]), stored["tools"], stored["paths"])

    def served_until(self, followed_on: date) -> date:
        """The day from which it is no longer served, where another version followed on `followed_on`."""
        return followed_on + SERVED_FOR


def load_releases() -> tuple[Release, ...]:
    """Every version that is kept, the oldest first."""
    files = (json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json"))
    return tuple(sorted(map(Release.from_json, files), key=lambda each: each.released))


def list_served(releases: Iterable[Release], *, today: date) -> tuple[Release, ...]:
    """Those whose clients are served today: the last, and those before it whose ninety days are not over."""
    listed = list(releases)
    follows = {old.version: new.released for old, new in zip(listed, listed[1:], strict=False)}
    return tuple(
        each for each in listed if each.version not in follows or today < each.served_until(follows[each.version])
    )


def find_broken(release: Release, *, registry: ToolRegistry, paths: StoredShapes) -> list[str]:
    """What a client of `release` may send that is not taken now, and what it may read that is not answered."""
    return [*_find_broken_tools(release, registry), *_find_broken_paths(release, paths)]


def describe_tools(tools: Iterable[ToolDef]) -> dict[str, StoredShapes]:
    """How each tool is called and what its answer has."""
    return {
        tool.name: {
            "route": [str(tool.pi_tool), tool.key, tool.venue],
            "schema_version": tool.schema_version,
            "takes": {name: _list_values(schema) for name, schema in SchemaReader(tool.schema).properties.items()},
            "needs": sorted(SchemaReader(tool.schema).required),
            "answers": describe_answer(tool),
        }
        for tool in sorted(tools, key=lambda each: each.name)
    }


def describe_answer(tool: ToolDef) -> Answers:
    """Members of what the tool answers; of a write what its outcome tells, where it was mined included."""
    report = tool.report if isinstance(tool, WriteTool) else None
    declared = getattr(report, "__self__", None)
    told: Answers | None
    if isinstance(declared, type) and issubclass(declared, Report):
        told = {name: _describe(kind, _DEPTH - 1) for name, kind in fields_of(declared).items()}
    else:
        told = _describe(typing.get_type_hints(report or tool.handler).get("return"), _DEPTH)
    mined = _describe(Mined, _DEPTH) if isinstance(tool, WriteTool) else None
    beside = dict.fromkeys(list_put_beside(tool.handler)) if isinstance(tool, ReadTool) else {}
    return {**(mined or {}), **(told or {}), **beside}


def describe_paths(document: ReadOnlyDocument) -> dict[str, object]:
    """How each operation of an OpenAPI document is called and what its answer has."""
    whole = OpenApi(document)
    return {
        f"{operation.method.upper()} {operation.path}": _describe_operation(operation, whole.schemas)
        for operation in sorted(whole.list_operations(), key=lambda each: each.path)
    }


def _find_broken_tools(release: Release, registry: ToolRegistry) -> Iterator[str]:
    for name, stored in release.tools.items():
        try:
            tool = registry.get(name)
        except UnknownTool:
            yield f"{name} is gone"
            continue
        old, new = _AskedAndAnswered.from_json(stored), _AskedAndAnswered.from_json(describe_tools([tool])[tool.name])
        if old.route != new.route:
            yield f"{name} is reached by {new.route} and was by {old.route}"
        if old.schema_version not in {shape.schema_version for shape in tool.old_shapes}:
            yield from (f"{name} no longer takes {each}" for each in old.takes if each not in new.takes)
            yield from (f"{name} needs {each} now" for each in new.needs if each not in old.needs)
            for each, values in old.takes.items():
                kept = new.takes.get(each)
                yield from (f"{name} no longer takes {each} {value}" for value in values if kept and value not in kept)
        yield from (f"{name} no longer answers {each}" for each in _list_lost(old.answers, new.answers))


def _find_broken_paths(release: Release, paths: StoredShapes) -> Iterator[str]:
    for name, stored in release.paths.items():
        if name not in paths:
            yield f"{name} is gone"
            continue
        old, new = _AskedAndAnswered.from_json(stored), _AskedAndAnswered.from_json(paths[name])
        yield from (f"{name} no longer takes {each}" for each in old.takes if each not in new.takes)
        needed = set(new.needs) - set(old.needs) - _SPELT_OTHERWISE_TOO
        yield from (f"{name} needs {each} now" for each in sorted(needed))
        yield from (f"{name} no longer answers {each}" for each in _list_lost(old.answers, new.answers))


def _list_lost(old: Answers, new: Answers, place: str = "") -> Iterator[str]:
    for name, inside in old.items():
        if name not in new:
            yield f"{place}{name}"
        elif isinstance(inside, dict) and isinstance(new[name], dict):
            yield from _list_lost(inside, new[name], f"{place}{name}.")


def _list_values(schema: ReadOnlySchema) -> list[object]:
    """The values a parameter is limited to, none where it is not."""
    return [value for part in SchemaReader(schema).variants for value in SchemaReader(part).not_null_values]


def _describe(kind: Any, depth: int) -> Answers | None:  # Any: an annotation of whatever form
    if kind in _TOLD_AS_ONE:
        return None
    if dataclasses.is_dataclass(kind) and depth:
        hints = typing.get_type_hints(kind)
        return {each.name: _describe(hints[each.name], depth - 1) for each in dataclasses.fields(kind)}
    inside = [each for each in typing.get_args(kind) if each is not type(None) and each is not Ellipsis]
    is_plain = typing.get_origin(kind) in (dict, Mapping) or typing.get_origin(kind) is None
    return _describe(inside[0], depth) if len(inside) == 1 and not is_plain else None


def _describe_operation(operation: PathOperation, schemas: Mapping[str, ReadOnlySchema]) -> dict[str, object]:
    body = Payload(operation.bodies.get(JSON_MEDIA, {})).schema
    answers: dict[str, object] = {}
    for status, answer in operation.responses.items():
        if status.startswith("2"):
            for content in Payload(answer).content.values():
                answers |= _list_members(Payload(content).schema, schemas, 4)
    return {"takes": sorted(_list_members(body, schemas, 1)), "needs": _list_needed(body, schemas), "answers": answers}


def _list_members(schema: ReadOnlySchema, schemas: Mapping[str, ReadOnlySchema], depth: int) -> dict[str, object]:
    found = SchemaReader(follow(schema, schemas))
    if found.items is not None:
        return _list_members(found.items, schemas, depth)
    members: dict[str, object] = {}
    for part in (*found.one_of, *found.any_of, *found.all_of):
        members |= _list_members(part, schemas, depth)
    for name, inside in found.properties.items():
        members[name] = _list_members(inside, schemas, depth - 1) if depth > 1 else {}
    return members


def _list_needed(schema: ReadOnlySchema, schemas: Mapping[str, ReadOnlySchema]) -> list[str]:
    """What every form of a body needs."""
    found = SchemaReader(follow(schema, schemas))
    forms = [set(_list_needed(part, schemas)) for part in (*found.one_of, *found.any_of)]
    common: set[str] = set.intersection(*forms) if forms else set()
    return sorted({*found.required, *common})
