"""`manage.py archetypes list | export DIR [NAME …] | import FILE_OR_DIR`: archetypes as a table, JSON and TOML."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from archetypes_app.actions.export_archetypes import export_archetypes
from archetypes_app.actions.import_archetypes import import_archetypes, read_archetype_files
from archetypes_app.json_values import list_archetypes
from tools_app.core import clock
from tools_app.core.errors import GolemError


class Command(BaseCommand):
    help = "List archetypes with their resolved tool counts, or move them out and in as TOML."

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(dest="what", required=True)
        listing = commands.add_parser("list", help="every archetype and how many tools it resolves to")
        listing.add_argument("--json", action="store_true", help="one JSON array")
        export = commands.add_parser("export", help="write one TOML file for each archetype")
        export.add_argument("folder", type=Path, help="where the files are written")
        export.add_argument("names", nargs="*", help="only these")
        bring = commands.add_parser("import", help="read one TOML file, or every one of a folder: all or none")
        bring.add_argument("path", type=Path, help="the file, or the folder")
        bring.add_argument("--owner", default="", help="user name; shared without one")
        bring.add_argument("--replace", action="store_true", help="overwrite archetypes of the same name and owner")

    def handle(self, *args: object, what: str, **options: object) -> None:
        commands: dict[str, Callable[..., None]] = {"list": self._list, "export": self._export, "import": self._import}
        try:
            commands[what](**options)
        except GolemError as error:
            near = error.data.get("suggestions")
            raise CommandError(f"{error.code}: {error.detail}" + (f" Near: {near}" if near else "")) from None

    def _list(self, *, json: bool, **_: object) -> None:
        rows = list_archetypes()
        if json:
            self.stdout.write(_dump([row.as_json() for row in rows]))
            return
        for row in rows:
            tools = row.tools
            marks = "terminal" if row.is_terminal_node else "read-only" if row.is_read_only else ""
            self.stdout.write(
                f"{row.name:<24} {row.category:<22} {tools.total:>4} tools"
                f" ({tools.reads} reads, {tools.total - tools.reads} writes)"
                f" {marks:<9} → {', '.join(row.delegates_to) or '-'}"
            )

    def _export(self, *, folder: Path, names: list[str], **_: object) -> None:
        written = export_archetypes(folder=folder, names=names)
        self.stdout.write(f"{len(written)} files written to {folder}")

    def _import(self, *, path: Path, owner: str, replace: bool, **_: object) -> None:
        person = get_user_model().objects.filter(username=owner).first() if owner else None
        if owner and person is None:
            raise CommandError(f"there is no user {owner!r}")
        rows = import_archetypes(
            files=read_archetype_files(path),
            owner=person,
            actor="system:command",
            now=clock.now(),
            replace_existing=replace,
        )
        self.stdout.write(f"imported: {', '.join(row.name for row in rows)}")


def _dump(value: object) -> str:
    return json.dumps(value, indent=2)
