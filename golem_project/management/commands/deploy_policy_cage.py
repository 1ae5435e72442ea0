"""`manage.py deploy_policy_cage GOLEM`: put a golem's policy into a PolicyCage contract, or follow one that is there.

The server holds no owner key. What it can do by itself is the local chain, where the world's deployer pays; anywhere
else it writes the transactions for the owner's own wallet, and `--register` follows the contract once it is deployed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from archetypes_app.models import Golem
from golem_project.cage_set_up.deployment import (
    ASK_TO_ENABLE,
    BUDGET_MS,
    deploy_locally,
    follow,
    plan_owner_transactions,
    tell_left_out,
)
from golem_project.embedded.world.accounts import CHAIN_ID
from permits_app.models import CageMirror
from permits_app.policy_cage.abi import PUBLISHED
from permits_app.policy_cage.safe_tx import ENABLE_MODULE, NONCE, SafeTx, build_typed_data
from tools_app import runner
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError


class Command(BaseCommand):
    help = "Deploy a golem's policy as a PolicyCage contract, or register one that was deployed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("golem", help="the golem's name or id")
        parser.add_argument("--account", help="the Safe that holds the funds; in development a plain account")
        parser.add_argument("--high-water-mark-usd", default="", help="dollars from which a drawdown is measured")
        parser.add_argument("--guardian", help="an address that may halt the cage, and nothing else")
        parser.add_argument(
            "--valuer", action="append", default=[], help="a valuer that is deployed already; may be said several times"
        )
        parser.add_argument(
            "--out", type=Path, help="write the owner's transactions to this file instead of the screen"
        )
        parser.add_argument("--send-locally", metavar="RPC_URL", help="deploy on the local chain (31337) and follow it")
        parser.add_argument("--register", metavar="CONTRACT", help="follow this contract")
        parser.add_argument("--deployed-block", type=int, default=0, help="the block that holds its deployment")

    def handle(self, *args: object, **options: Any) -> None:  # Any: each option has a type of its own
        try:
            self._run(find_golem(options["golem"]), options)
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error

    def _run(self, golem: Golem, options: dict[str, Any]) -> None:  # Any: each option has a type of its own
        if options["register"]:
            mirror = follow(golem, options["register"], options["deployed_block"])
            self.stdout.write(describe(mirror))
            self._offer_to_enable(mirror)
            return
        if not options["account"] or not options["high_water_mark_usd"]:
            raise CommandError("--account and --high-water-mark-usd are needed to deploy")
        chain = runner.open_reader(golem.home_chain_id, now=clock.now(), deadline=Deadline.after_ms(BUDGET_MS))
        if options["send_locally"]:
            if golem.home_chain_id != CHAIN_ID:
                raise CommandError(f"the server sends nothing on chain {golem.home_chain_id}; leave --send-locally out")
            contract, block, left_out = deploy_locally(golem, chain, options)
            mirror = follow(golem, contract, block)
            self.stdout.write(describe(mirror))
            if left_out:
                self.stdout.write(tell_left_out(left_out))
            self._offer_to_enable(mirror)
            return
        text = json.dumps(plan_owner_transactions(golem, chain, options), indent=2) + "\n"
        if options["out"]:
            options["out"].write_text(text)
            self.stdout.write(f"the owner's transactions are in {options['out']}")
        else:
            self.stdout.write(text)
        self._tell_of_the_local_chain(golem)

    def _tell_of_the_local_chain(self, golem: Golem) -> None:
        """On the local chain nobody has to send anything by hand."""
        urls = settings.GOLEM_RPC_URLS.get(CHAIN_ID)
        if golem.home_chain_id == CHAIN_ID and urls:
            self.stderr.write(f"on the local chain the same command sends it itself with: --send-locally {urls[0]}")

    def _offer_to_enable(self, mirror: CageMirror) -> None:
        """What the owners sign so that the Safe lets the cage act, and where; nothing for a plain account."""
        chain = runner.open_reader(mirror.chain_id, now=clock.now(), deadline=Deadline.after_ms(BUDGET_MS))
        if mirror.is_enforced or not chain.code(mirror.account):
            return
        [nonce] = chain.call(mirror.account, NONCE)
        tx = SafeTx(to=mirror.account, data=encode_call(ENABLE_MODULE, mirror.contract), nonce=nonce)
        typed = build_typed_data(tx, safe=mirror.account, chain_id=mirror.chain_id)
        for name, (digest, _) in PUBLISHED.items():
            self.stdout.write(f"code of {name}, as published: {digest}")
        page = reverse("admin:archetypes_app_golem_cage", args=[mirror.cage.golem_id])
        self.stdout.write(f"{ASK_TO_ENABLE.format(page=page)}; what they sign there:")
        self.stdout.write(json.dumps(typed, indent=2))


def find_golem(text: str) -> Golem:
    """By name, or by id. Raises CommandError."""
    found = [golem for golem in Golem.objects.all() if text in (golem.name, str(golem.pk))]
    if len(found) != 1:
        raise CommandError(f"{len(found)} golems are called {text!r}")
    return found[0]


def describe(mirror: CageMirror) -> str:
    """One line for the person at the terminal."""
    word = "enforced on chain" if mirror.is_enforced else "NOT enforced on chain: the account does not act through it"
    return f"{mirror.contract} follows block {mirror.block_number}: {word}"
