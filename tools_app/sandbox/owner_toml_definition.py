"""A tool that is a TOML text alone: it asks over HTTP, puts reads of the product together, or runs a program.

Read to the letter by one model and pinned by one hash, as a module's definition is. What it asks with is filled in
whole: a parameter is a path segment, a query value, a parameter of a read or an argument of a program, never a part of
a text that is parsed again. It holds no money and moves none: there is no form for that. A program is a local write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from tools_app.core.bounded_parsing import OutsideTextRefused, read_toml
from tools_app.core.guarded_http import AddressRefused, check_url
from tools_app.core.json_types import JsonObject
from tools_app.sandbox.definition import (
    CATEGORIES,
    MOST_BYTES,
    Definition,
    DefinitionRefused,
    check_shared_members,
    make_definition,
)
from tools_app.sandbox.owner_command_argv import check_argv
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY

FORMAT: Final = 2
MOST_READS: Final = 5
MOST_QUERY: Final = 10
LONGEST_COMMAND_MS: Final = 45_000
_WORD: Final = r"^[a-z][a-z0-9_]{0,63}$"
_PLACE: Final = re.compile(r"^\{([a-z][a-z0-9_]*)\}$")
_REFERENCE: Final = re.compile(r"^\$([a-z][a-z0-9_]*)((?:\.[A-Za-z0-9_]{1,40})*)$")
_HEADER: Final = re.compile(r"^[A-Za-z][A-Za-z0-9-]{0,39}$")
# What a definition may not say of a request: who asks, how it is framed, and what is behind a door.
_HEADERS: Final = frozenset({"accept", "accept-language", "user-agent"})
_NO_QUERY: Final = re.compile(r"[^\x20-\x7e]")

Word = Annotated[str, StringConstraints(pattern=_WORD)]
Line = Annotated[str, StringConstraints(max_length=200)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class HttpRead(_Closed):
    """One GET. `{name}` in `url` stands for a whole path segment, `$name` in `query` for a whole value."""

    url: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    query: dict[Annotated[str, StringConstraints(min_length=1, max_length=40)], Line] = Field(
        default_factory=dict, max_length=MOST_QUERY
    )
    headers: dict[str, Line] = Field(default_factory=dict, max_length=len(_HEADERS))


class ComposedRead(_Closed):
    """One read of the product. `$name` is a parameter, `$id.path.to.it` something of an earlier read's answer."""

    id: Word
    query: Word
    venue: Annotated[str, StringConstraints(max_length=64)] = ""
    params: dict[Word, Line | int | bool] = Field(default_factory=dict, max_length=16)


class Command(_Closed):
    """A program and its arguments; a whole argument may be `$name`. No shell is between. Killed after `timeout_ms`."""

    argv: list[Line] = Field(min_length=1, max_length=32)
    timeout_ms: int = Field(default=30_000, ge=100, le=LONGEST_COMMAND_MS)


class WrittenTool(_Closed):
    """The text as a whole: what a model is told, and exactly one way to do it."""

    format: Literal[2]
    name: str
    summary: str
    description: str
    category: str
    budget: str
    steps: list[str]
    parameters: dict[str, JsonObject]
    http: HttpRead | None = None
    compose: list[ComposedRead] | None = Field(default=None, min_length=1, max_length=MOST_READS)
    command: Command | None = None

    @model_validator(mode="after")
    def _check(self) -> WrittenTool:
        ways = [way for way in (self.http, self.compose, self.command) if way is not None]
        if len(ways) != 1:
            raise ValueError("exactly one of http, compose and command")
        return self


def read_written(text: str) -> Definition:
    """The definition in a TOML text. Raises DefinitionRefused."""
    try:
        told = read_toml(text, most_bytes=MOST_BYTES, most_depth=4)
    except OutsideTextRefused as refusal:
        raise DefinitionRefused(f"this TOML cannot be read: {refusal}") from None
    budget = "slow" if "command" in told else "fast"
    return check_written({"steps": [], "parameters": {}, "budget": budget, "format": FORMAT} | told)


def check_written(body: Mapping[str, object]) -> Definition:
    """The definition of a stored body, checked as if it were new. Raises DefinitionRefused."""
    try:
        tool = WrittenTool.model_validate(dict(body))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "the definition"
        raise DefinitionRefused(f"{where[:120]}: {first['msg'][:200]}", where=where[:120]) from None
    normal = tool.model_dump(exclude_none=True)
    check_shared_members(normal)
    if tool.command is not None:
        used = _check_command(tool, tool.command)
    elif tool.category not in CATEGORIES and tool.name not in REGISTRY:
        raise DefinitionRefused(f"its category is one of {', '.join(sorted(CATEGORIES))}")
    else:
        used = _check_http(tool.http) if tool.http is not None else _check_composition(tool)
    _check_uses(used, set(tool.parameters))
    return make_definition({member: normal[member] for member in sorted(normal)})


