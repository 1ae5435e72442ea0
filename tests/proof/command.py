"""`python -m tests.proof`: run the long proofs, resuming where an interrupted run stopped; var/proof.json."""

from __future__ import annotations

from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from golem_project.runtime.redacted_reports import say
from tests.proof.registry import PROOFS, Progress, choose_proofs, load_proofs, load_rows


class Command(BaseCommand):
    help = "Run the long proofs with fixed seeds; an interrupted run resumes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", default="", help="proofs by name, `a|b` for both")
        parser.add_argument("--rounds", type=int, default=0, help="fewer rounds than the full proof")
        parser.add_argument("--restart", action="store_true", help="forget the progress of earlier runs")

    def handle(self, *args: Any, **options: Any) -> None:
        # Throw-away servers are empty; on real ones both change nothing.
        call_command("migrate", verbosity=0)
        call_command("sync_builtins", stdout=StringIO())
        load_proofs()
        path = settings.GOLEM_REPORT_DIR / "proof.json"
        rows = {} if options["restart"] else load_rows(path)
        try:
            chosen = choose_proofs(options["only"], PROOFS)
        except ValueError as error:
            raise CommandError(str(error)) from None
        failed = []
        for item in (PROOFS[one] for one in chosen):
            rounds = options["rounds"] or item.rounds
            before = rows.get(item.id, {})
            progress = Progress(
                id=item.id,
                what=item.what,
                rounds=rounds,
                path=path,
                done=min(int(before.get("done", 0)), rounds),
                findings=list(before.get("findings", [])),
                notes=list(before.get("notes", [])),
                figures=dict(before.get("figures", {})),
            )
            self.stdout.write(f"{item.id}: {item.what} ({progress.done} of {rounds} rounds done)")
            item.run(progress)
            progress.save()
            for line in (*progress.notes, *progress.findings):
                self.stdout.write(f"  {say(line)}")
            if progress.findings:
                failed.append(item.id)
        if failed:
            raise CommandError(f"findings in {', '.join(failed)}; see {path}")
