"""`manage.py tools list | show NAME | schema NAME | explain GOLEM`: what there is, where it is written, who has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from archetypes_app.json_values import ToolSummary, describe_tool, explain_toolset
from archetypes_app.models import Golem
from archetypes_app.toolset import resolve_toolset
from tools_app.toolkit.registry import REGISTRY, NameRefused, UnknownTool
from tools_app.toolkit.tooldef import ToolDef


class Command(BaseCommand):
    help = "List tools with file and line, show one, print its JSON Schema, or explain a golem's toolset."

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(dest="what", required=True)
        listing = commands.add_parser("list", help="every registered tool")
        listing.add_argument("--category", default="", help="only this category")
        listing.add_argument("--json", action="store_true", help="one JSON array")
        for what, words in (("show", "one tool, by name or alias"), ("schema", "the JSON Schema of its parameters")):
            one = commands.add_parser(what, help=words)
            one.add_argument("name", help="the tool's name, or an alias")
            one.add_argument("--json", action="store_true", help="one JSON object")
        explain = commands.add_parser("explain", help="every tool in or out of a golem's toolset, with the reason")
        explain.add_argument("golem", help="id or name")
        explain.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: object, what: str, **options: object) -> None:
        commands: dict[str, Callable[..., None]] = {
            "list": self._list,
            "show": self._show,
            "schema": self._schema,
            "explain": self._explain,
        }
        commands[what](**options)

    def _list(self, *, category: str, json: bool, **_: object) -> None:
        tools = sorted(
            (tool for tool in REGISTRY if not category or tool.category == category),
            key=lambda tool: (tool.category, tool.name),
        )
        if category and not tools:
            raise CommandError(f"no tool is of the category {category!r}")
        if json:
            self.stdout.write(_dump([_describe(tool).as_json() for tool in tools]))
            return
        for tool in tools:
            told = _describe(tool)
            self.stdout.write(
                f"{told.category:<16} {told.name:<36} {told.kind:<11} layer {told.risk_layer}"
                f"  {told.pi_tool}:{told.key}@{told.venue}  {told.source}"
            )
        self.stdout.write(f"{len(tools)} tools")

    def _show(self, *, name: str, json: bool, **_: object) -> None:
        tool = _find(name)
        told = _describe(tool).as_json()
        if json:
            self.stdout.write(_dump({**told, "description": tool.description, "parameters": tool.schema}))
            return
        for key, value in told.items():
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            self.stdout.write(f"{key:<15} {'-' if shown in (None, '') else shown}")
        self.stdout.write(f"\n{tool.description}")

    def _schema(self, *, name: str, **_: object) -> None:
        self.stdout.write(_dump(_find(name).schema))

    def _explain(self, *, golem: str, json: bool, **_: object) -> None:
        row = _find_golem(golem)
        toolset = resolve_toolset(row)

        def place(name: str) -> str:
            # A tool an owner brought is in no registry; one that was excluded is in no toolset either.
            found = toolset.tools.get(name) or (REGISTRY.get(name) if name in REGISTRY else None)
            return _place(found) if found is not None else "brought by its owner"

        told = explain_toolset(toolset, place=place)
        if json:
            self.stdout.write(_dump({"golem": {"id": str(row.pk), "name": row.name}, **told.as_json()}))
            return
        for warning in told.warnings:
            self.stderr.write(self.style.WARNING(f"warning: {warning}"))
        for line in told.tools:
            self.stdout.write(f"{'in ' if line.is_in else 'out'} {line.name:<36} {line.reason}  {line.source}")
        self.stdout.write(f"{told.counts.total} of {len(told.tools)} tools")


def _find(name: str) -> ToolDef:
    try:
        return REGISTRY.get(name)
    except NameRefused as error:
        raise CommandError(error.detail) from None
    except UnknownTool as error:
        near = error.data["suggestions"]
        raise CommandError(f"{error.detail}" + (f"; did you mean {' or '.join(near)}?" if near else "")) from None


def _find_golem(text: str) -> Golem:
    golems = Golem.objects.select_related("archetype")
    try:
        found = list(golems.filter(pk=UUID(text)))
    except ValueError:
        found = list(golems.filter(name=text)[:2])
    if len(found) == 1:
        return found[0]
    why = "several owners have a golem of this name; give its id" if found else "there is no such golem"
    raise CommandError(f"{text!r}: {why}")


def _describe(tool: ToolDef) -> ToolSummary:
    return replace(describe_tool(tool), source=_place(tool))


def _place(tool: ToolDef) -> str:
    """file:line, below the checkout where it lies there."""
    path, _, line = tool.source.rpartition(":")
    base = Path(settings.BASE_DIR)
    return f"{Path(path).relative_to(base) if Path(path).is_relative_to(base) else path}:{line}"


def _dump(value: object) -> str:
    return json.dumps(value, indent=2)
