"""`manage.py deploy_policy_cage GOLEM`: put a golem's policy into a PolicyCage contract, or follow one that is there.

The server holds no owner key. What it can do by itself is the local chain, where the world's deployer pays; anywhere
else it writes the transactions for the owner's own wallet, and `--register` follows the contract once it is deployed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from archetypes_app.models import Golem
from golem_project.embedded.world.accounts import CHAIN_ID, derive_actors
from golem_project.embedded.world.ledger import GAS_LIMIT
from golem_project.embedded.world.rpc import JsonRpc, checksum
from golem_project.embedded.world.solidity import load_contract
from permits_app.actions.sync_policy_cage import register_cage
from permits_app.models import CageMirror
from permits_app.policy_cage.abi import PUBLISHED
from permits_app.policy_cage.contract import MOST_POSITIONS, encode_deployment
from permits_app.policy_cage.published import mask_immutables
from permits_app.policy_cage.safe_tx import ENABLE_MODULE, NONCE, SafeTx, build_typed_data
from permits_app.policy_cage.suggested_rules import list_subjects, suggest_rules
from tools_app import runner
from tools_app.chain.abi import encode_call, encode_constructor
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.units import usd_to_micro
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.positions import drive
from tools_app.toolkit.protocol import SHELF, Valuer

BUDGET_MS = 30_000
_SUBJECT = "function subject() view returns (address)"
DEPLOYMENT_GAS = 16_000_000
ASK_TO_ENABLE = (
    'on {page} press "Let the cage act for the Safe": its owners sign there, with their wallet or with `manage.py'
    " sign_request`, and the relayer sends it"
)
"""The one step of a deployment that needs the owners' keys."""
MOST_BYTES_OF_CREATION = 49_152
"""EIP-3860: creation code with the constructor's arguments."""


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

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._run(find_golem(options["golem"]), options)
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error

    def _run(self, golem: Golem, options: dict[str, Any]) -> None:
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


def follow(golem: Golem, contract: str, deployed_block: int) -> CageMirror:
    """Register the contract and read it."""
    return register_cage(
        golem_id=golem.pk,
        chain_id=golem.home_chain_id,
        contract=checksum(contract),
        deployed_block=deployed_block,
        now=clock.now(),
    )


def describe(mirror: CageMirror) -> str:
    """One line for the person at the terminal."""
    word = "enforced on chain" if mirror.is_enforced else "NOT enforced on chain: the account does not act through it"
    return f"{mirror.contract} follows block {mirror.block_number}: {word}"


def build_deployment(
    golem: Golem, chain: ChainReader, options: dict[str, Any], *, valuers: Mapping[str, str], left_out: Sequence[str]
) -> bytes:
    """The data of the transaction that creates the cage; `valuers` by subject. Raises what a feed raises."""
    rules = suggest_rules(
        golem=golem,
        chain=chain,
        high_water_mark_micro_usd=usd_to_micro(options["high_water_mark_usd"]),
        guardian=options["guardian"],
        valuers=valuers,
        left_out=left_out,
    )
    code = bytes.fromhex(load_contract("PolicyCage").bytecode[2:])
    base_asset = chain.token(golem.base_asset).address
    return encode_deployment(code, account=checksum(options["account"]), base_asset=base_asset, rules=rules)


def choose_left_out(golem: Golem, chain: ChainReader, options: dict[str, Any]) -> list[str]:
    """The protocols that this golem's cage begins without: no chain takes all rules in one creation, and a cage counts
    positions at so many places alone.

    Markets are kept longest, since everything is left through them; of the others the one with the most rules goes
    first. Raises CommandError where even none of them fits, and what a feed raises.
    """
    # Any address will do to measure with.
    stand_ins = {subject: subject for subject in find_valuers(golem, chain, (), left_out=())[1]}
    left: list[str] = []

    def measure(*more: str) -> int:
        return len(build_deployment(golem, chain, options, valuers=stand_ins, left_out=[*left, *more]))

    def count(*more: str) -> int:
        return len(stand_ins.keys() & set(list_subjects(golem, chain.chain_id, left_out=[*left, *more])))

    size = measure()
    while size > MOST_BYTES_OF_CREATION or count() > MOST_POSITIONS:
        kept = [each for each in SHELF.on(chain.chain_id) if each.name not in left]
        places = count()
        if places > MOST_POSITIONS:
            kept = [each for each in kept if count(each.name) < places]
        smaller = [(each.markets is not None, measure(each.name), each.name) for each in kept]
        helping = [each for each in smaller if each[1] < size]
        if not helping:
            raise CommandError(f"the rules of this golem are {size} bytes to create, and no chain takes so many")
        _, size, name = min(helping)
        left.append(name)
    return left


