"""`manage.py docs_pages FOLDER`: write docs/ as static HTML pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from golem_project.help.static_pages import write_pages
from golem_project.settings.environment import BASE_DIR


class Command(BaseCommand):
    """Writes the pages."""

    help = "Write docs/ as static HTML pages."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", nargs="?", type=Path, default=BASE_DIR / "var" / "docs", help="where they are written"
        )

    def handle(self, *args: object, **options: Any) -> None:  # Any: each option has a type of its own
        pages = write_pages(options["folder"])
        self.stdout.write(f"wrote {len(pages)} pages; begin with {options['folder'] / 'index.html'}")
