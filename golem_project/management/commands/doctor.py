"""`manage.py doctor`: what of this deployment is as it has to be, and what to do where it is not."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from golem_project.doctor.findings import Health
from golem_project.doctor.run_examinations import examine
from tools_app.core import clock

_MARKS = {Health.GOOD: "ok  ", Health.DOUBTFUL: "note", Health.BAD: "BAD "}


class Command(BaseCommand):
    """Changes nothing. It ends with 1 where something is bad, and asks each server with a time limit."""

    help = "Look at versions, clocks, keys, rights, extensions, the pooler, nodes, the broker and backups."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """How to tell it."""
        parser.add_argument("--json", action="store_true", help="one JSON array")
        parser.add_argument("--backups", help="the folder in which backups are made, one folder each")

    def handle(self, *args: object, **options: Any) -> None:  # Any: each option has a type of its own
        """Examine and tell."""
        findings = examine(now=clock.now(), backups=options["backups"])
        if options["json"]:
            self.stdout.write(json.dumps([finding.as_row() for finding in findings], indent=2))
        else:
            for finding in findings:
                self.stdout.write(f"{_MARKS[finding.verdict]} {finding.name}: {finding.words}")
                if finding.to_do:
                    self.stdout.write(f"       do: {finding.to_do}")
        bad = [finding.name for finding in findings if finding.verdict is Health.BAD]
        if bad:
            raise CommandError(f"not as it has to be: {', '.join(bad)}")
