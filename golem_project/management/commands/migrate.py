"""Django's `migrate`, which asks first for what it cannot make itself: half a schema is worse than none."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS

from golem_project.doctor.database import say_what_tables_lack


class Command(migrate.Command):
    """The extension for vectors needs a superuser once, on servers that do not trust it to others."""

    def execute(self, *args: Any, **options: Any) -> Any:  # Any: as Django's own command has it
        """Refuse before anything is applied, and before Django's checks, which ask the database too; or go on."""
        if options["database"] == DEFAULT_DB_ALIAS and not (options["plan"] or options["check_unapplied"]):
            lack = say_what_tables_lack()
            if lack:
                raise CommandError(f"nothing was applied: {lack}")
        return super().execute(*args, **options)
