"""`manage.py make_local_safe`: a Safe of the owners named, on the local chain, with funds to try custody with."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.fund import find_owner, fund, send, token_addresses
from golem_project.embedded.world.node import CHAIN_ID
from golem_project.embedded.world.rpc import JsonRpc, checksum
from permits_app.policy_cage.safe_tx import CREATE_PROXY, encode_setup
from tools_app.chain.abi import encode_call
from tools_app.chain.chains import get_deployment

_CREATION_GAS = 1_000_000
# One WETH and one ether are 23 % of it: under the 30 % that a cage lets one asset be unless it says otherwise.
_FUNDS = {"USDC": 20_000 * 10**6, "WETH": 10**18}
_WEI = 10**18


class Command(BaseCommand):
    """The keys of its owners stay where they are: only their addresses are told here."""

    help = "Make a Safe on the local chain (31337) and give it USDC, WETH and a coin."

    def add_arguments(self, parser: CommandParser) -> None:
        """Who owns it."""
        parser.add_argument("--owner", action="append", required=True, help="an address; once for each owner")
        parser.add_argument("--threshold", type=int, default=1, help="how many of them sign")

    def handle(self, *args: Any, **options: Any) -> None:
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


def make_safe(url: str, owners: list[str], threshold: int) -> str:
    """The address of a new Safe with funds. Raises EmbeddedError."""
    contracts = get_deployment(CHAIN_ID).contracts
    setup = encode_setup(owners, threshold=threshold, fallback_handler=contracts["safe_fallback_handler"])
    data = encode_call(CREATE_PROXY, contracts["safe"], setup, secrets.randbits(64))
    node = JsonRpc(url)
    try:
        payer = find_owner(node, token_addresses())
        tx_hash = send(node, payer, contracts["safe_proxy_factory"], "0x" + data.hex(), gas=_CREATION_GAS)
        logs = node.call("eth_getTransactionReceipt", tx_hash)["logs"]
        made = next(log for log in logs if checksum(log["address"]) == contracts["safe_proxy_factory"])
        safe = checksum("0x" + made["topics"][1][-40:])
        fund(node, safe, _WEI, _FUNDS)
    finally:
        node.close()
    return safe
