"""Putting a golem's policy into a PolicyCage contract: what is deployed, in which order, and what does not fit.

The server holds no owner key. What it can do by itself is the local chain, where the world's deployer pays; anywhere
else it writes the transactions for the owner's own wallet. `options` are those of `manage.py deploy_policy_cage`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from archetypes_app.models import Golem
from golem_project.cage_set_up.errors import CageNotDeployable
from golem_project.embedded.world.accounts import CHAIN_ID, derive_actors
from golem_project.embedded.world.history_writer import GAS_LIMIT
from golem_project.embedded.world.rpc import JsonRpc, checksum
from golem_project.embedded.world.solidity import load_contract
from permits_app.actions.sync_policy_cage import register_cage
from permits_app.models import CageMirror
from permits_app.policy_cage.contract import BYTES_OF_A_RULE, MOST_POSITIONS, Rule, encode_deployment
from permits_app.policy_cage.published_code import mask_immutables
from permits_app.policy_cage.suggested_rules import list_subjects, list_uncaged, read_ground, suggest_rules
from tools_app.chain.abi import encode_constructor
from tools_app.core import clock
from tools_app.core.stored_json import read_stored
from tools_app.core.units import usd_to_micro
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.positions import drive
from tools_app.toolkit.protocol import SHELF, Valuer

BUDGET_MS = 30_000
DEPLOYMENT_GAS = 16_000_000
ASK_TO_ENABLE = (
    'on {page} press "Let the cage act for the Safe": its owners sign there, with their wallet or with `manage.py'
    " sign_request`, and the relayer sends it"
)
"""The one step of a deployment that needs the owners' keys."""
MOST_BYTES_OF_CREATION = 49_152
"""EIP-3860: creation code with the constructor's arguments."""
_SUBJECT = "function subject() view returns (address)"


@dataclass(frozen=True, slots=True)
class DeploymentOptions:
    """What a contract stands over: its account, the mark in dollars, who may halt it, valuers that are there already.

    `send_locally` is the address of the local chain's node, where it is deployed there.
    """

    high_water_mark_usd: str
    account: str | None = None
    guardian: str | None = None
    valuer: tuple[str, ...] = ()
    send_locally: str | None = None


def _read_options(options: Mapping[str, object]) -> DeploymentOptions:
    return read_stored(DeploymentOptions, options)


def follow(golem: Golem, contract: str, deployed_block: int) -> CageMirror:
    """Register the contract and read it."""
    return register_cage(
        golem_id=golem.pk,
        chain_id=golem.home_chain_id,
        contract=checksum(contract),
        deployed_block=deployed_block,
        now=clock.now(),
    )


def build_deployment(
    golem: Golem,
    chain: ChainReader,
    options: Mapping[str, object],
    *,
    valuers: Mapping[str, str],
    left_out: Sequence[str],
) -> bytes:
    """The data of the transaction that creates the cage; `valuers` by subject. Raises what a feed raises."""
    asked = _read_options(options)
    rules = suggest_rules(
        golem=golem,
        chain=chain,
        high_water_mark_micro_usd=usd_to_micro(asked.high_water_mark_usd),
        guardian=asked.guardian,
        valuers=valuers,
        left_out=left_out,
    )
    return _encode(golem, chain, asked, rules)


def _encode(golem: Golem, chain: ChainReader, asked: DeploymentOptions, rules: Sequence[Rule]) -> bytes:
    code = bytes.fromhex(load_contract("PolicyCage").bytecode[2:])
    base_asset = chain.token(golem.base_asset).address
    return encode_deployment(code, account=checksum(asked.account or ""), base_asset=base_asset, rules=rules)


def choose_left_out(golem: Golem, chain: ChainReader, options: Mapping[str, object]) -> list[str]:
    """The protocols that this golem's cage begins without: no chain takes all rules in one creation, and a cage counts
    positions at so many places alone.

    Markets are kept longest, since everything is left through them; of the others the one with the most rules goes
    first. Raises CageNotDeployable where even none of them fits, and what a feed raises.
    """
    asked = _read_options(options)
    mark = usd_to_micro(asked.high_water_mark_usd)
    ground = read_ground(golem=golem, chain=chain, high_water_mark_micro_usd=mark)
    # Any address will do to measure with.
    stand_ins = {subject: subject for subject in find_valuers(golem, chain, (), left_out=())[1]}
    left: list[str] = []

    def measure(*more: str) -> int:
        rules = suggest_rules(
            golem=golem,
            chain=chain,
            high_water_mark_micro_usd=mark,
            guardian=asked.guardian,
            valuers=stand_ins,
            left_out=[*left, *more],
            ground=ground,
        )
        return empty + BYTES_OF_A_RULE * len(rules)

    def count(*more: str) -> int:
        kept = list_subjects(golem, chain.chain_id, left_out=[*left, *more], ground=ground)
        return len(stand_ins.keys() & set(kept))

    empty = len(_encode(golem, chain, asked, ()))
    size = measure()
    while size > MOST_BYTES_OF_CREATION or count() > MOST_POSITIONS:
        kept = [each for each in SHELF.on(chain.chain_id) if each.name not in left]
        places = count()
        if places > MOST_POSITIONS:
            kept = [each for each in kept if count(each.name) < places]
        smaller = [(each.markets is not None, measure(each.name), each.name) for each in kept]
        helping = [each for each in smaller if each[1] < size]
        if not helping:
            raise CageNotDeployable(f"the rules of this golem are {size} bytes to create, and no chain takes so many")
        _, size, name = min(helping)
        left.append(name)
    return left


