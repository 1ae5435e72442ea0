"""`manage.py strategic_files export|import GOLEM FOLDER`: PLAYBOOK, STRATEGY, heuristics and strategies as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from archetypes_app.models import Golem
from memory_app.strategy_files import export_files, import_files
from tools_app.core import clock
from tools_app.core.errors import GolemError


class Command(BaseCommand):
    help = "Write a golem's strategic store to files, or read them back. Unchanged files change nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("direction", choices=["export", "import"])
        parser.add_argument("golem", help="its id or its name")
        parser.add_argument("folder", type=Path)
        parser.add_argument("--reason", default="read back from files")

    def handle(self, *args: Any, **options: Any) -> None:
        golem_id = _find_golem(options["golem"])
        if options["direction"] == "export":
            for path in export_files(golem_id=golem_id, folder=options["folder"]):
                self.stdout.write(str(path))
            return
        try:
            done = import_files(
                golem_id=golem_id,
                folder=options["folder"],
                actor="system:command",
                reason=options["reason"],
                now=clock.now(),
            )
        except GolemError as error:
            raise CommandError(error.detail) from error
        self.stdout.write(
            f"{done.documents} documents, {done.heuristics} heuristics and {done.strategies} strategies changed"
        )


def _find_golem(text: str) -> UUID:
    rows = Golem.objects.filter(name=text)
    try:
        rows = rows | Golem.objects.filter(pk=UUID(text))
    except ValueError:
        pass
    found = list(rows.values_list("pk", flat=True)[:2])
    if len(found) != 1:
        raise CommandError(f"no single golem is called {text!r}; give its id")
    golem_id: UUID = found[0]
    return golem_id
