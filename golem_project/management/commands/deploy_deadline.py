"""`manage.py deploy_deadline --chain ID`: whether what a Safe's owners sign for a plan can end by time on a chain, and
the transaction that makes it so. Anybody may send it, with any wallet; the server sends nothing.

Decision: docs/decisions/0368-safe-what-owners-sign-for-a-plan-ends.md.
"""

from __future__ import annotations

import json

from django.core.management.base import BaseCommand, CommandError, CommandParser

from golem_project.cage_set_up.deployment import BUDGET_MS
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.standards.deadline_contract import ADDRESS, CREATION_CODE, FACTORY, SALT, is_there


class Command(BaseCommand):
    help = "Say whether the contract Deadline is on a chain, and write the transaction that puts it there."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--chain", type=int, required=True, metavar="ID", help="the chain's id")

    def handle(self, *args: object, chain: int, **options: object) -> None:
        try:
            reader = runner.open_reader(chain, now=clock.now(), deadline=Deadline.after_ms(BUDGET_MS))
            found, has_factory = is_there(reader), bool(reader.code(FACTORY))
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error
        if not found and not has_factory:
            raise CommandError(f"the factory {FACTORY} is not on chain {chain}; plans do not end by time there")
        send = {"to": FACTORY, "value": "0", "data": "0x" + (SALT + CREATION_CODE).hex()}
        told = {
            "chain_id": chain,
            "address": ADDRESS,
            "is_there": found,
            **({} if found else {"send": send}),
        }
        self.stdout.write(json.dumps(told, indent=2))
