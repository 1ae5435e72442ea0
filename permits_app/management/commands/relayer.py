"""`manage.py relayer`: the key that pays for gas and can do nothing else; make it, or see what it may still spend."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError, CommandParser

from permits_app import gas_relayer
from tools_app.core.errors import GolemError


class Command(BaseCommand):
    """The key lies in the server's keystore. Send it a little of the chain's coin, never more than you would lose."""

    help = "Make the relayer's key (--create), or print its address."

    def add_arguments(self, parser: CommandParser) -> None:
        """What to do."""
        parser.add_argument("--create", action="store_true", help="make a key and use it from now on")

    def handle(self, *args: object, **options: object) -> None:
        """Make or show."""
        try:
            if options["create"]:
                self.stdout.write(f"made {gas_relayer.create_relayer()}; send it coins for gas")
                return
            signer = gas_relayer.open_relayer()
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error
        self.stdout.write(signer.address)
