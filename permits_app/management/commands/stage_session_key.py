"""`manage.py stage_session_key`: make the key that a golem's owners appoint in its cage, and say how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from archetypes_app.models import Golem
from permits_app.actions.stage_key import stage_key
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class _StagingOptions:
    """For which golem, and why."""

    golem: str
    reason: str


class Command(BaseCommand):
    """The key stays in this server's keystore. It has no rights until the owners of the Safe appoint it."""

    help = "Make, or show, the staged session key of a golem."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which golem and why."""
        parser.add_argument("golem", help="its id, or its name when only one golem has it")
        parser.add_argument(
            "--reason", default="a session key asked for on the command line", help="why, for the audit log"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django hands on what it parsed
        """Stage it and print its address."""
        given = read_stored(_StagingOptions, options)
        golem = self._find(given.golem)
        try:
            key = stage_key(golem=golem, reason=given.reason, actor="system:command", now=clock.now())
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from None
        self.stdout.write(key.address)
        self.stderr.write(
            "It has no rights yet. Its owners appoint it in the cage (setSession, on the golem's page under its cage), "
            "then choose the Safe behind the cage as the golem's wallet. It pays gas from its own coins: send it some."
        )

    def _find(self, wanted: str) -> Golem:
        try:
            found = list(Golem.objects.filter(pk=UUID(wanted)))
        except ValueError:
            found = list(Golem.objects.filter(name=wanted))
        if len(found) != 1:
            raise CommandError(f"{len(found)} golems are called {wanted!r}; give an id")
        return found[0]
