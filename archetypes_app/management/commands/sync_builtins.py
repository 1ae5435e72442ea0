"""`manage.py sync_builtins`: write the built-in profiles and archetypes; safe to repeat."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from archetypes_app.actions.sync_builtins import sync_builtins


class Command(BaseCommand):
    help = "Create missing built-in profiles and archetypes; report those that were changed here."

    def handle(self, *args: Any, **options: Any) -> None:
        report = sync_builtins()
        self.stdout.write(f"{len(report.created)} built-in rows created")
        for name in report.differing:
            self.stdout.write(f"left as changed here: {name}")
