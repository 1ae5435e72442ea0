"""`python -m tests.bench`: measure what the project promises; a table, and var/bench.json."""

from __future__ import annotations

import logging
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from golem_project.runtime.redacted_reports import say, write_report
from tests.bench.figures import MEASURES, Figure, load_measures

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Measure every promise, or the topics and figures whose id starts with --only."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", default="", help="a topic, or the beginning of a figure's id")
        parser.add_argument("--json", type=Path, default=settings.GOLEM_REPORT_DIR / "bench.json")

    def handle(self, *args: Any, **options: Any) -> None:
        # Throw-away servers are empty; on real ones both change nothing.
        call_command("migrate", verbosity=0)
        call_command("sync_builtins", stdout=StringIO())
        load_measures()
        only = options["only"]
        topics = [topic for topic in MEASURES if only.startswith(topic) or topic.startswith(only)]
        if not topics:
            raise CommandError(f"nothing is measured under {only!r}; topics: {', '.join(sorted(MEASURES))}")
        figures: list[Figure] = []
        failures: list[str] = []
        for topic in topics:
            self.stderr.write(f"measuring {topic} …")
            try:
                for figure in MEASURES[topic]():
                    if figure.id.startswith(only) or only == topic:
                        figures.append(figure)
            except Exception as error:
                # What was measured before and what comes after is worth its report all the same.
                logger.exception("the measure of %s ended early", topic)
                failures.append(f"{topic} ({type(error).__name__})")
        write_report(options["json"], [figure.as_dict() for figure in figures])
        Console(highlight=False).print(_draw(figures))
        missed = [figure.id for figure in figures if not figure.ok]
        wrong = [f"over target: {', '.join(missed)}"] if missed else []
        wrong += [f"ended early: {', '.join(failures)}"] if failures else []
        if wrong:
            raise CommandError("; ".join(wrong))


def _draw(figures: list[Figure]) -> Table:
    table = Table(title="Figures of this run")
    for column in ("id", "what", "value", "target", "kept", "reference in the same run"):
        table.add_column(column, justify="right" if column in ("value", "target") else "left")
    for figure in figures:
        bound = "" if figure.target is None else f"{'≥' if figure.at_least else '≤'} {figure.target:g} {figure.unit}"
        kept = "" if figure.target is None else "[green]yes[/]" if figure.ok else "[red]no[/]"
        table.add_row(figure.id, figure.what, f"{figure.value:g} {figure.unit}", bound, kept, say(figure.reference))
    return table
