"""`manage.py events_page`: write docs/events.md from the schemas."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from golem_project.settings.environment import BASE_DIR
from golem_project.stream.documentation import write_page

PAGE = BASE_DIR / "docs" / "events.md"


class Command(BaseCommand):
    """Writes the page."""

    help = "Write docs/events.md from the schemas of the events."
    requires_system_checks: list[str] = []

    def handle(self, *args: object, **options: object) -> None:
        PAGE.write_text(write_page(), encoding="utf-8")
        self.stdout.write(f"wrote {PAGE.relative_to(BASE_DIR)}")
