"""`manage.py own_tools check | list | import | export`: tools that owners bring, as files. Nothing is approved here."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from permits_app.actions.bring_definition import check_texts
from permits_app.actions.move_definitions import export_definitions, import_definitions, read_tool_files
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.models import ToolDefinition
from tools_app.sandbox.compiling import hash_module
from tools_app.sandbox.definition import read_definition
from tools_app.sandbox.owner_toml_definition import read_written


class Command(BaseCommand):
    """Commands about tools that owners bring."""

    help = "Check, list, import or export tools that owners bring, as TOML with a module beside it where there is one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="what", required=True)
        check = commands.add_parser("check", help="read and screen a definition; nothing is stored")
        check.add_argument("files", type=Path, nargs="+", help="definitions in TOML")
        listing = commands.add_parser("list", help="every version, and for how many golems it is approved")
        listing.add_argument("--owner", required=True, help="user name")
        bring = commands.add_parser("import", help="store definitions for an owner, who approves them in the admin")
        bring.add_argument("files", type=Path, nargs="+", help="definitions in TOML")
        bring.add_argument("--owner", required=True, help="user name")
        export = commands.add_parser("export", help="write an owner's newest versions as files")
        export.add_argument("folder", type=Path, help="where the files are written")
        export.add_argument("--owner", required=True, help="user name")

    def handle(self, *args: object, **options: Any) -> None:  # Any: each option has a type of its own
        commands: dict[str, Callable[..., None]] = {
            "check": self._check,
            "list": self._list,
            "import": self._import,
            "export": self._export,
        }
        try:
            commands[options["what"]](**options)
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from None
        except OSError as error:
            raise CommandError(str(error)) from None

    def _check(self, *, files: list[Path], **_: object) -> None:
        for path in files:
            text, module = read_tool_files(path)
            told = read_written(text) if module is None else read_definition(text, module_sha256=hash_module(module))
            check_texts(told)
            self.stdout.write(f"{told.name}: {told.hash}")

    def _list(self, *, owner: str, **_: object) -> None:
        for row in ToolDefinition.objects.filter(owner=_find_person(owner)).order_by("name", "version"):
            approved = row.approvals.filter(revoked_at__isnull=True).count()
            self.stdout.write(f"{row.name:<40} version {row.version:<4} approved for {approved} golems")

    def _import(self, *, files: list[Path], owner: str, **_: object) -> None:
        for row in import_definitions(owner=_find_person(owner), paths=files, now=clock.now()):
            self.stdout.write(f"{row.name} version {row.version}: {row.definition_hash}; approve it in the admin")

    def _export(self, *, folder: Path, owner: str, **_: object) -> None:
        for path in export_definitions(owner=_find_person(owner), folder=folder):
            self.stdout.write(str(path))


def _find_person(name: str) -> Any:  # Any: which model accounts have is a setting
    person = get_user_model()._default_manager.filter(username=name).first()
    if person is None:
        raise CommandError(f"there is no user {name!r}")
    return person
