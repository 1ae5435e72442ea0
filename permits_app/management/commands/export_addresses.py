"""`manage.py export_addresses`: every account, cage and key of the golems, as CSV or JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from archetypes_app.models import Golem
from permits_app.custody.signer_addresses import list_addresses, write_csv
from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class _ExportOptions:
    """One golem or all, CSV or JSON."""

    golem: str | None
    json: bool


class Command(BaseCommand):
    """Reads rows only: it needs neither node nor keystore, and shows no key."""

    help = "Write the addresses of every golem, or of one: accounts, cages, and keys with their state."

    def add_arguments(self, parser: CommandParser) -> None:
        """One golem or all, CSV or JSON."""
        parser.add_argument("golem", nargs="?", help="id or name of one golem")
        parser.add_argument("--json", action="store_true", help="JSON instead of CSV")

    def handle(self, *args: object, **options: Any) -> None:  # Any: Django hands on what it parsed
        """Write them."""
        given = read_stored(_ExportOptions, options)
        rows = list_addresses(self._choose(given.golem))
        self.stdout.write(json.dumps(rows, indent=2) if given.json else write_csv(rows), ending="")

    def _choose(self, wanted: str | None) -> list[Golem]:
        golems = Golem.objects.order_by("name", "pk")
        if wanted is None:
            return list(golems)
        try:
            found = list(golems.filter(pk=UUID(wanted)))
        except ValueError:
            found = list(golems.filter(name=wanted))
        if not found:
            raise CommandError(f"there is no golem {wanted!r}")
        return found
