"""`manage.py deploy_loan_callback GOLEM`: what the owners of a golem's Safe sign so that it can act within flash loans.

The server holds no owner key: it writes the transactions for the owners' wallets. Only the local chain's deployer pays
for anything by itself. Decision: docs/decisions/0155-flash-loans-what-happens-within-stands-in-the-plan.md.
"""

from __future__ import annotations

import json
from dataclasses import replace

from django.core.management.base import BaseCommand, CommandError, CommandParser

from golem_project.cage_set_up.deployment import BUDGET_MS, create
from golem_project.embedded.world.accounts import CHAIN_ID
from golem_project.embedded.world.rpc import JsonRpc, checksum
from golem_project.embedded.world.solidity import load_contract
from golem_project.management.commands.deploy_policy_cage import find_golem
from permits_app.policy_cage.safe_fallback import plan_closing, read_opening, say_opening
from permits_app.policy_cage.safe_tx import ENABLE_MODULE, NONCE, SET_HANDLER, SafeTx, build_typed_data
from tools_app import runner
from tools_app.chain.abi import encode_call
from tools_app.chain.running_code import hash_code
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.standards.loan_callback import CODE_HASH, HANDLER_SLOT
from tools_app.toolkit.context import ChainReader


class Command(BaseCommand):
    help = "Deploy LoanCallback, or write what the owners of a golem's Safe sign to use one that is deployed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("golem", help="the golem's name or id")
        parser.add_argument("--contract", help="a LoanCallback that is deployed already; anybody's will do")
        parser.add_argument("--send-locally", metavar="RPC_URL", help="deploy on the local chain (31337)")

    def handle(
        self, *args: object, golem: str, contract: str | None, send_locally: str | None, **options: object
    ) -> None:
        try:
            found = find_golem(golem)
            if send_locally:
                contract = deploy_locally(found.home_chain_id, send_locally)
            chain = runner.open_reader(found.home_chain_id, now=clock.now(), deadline=Deadline.after_ms(BUDGET_MS))
            told = plan_owner_transactions(chain, found.address or "", contract)
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error
        self.stdout.write(json.dumps(told, indent=2))


def deploy_locally(chain_id: int, rpc_url: str) -> str:
    """Deploy on the local chain, paid by the world's deployer. Raises CommandError for any other chain."""
    rpc = JsonRpc(rpc_url)
    try:
        if chain_id != CHAIN_ID or int(rpc.call("eth_chainId"), 16) != CHAIN_ID:
            raise CommandError(f"the server sends nothing on chain {chain_id}; leave --send-locally out")
        return create(rpc, bytes.fromhex(load_contract("LoanCallback").bytecode[2:]))[0]
    finally:
        rpc.close()


def plan_owner_transactions(chain: ChainReader, safe: str, contract: str | None) -> dict[str, object]:
    """What anybody's wallet sends first, or what the owners of `safe` sign, one after the other.

    Raises CommandError for an account that is no Safe and for a contract of other code, and what the chain raises.
    """
    if not safe or not chain.code(safe):
        raise CommandError("the golem's account is no Safe; docs/how-to/choose-who-signs.md tells how it gets one")
    if contract is None:
        data = load_contract("LoanCallback").bytecode
        return {"chain_id": chain.chain_id, "deploy": {"data": data}, "then": "run this again with --contract ADDRESS"}
    address = checksum(contract)
    if hash_code(chain.code(address)) != CODE_HASH:
        raise CommandError(f"the code at {address} is not that of LoanCallback")
    [nonce] = chain.call(safe, NONCE)
    old = checksum(f"0x{chain.slot(safe, HANDLER_SLOT) % 2**160:040x}")
    openings = read_opening(chain, safe)
    # What lets strangers act comes out first; its handler is replaced by the one that is set.
    closing = plan_closing(chain, safe, replace(openings, handler=""))
    calls = (*(call.data for call in closing), encode_call(SET_HANDLER, address), encode_call(ENABLE_MODULE, address))
    return {
        "chain_id": chain.chain_id,
        "contract": address,
        "replaces_handler": old,
        **({"danger": say_opening(safe, openings)} if openings else {}),
        "owners_sign": [
            build_typed_data(SafeTx(to=safe, data=data, nonce=nonce + place), safe=safe, chain_id=chain.chain_id)
            for place, data in enumerate(calls)
        ],
        "then": "list the contract on the golem's allowlist; with it as handler the Safe signs nothing in its own name"
        " (EIP-1271)",
    }
