"""`manage.py release_shapes VERSION`: keep what this version takes and answers, for clients written for it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping

from django.core.management.base import BaseCommand, CommandError
from django.db.migrations.loader import MigrationLoader
from drf_spectacular.generators import SchemaGenerator

from golem_project.pi.released_shapes import FOLDER, describe_paths, describe_tools
from golem_project.upgrades.columns import FOLDER as COLUMNS_FOLDER
from golem_project.upgrades.columns import describe_columns, write_schema
from tools_app.core import clock
from tools_app.toolkit.registry import REGISTRY


class Command(BaseCommand):
    """Writes two files: of what is asked and answered, and of the columns that the version knows."""

    help = "Keep the shapes of a version that is given out; they are served until ninety days after the next one."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("version", help="the version that is given out")

    def handle(self, *args: object, version: str, **options: object) -> None:
        path = FOLDER / f"{version}.json"
        if path.exists():
            raise CommandError(f"{path.name} is kept already, and what was given out does not change")
        document = SchemaGenerator().get_schema(request=None, public=True)
        text = write_release(
            version=version,
            released=clock.now().date().isoformat(),
            tools=describe_tools(REGISTRY),
            paths=describe_paths(document),
        )
        path.write_text(text, encoding="utf-8")
        columns = write_schema(
            version=version,
            migrations=dict(MigrationLoader(None).graph.leaf_nodes()),
            columns=describe_columns(),
        )
        (COLUMNS_FOLDER / path.name).write_text(columns, encoding="utf-8")
        self.stdout.write(f"wrote {path.name}, of answers and of columns")


def write_release(*, version: str, released: str, tools: Mapping[str, object], paths: Mapping[str, object]) -> str:
    """The file's text: a line a tool and a line an operation."""
    head = f'{{"version": {json.dumps(version)}, "released": {json.dumps(released)},'
    parts = [head, '"tools": {', _write_lines(tools), "},", '"paths": {', _write_lines(paths), "}}"]
    return "\n".join(parts) + "\n"


def _write_lines(entries: Mapping[str, object]) -> str:
    return ",\n".join(f"{json.dumps(name)}: {json.dumps(entry, sort_keys=True)}" for name, entry in entries.items())
