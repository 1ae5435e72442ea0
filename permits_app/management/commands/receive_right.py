"""`manage.py receive_right`: bring in what an owner's wallet granted to a golem, and say what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from archetypes_app.models import Golem
from permits_app.actions.receive_grant import receive_grant
from permits_app.pages.right_lines import say_most
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class _RightOptions:
    """For which golem, where, and the grant."""

    golem: str
    protocol: str
    context: str
    chain: int | None


class Command(BaseCommand):
    """What is granted is read from the grant's own caveats, and its contracts are asked whether it stands."""

    help = "Write a right that an owner granted (a permission context) into a golem's book."

    def add_arguments(self, parser: CommandParser) -> None:
        """For which golem, where, and the grant."""
        parser.add_argument("golem", help="its id, or its name when only one golem has it")
        parser.add_argument("protocol", help="whose grant it is, as its tools begin")
        parser.add_argument("context", help="0x-hex, as the wallet answered it")
        parser.add_argument("--chain", type=int, default=None, help="chain id; the golem's home chain unless told")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django hands on what it parsed
        """Receive it and print whose money it is, how much, and until when."""
        given = read_stored(_RightOptions, options)
        golem = self._find(given.golem)
        try:
            right = receive_grant(
                golem=golem,
                protocol=given.protocol,
                chain_id=given.chain or golem.home_chain_id,
                given=given.context,
                actor="system:command",
                now=clock.now(),
            )
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from None
        self.stdout.write(
            f"{right.reference}: {say_most(right)} of {right.principal}, until {right.ends_at.isoformat()}"
        )
        self.stderr.write("Who gave it takes it back at its contract, with the wallet that signed it.")

    def _find(self, wanted: str) -> Golem:
        try:
            found = list(Golem.objects.filter(pk=UUID(wanted)))
        except ValueError:
            found = list(Golem.objects.filter(name=wanted))
        if len(found) != 1:
            raise CommandError(f"{len(found)} golems are called {wanted!r}; give an id")
        return found[0]
