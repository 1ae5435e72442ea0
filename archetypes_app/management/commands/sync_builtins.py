"""`manage.py sync_builtins`: write the built-in profiles and archetypes, the groups, and which tools are served."""

from __future__ import annotations

import json
from dataclasses import asdict

from django.core.management.base import BaseCommand, CommandParser

from archetypes_app.actions.freeze_registry import freeze_registry
from archetypes_app.actions.sync_builtins import SyncReport, sync_builtins
from archetypes_app.owner_group import ensure_member_group, ensure_owner_group
from archetypes_app.stored_delegation_graph import find_stored_violations
from tools_app.core import clock


class Command(BaseCommand):
    help = "Create missing built-in profiles and archetypes, update unedited ones, report those that were edited here."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="the report as JSON")

    def handle(self, *args: object, **options: object) -> None:
        ensure_owner_group()
        ensure_member_group()
        report = sync_builtins()
        freeze_registry(now=clock.now())
        violations = find_stored_violations()
        if options["json"]:
            content = {**asdict(report), "violations": [error.as_problem() for error in violations]}
            self.stdout.write(json.dumps(content, indent=2))
            return
        self._tell(report)
        for error in violations:
            self.stderr.write(self.style.WARNING(f"delegation: {error.detail}"))

    def _tell(self, report: SyncReport) -> None:
        self.stdout.write(f"{len(report.created)} built-in rows created, {len(report.updated)} updated")
        for difference in report.differing:
            self.stdout.write(f"left as edited: {difference}")