def find_valuers(
    golem: Golem, chain: ChainReader, given: Sequence[str], *, left_out: Sequence[str]
) -> tuple[dict[str, str], dict[str, Valuer]]:
    """Valuers that were `given`, and how those are made that are missing, both by the subject they value.

    Raises CommandError for one of other code or made of something else, PositionsUnreadable.
    """
    known = dict(SHELF.valuers_on(chain.chain_id))
    there: dict[str, str] = {}
    for address in map(checksum, given):
        [told] = chain.call_many([ReadCall(address, _SUBJECT)])
        subject = str(told.values[0]) if told.ok else ""
        valuer = known.get(subject)
        if valuer is None:
            raise CommandError(f"{address} is no valuer of anything that is known on chain {chain.chain_id}")
        check_valuer(chain, address, valuer)
        there[subject] = address
    wanted = list_subjects(golem, chain.chain_id, left_out=left_out)
    missing = (each for each in wanted if each in known and each not in there)
    return there, {subject: known[subject] for subject in missing if chain.code(subject)}


def tell_left_out(left_out: Sequence[str]) -> str:
    """What owners do about the protocols that did not fit; empty where all did."""
    if not left_out:
        return ""
    return (
        f"left out, because no chain takes all rules at once: {', '.join(left_out)}; propose their calls, spenders and"
        f" valuers on the cage's page once it stands, which counts positions at {MOST_POSITIONS} places at most"
    )


def check_valuer(chain: ChainReader, address: str, valuer: Valuer) -> None:
    """Raises CommandError for other code than ours, and for a valuer that was made of other values."""
    contract = load_contract(valuer.code)
    code = mask_immutables(chain.code(address), contract.immutables)
    if code != bytes.fromhex(contract.deployed_bytecode[2:]):
        raise CommandError(f"the code at {address} is not that of {valuer.code}")
    told = [chain.call(address, view)[0] for view in valuer.views]
    if told != list(drive(valuer.arguments(chain.chain_id), chain.call_many)):
        raise CommandError(f"the {valuer.code} at {address} was made of other values; deploy one that fits")


def build_valuer(chain: ChainReader, valuer: Valuer) -> bytes:
    """The data that creates a valuer. Raises PositionsUnreadable."""
    values = drive(valuer.arguments(chain.chain_id), chain.call_many)
    return bytes.fromhex(load_contract(valuer.code).bytecode[2:]) + encode_constructor(valuer.constructor, *values)


def plan_owner_transactions(golem: Golem, chain: ChainReader, options: dict[str, Any]) -> dict[str, Any]:
    """What the owner's wallet sends and signs; the address of the cage is known once the first is mined."""
    account = checksum(options["account"])
    left_out = choose_left_out(golem, chain, options)
    valuers, missing = find_valuers(golem, chain, options["valuer"], left_out=left_out)
    plan: dict[str, Any] = {"chain_id": chain.chain_id, "account": account}
    if missing:
        plan["deploy_valuers_first"] = [
            {"contract": valuer.code, "values": subject, "data": "0x" + build_valuer(chain, valuer).hex()}
            for subject, valuer in missing.items()
        ]
        plan["then"] = "run this again with --valuer ADDRESS for each of them"
        return plan
    data = build_deployment(golem, chain, options, valuers=valuers, left_out=left_out)
    if left_out:
        plan["left_out"] = tell_left_out(left_out)
    plan["deploy"] = {"data": "0x" + data.hex(), "gas": str(DEPLOYMENT_GAS)}
    plan["then"] = "manage.py deploy_policy_cage GOLEM --register CONTRACT --deployed-block NUMBER"
    plan["at_last"] = ASK_TO_ENABLE.format(page=reverse("admin:archetypes_app_golem_cage", args=[golem.pk]))
    return plan


def deploy_locally(golem: Golem, chain: ChainReader, options: dict[str, Any]) -> tuple[str, int, list[str]]:
    """Deploy on the local chain, paid by the world's deployer; the contract, the block it is in, what did not fit."""
    rpc = JsonRpc(options["send_locally"])
    try:
        if int(rpc.call("eth_chainId"), 16) != CHAIN_ID:
            raise CommandError(f"{options['send_locally']} is not the local chain")
        left_out = choose_left_out(golem, chain, options)
        valuers, missing = find_valuers(golem, chain, options["valuer"], left_out=left_out)
        for subject, valuer in missing.items():
            valuers[subject], _ = create(rpc, build_valuer(chain, valuer))
        contract, block = create(rpc, build_deployment(golem, chain, options, valuers=valuers, left_out=left_out))
        return contract, block, left_out
    finally:
        rpc.close()


def create(rpc: JsonRpc, data: bytes) -> tuple[str, int]:
    """Send one creation and wait; returns its address and block. Raises CommandError when it reverts."""
    deployer = derive_actors().deployer
    fields: dict[str, Any] = {
        "type": 2,
        "chainId": CHAIN_ID,
        "nonce": int(rpc.call("eth_getTransactionCount", deployer.address, "pending"), 16),
        "value": 0,
        "data": data,
        "gas": max(GAS_LIMIT, DEPLOYMENT_GAS),
        "maxFeePerGas": 2 * int(rpc.call("eth_gasPrice"), 16),
        "maxPriorityFeePerGas": 0,
    }
    sent = rpc.send_raw(bytes(deployer.sign_transaction(fields).raw_transaction))
    receipt = rpc.wait_for_receipt(sent)
    if receipt["status"] != "0x1":
        raise CommandError(f"the deployment reverted: {sent}")
    return checksum(receipt["contractAddress"]), int(receipt["blockNumber"], 16)
