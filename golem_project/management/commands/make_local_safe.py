"""`manage.py make_local_safe`: a Safe of the owners named, on the local chain, with funds to try custody with."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from golem_project.cage_set_up.local_safe import make_safe
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.node import CHAIN_ID
from golem_project.embedded.world.rpc import checksum


class Command(BaseCommand):
    """The keys of its owners stay where they are: only their addresses are told here."""

    help = "Make a Safe on the local chain (31337) and give it USDC, WETH and a coin."

    def add_arguments(self, parser: CommandParser) -> None:
        """Who owns it."""
        parser.add_argument("--owner", action="append", required=True, help="an address; once for each owner")
        parser.add_argument("--threshold", type=int, default=1, help="how many of them sign")

    def handle(self, *args: object, **options: Any) -> None:  # Any: each option has a type of its own
        """Make it, fund it, print its address."""
        urls = settings.GOLEM_RPC_URLS.get(CHAIN_ID)
        if not urls:
            raise CommandError("no local chain is running; `make run` starts one")
        try:
            owners = [checksum(owner) for owner in options["owner"]]
        except ValueError as error:
            raise CommandError(f"an owner is an address: {error}") from None
        if not 1 <= options["threshold"] <= len(owners) or len(set(owners)) < len(owners):
            raise CommandError("the threshold is at least 1 and at most the number of different owners")
        try:
            self.stdout.write(make_safe(urls[0], owners, options["threshold"]))
        except EmbeddedError as error:
            raise CommandError(str(error)) from None
