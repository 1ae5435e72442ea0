"""`manage.py verify_audit [GOLEM]`: re-hash every entry from the first on; names the first broken row."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tools_app.core.audit_checkpoints import ChainReport, verify_stored_chain
from tools_app.core.audit_export import verify_file
from tools_app.core.models import AuditHead


class Command(BaseCommand):
    help = "Verify the audit chain of one golem, of all, or of an exported file; fails at the first broken row."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("golem", nargs="?", type=UUID, help="a golem's id; without it every chain")
        parser.add_argument("--file", type=Path, help="an export of `export_audit`; needs no database")
        parser.add_argument("--key", help="the public key (hex) that must have signed the file's checkpoints")

    def handle(self, *args: object, golem: UUID | None, file: Path | None, key: str | None, **options: object) -> None:
        if file is not None:
            self._tell(str(file), verify_file(file, trusted_key=key))
            return
        golems = [golem] if golem else list(AuditHead.objects.order_by("golem_id").values_list("golem_id", flat=True))
        broken = [pk for pk in golems if not self._tell(str(pk), verify_stored_chain(pk), stop=False)]
        if broken:
            raise CommandError(f"{len(broken)} of {len(golems)} chains are broken")

    def _tell(self, name: str, report: ChainReport, *, stop: bool = True) -> bool:
        if report.broken is None:
            keys = f", signed by {', '.join(key[:16] for key in report.public_keys)}…" if report.public_keys else ""
            self.stdout.write(f"{name}: {report.entries} entries hold, {report.checkpoints} checkpoints{keys}")
            return True
        text = f"{name}: broken at entry {report.broken.seq}: {report.broken.reason}"
        if stop:
            raise CommandError(text)
        self.stderr.write(text)
        return False
