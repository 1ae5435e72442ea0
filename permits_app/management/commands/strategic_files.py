"""`manage.py strategic_files export|import GOLEM FOLDER`: PLAYBOOK, STRATEGY, heuristics and strategies as files.

Strategies are confidential: an export is signed for by somebody who decides for the golem, with a code of their
authenticator, and stands in the golem's audit log.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import Golem
from archetypes_app.ownership import has_power
from archetypes_app.roles import Power
from memory_app.strategy_files import export_files, import_files
from permits_app.approvals.second_factor import check_code
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class _FileOptions:
    """What is copied where, and who signs for it."""

    direction: str
    golem: str
    folder: Path
    reason: str
    owner: str | None
    code: str | None


class Command(BaseCommand):
    help = "Write a golem's strategic store to files, or read them back. Unchanged files change nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("direction", choices=["export", "import"], help="to files, or back from them")
        parser.add_argument("golem", help="its id or its name")
        parser.add_argument("folder", type=Path, help="where the files are")
        parser.add_argument("--reason", default="read back from files", help="why they are read back, kept with them")
        parser.add_argument("--owner", help="whose account signs for an export")
        parser.add_argument("--code", help="what their authenticator shows now, instead of typing it when asked")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django hands on what it parsed
        given = read_stored(_FileOptions, options)
        golem_id = _find_golem(given.golem)
        if given.direction == "export":
            actor = _sign(golem_id, given.owner, given.code)
            files = export_files(golem_id=golem_id, folder=given.folder, actor=actor, now=clock.now())
            for path in files:
                self.stdout.write(str(path))
            return
        try:
            done = import_files(
                golem_id=golem_id,
                folder=given.folder,
                actor="system:command",
                reason=given.reason,
                now=clock.now(),
            )
        except GolemError as error:
            raise CommandError(error.detail) from error
        self.stdout.write(
            f"{done.documents} documents, {done.heuristics} heuristics and {done.strategies} strategies changed"
        )


def _sign(golem_id: UUID, name: str | None, code: str | None) -> str:
    """Who signs for the export, as the audit log names them; the code is used up."""
    if not name:
        raise CommandError("an export holds strategies; somebody who decides for the golem signs for it: --owner NAME")
    owner = get_user_model()._default_manager.filter(username=name).first()
    if owner is None or not has_power(Golem.objects.get(pk=golem_id), owner, Power.DECIDE):
        raise CommandError(f"no account {name!r} decides for this golem")
    try:
        check_code(
            user=owner, code=code if code is not None else input("Code of your authenticator: "), now=clock.now()
        )
    except GolemError as error:
        raise CommandError(error.detail) from error
    return name_actor(owner)


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