def read_tool(definition: Definition) -> WrittenTool:
    """What a checked definition of this form says. Raises ValueError for one of a module."""
    return WrittenTool.model_validate(definition.body)


def _check_command(tool: WrittenTool, command: Command) -> set[str]:
    if tool.category != Category.CODING:
        raise DefinitionRefused("the category of a command is coding")
    if tool.budget != "slow":
        raise DefinitionRefused("the budget of a command is slow, for its preview; timeout_ms is for the command")
    return check_argv(command.argv, declared=tool.parameters)


def _check_http(http: HttpRead) -> set[str]:
    parts = urlsplit(http.url)
    if "{" in http.url.removesuffix(parts.path) or parts.query:
        raise DefinitionRefused("a parameter stands for a path segment, or in query; never in scheme, host or port")
    segments = [_PLACE.match(segment) for segment in parts.path.split("/")]
    if any("{" in segment or "}" in segment for segment, place in _pair(parts.path, segments) if place is None):
        raise DefinitionRefused("a parameter is a whole path segment, as in /coins/{coin}/price")
    try:
        check_url(fill_path(http.url, {place[1]: "x" for place in segments if place}), allows_private=True)
    except AddressRefused as refusal:
        raise DefinitionRefused(f"http.url: {refusal}") from None
    for name, value in http.headers.items():
        if not _HEADER.match(name) or name.lower() not in _HEADERS or not value.isascii() or not value.isprintable():
            raise DefinitionRefused(f"http.headers: only {', '.join(sorted(_HEADERS))}, each one printable line")
    if any(_NO_QUERY.search(name + value) for name, value in http.query.items()):
        raise DefinitionRefused("http.query: names and values are printable ASCII")
    referred = [_REFERENCE.match(value) for value in http.query.values() if value.startswith("$")]
    if any(found is None or found[2] for found in referred):
        raise DefinitionRefused("http.query: a value is a text, or $name of a parameter and nothing beside it")
    return {place[1] for place in segments if place} | {found[1] for found in referred if found}


def _pair(path: str, segments: list[re.Match[str] | None]) -> Iterator[tuple[str, re.Match[str] | None]]:
    yield from zip(path.split("/"), segments, strict=True)


def _check_composition(tool: WrittenTool) -> set[str]:
    used: set[str] = set()
    before: set[str] = set()
    for read in tool.compose or ():
        if read.id in before or read.id in tool.parameters:
            raise DefinitionRefused(f"compose.{read.id}: that name is taken by an earlier read or a parameter")
        for name, value in read.params.items():
            if not isinstance(value, str) or not value.startswith("$"):
                continue
            found = _REFERENCE.match(value)
            if found is None:
                raise DefinitionRefused(f"compose.{read.id}.{name}: a value is a text, $parameter, or $read.path")
            if found[1] in tool.parameters and not found[2]:
                used.add(found[1])
            elif found[1] not in before:
                raise DefinitionRefused(
                    f"compose.{read.id}.{name}: {found[1]!r} is neither a parameter nor a read that comes before it"
                )
        before.add(read.id)
    return used


def _check_uses(used: set[str], declared: set[str]) -> None:
    if used != declared:
        unknown, idle = sorted(used - declared), sorted(declared - used)
        raise DefinitionRefused(
            f"parameters that are used and not declared: {', '.join(unknown) or 'none'};"
            f" declared and not used: {', '.join(idle) or 'none'}"
        )


def fill_path(url: str, segments: Mapping[str, str]) -> str:
    """`url` with each `{name}` segment of its path replaced by `segments[name]`, which is quoted already."""
    parts = urlsplit(url)
    filled = [segments[place[1]] if (place := _PLACE.match(each)) else each for each in parts.path.split("/")]
    return parts._replace(path="/".join(filled)).geturl()


def split_reference(value: object) -> tuple[str, tuple[str, ...]] | None:
    """The name and path in `$name.path`; None for what is no reference."""
    found = _REFERENCE.match(value) if isinstance(value, str) else None
    return (found[1], tuple(found[2].split(".")[1:])) if found else None