def find_valuers(
    golem: Golem, chain: ChainReader, given: Sequence[str], *, left_out: Sequence[str]
) -> tuple[dict[str, str], dict[str, Valuer]]:
    """Valuers that were `given`, and how those are made that are missing, both by the subject they value.

    Raises CageNotDeployable for one of other code or made of something else, PositionsUnreadable.
    """
    known = dict(SHELF.valuers_on(chain.chain_id))
    there: dict[str, str] = {}
    for address in map(checksum, given):
        [told] = chain.call_many([ReadCall(address, _SUBJECT)])
        subject = str(told.values[0]) if told.ok else ""
        valuer = known.get(subject)
        if valuer is None:
            raise CageNotDeployable(f"{address} is no valuer of anything that is known on chain {chain.chain_id}")
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
        f"not in this contract, for one holds only so many rules: {', '.join(left_out)}; propose their calls, spenders"
        f" and valuers on the cage's page once it stands, which counts positions at {MOST_POSITIONS} places at most"
    )


def check_valuer(chain: ChainReader, address: str, valuer: Valuer) -> None:
    """Raises CageNotDeployable for other code than ours, and for a valuer that was made of other values."""
    contract = load_contract(valuer.code)
    code = mask_immutables(chain.code(address), contract.immutables)
    if code != bytes.fromhex(contract.deployed_bytecode[2:]):
        raise CageNotDeployable(f"the code at {address} is not that of {valuer.code}")
    told = [chain.call(address, view)[0] for view in valuer.views]
    if told != list(drive(valuer.arguments(chain.chain_id), chain.call_many)):
        raise CageNotDeployable(f"the {valuer.code} at {address} was made of other values; deploy one that fits")


def build_valuer(chain: ChainReader, valuer: Valuer) -> bytes:
    """The data that creates a valuer. Raises PositionsUnreadable."""
    values = drive(valuer.arguments(chain.chain_id), chain.call_many)
    return bytes.fromhex(load_contract(valuer.code).bytecode[2:]) + encode_constructor(valuer.constructor, *values)


def plan_owner_transactions(golem: Golem, chain: ChainReader, options: Mapping[str, object]) -> dict[str, object]:
    """What the owner's wallet sends and signs; the address of the cage is known once the first is mined."""
    asked = _read_options(options)
    account = checksum(asked.account or "")
    left_out = choose_left_out(golem, chain, options)
    valuers, missing = find_valuers(golem, chain, asked.valuer, left_out=left_out)
    plan: dict[str, object] = {"chain_id": chain.chain_id, "account": account}
    if missing:
        creations = [
            {"contract": valuer.code, "values": subject, "data": "0x" + build_valuer(chain, valuer).hex()}
            for subject, valuer in missing.items()
        ]
        again = "run this again with --valuer ADDRESS for each of them"
        return {**plan, "deploy_valuers_first": creations, "then": again}
    data = build_deployment(golem, chain, options, valuers=valuers, left_out=left_out)
    uncaged = list_uncaged(golem, chain.chain_id)
    return {
        **plan,
        **({"left_out": tell_left_out(left_out)} if left_out else {}),
        **({"not_under_this_cage": uncaged} if uncaged else {}),
        "deploy": {"data": "0x" + data.hex(), "gas": str(DEPLOYMENT_GAS)},
        "then": "manage.py deploy_policy_cage GOLEM --register CONTRACT --deployed-block NUMBER",
        "at_last": ASK_TO_ENABLE.format(page=reverse("admin:archetypes_app_golem_cage", args=[golem.pk])),
    }


def deploy_locally(golem: Golem, chain: ChainReader, options: Mapping[str, object]) -> tuple[str, int, list[str]]:
    """Deploy on the local chain, paid by the world's deployer; the contract, the block it is in, what did not fit."""
    asked = _read_options(options)
    rpc = JsonRpc(asked.send_locally or "")
    try:
        if int(rpc.call("eth_chainId"), 16) != CHAIN_ID:
            raise CageNotDeployable(f"{asked.send_locally} is not the local chain")
        left_out = choose_left_out(golem, chain, options)
        valuers, missing = find_valuers(golem, chain, asked.valuer, left_out=left_out)
        for subject, valuer in missing.items():
            valuers[subject], _ = create(rpc, build_valuer(chain, valuer))
        contract, block = create(rpc, build_deployment(golem, chain, options, valuers=valuers, left_out=left_out))
        return contract, block, left_out
    finally:
        rpc.close()


def create(rpc: JsonRpc, data: bytes) -> tuple[str, int]:
    """Send one creation and wait; returns its address and block. Raises CageNotDeployable when it reverts."""
    deployer = derive_actors().deployer
    fields: dict[str, Any] = {  # Any: the fields of a transaction, as eth_account takes them
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
        raise CageNotDeployable(f"the deployment reverted: {sent}")
    return checksum(receipt["contractAddress"]), int(receipt["blockNumber"], 16)
