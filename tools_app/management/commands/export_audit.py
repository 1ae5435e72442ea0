"""`manage.py export_audit GOLEM FILE`: the golem's audit chain as a file that `verify_audit --file` checks alone."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tools_app.core import clock
from tools_app.core.audit_archives import AuditArchiveBroken
from tools_app.core.audit_checkpoints import tell_broken
from tools_app.core.audit_export import export_chain


class Command(BaseCommand):
    help = "Write a golem's audit chain with its signed checkpoints to a new file of JSON lines."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("golem", type=UUID, help="its id")
        parser.add_argument("file", type=Path, help="a file that is not there yet")

    def handle(self, *args: object, golem: UUID, file: Path, **options: object) -> None:
        try:
            count = export_chain(golem_id=golem, path=file, now=clock.now())
        except FileExistsError:
            raise CommandError(f"{file} exists; an export is never overwritten") from None
        except AuditArchiveBroken as error:
            raise CommandError(tell_broken(error)) from None
        self.stdout.write(f"{count} entries written to {file}")
