"""`manage.py name_place PROTOCOL CHAIN ADDRESS`: what the chain tells of a market that is on no list, and its line.

The line goes into GOLEM_NAMED_PLACES of every machine of the server; whoever puts it there trusts what is named.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Final

from django.core.management.base import BaseCommand, CommandError
from eth_utils.address import is_address

from tools_app.chain.abi import checksum
from tools_app.chain.chains import open_reader
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.toolkit.protocol import SHELF

_MOST_MS: Final = 30_000


class Command(BaseCommand):
    """Asks the chain about a place, and writes the line by which the server knows it."""

    help = "What a chain tells of a market that no list of its makers names, and the line that makes it known here."

    def add_arguments(self, parser: ArgumentParser) -> None:
        able = sorted(each.name for each in SHELF if each.naming is not None)
        parser.add_argument("protocol", choices=able, help="whose market it is")
        parser.add_argument("chain", type=int, help="the chain's number")
        parser.add_argument("address", help="the 0x-prefixed address of the market")

    def handle(self, *args: object, protocol: str, chain: int, address: str, **options: object) -> None:
        """Raises CommandError with the reason where it is nothing that could be named."""
        found = SHELF.get(protocol)
        if found is None or found.naming is None or not is_address(address):
            raise CommandError(f"{address} is no address")
        try:
            reader = open_reader(chain, now=clock.now(), deadline=Deadline.after_ms(_MOST_MS))
            told = found.naming(reader, checksum(address))
        except GolemError as error:
            raise CommandError(error.detail) from error
        for sentence in told.about:
            self.stderr.write(f"- {sentence}")
        self.stdout.write(f"GOLEM_NAMED_PLACES={protocol}:{chain}={told.text}")
