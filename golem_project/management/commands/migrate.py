"""Django's `migrate`, which asks first for what it cannot make itself: half a schema is worse than none."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS

from golem_project.doctor.database import look_at_extension
from golem_project.doctor.findings import Health


class Command(migrate.Command):
    """The extension for vectors needs a superuser once, on servers that do not trust it to others."""

    def handle(self, *args: object, **options: object) -> Any:  # Any: as Django's own command has it
        """Refuse before anything is applied, or go on as Django does."""
        if options["database"] == DEFAULT_DB_ALIAS and not (options["plan"] or options["check_unapplied"]):
            extension = look_at_extension()
            if extension.verdict is Health.BAD:
                raise CommandError(f"nothing was applied: pgvector {extension.words}. Fix: {extension.to_do}")
        return super().handle(*args, **options)
