"""The chain in process through web3: real contracts deployed and used, equal in gas to the node's."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account import Account
from eth_utils.crypto import keccak
from web3 import Web3
from web3.exceptions import ContractLogicError, Web3RPCError
from web3.types import RPCEndpoint

from golem_project.embedded.world.solidity import load_contract
from tests.evm.world import World
from tools_app.simulation.pyevm.local_chain import LocalChain
from tools_app.simulation.pyevm.provider import PyEvmProvider

OWNER = Account.from_key(keccak(b"owner of a chain in memory"))
OTHER = Account.from_key(keccak(b"someone else on it"))
ETH = 10**18


@pytest.fixture
def w3() -> Web3:
    chain = LocalChain(balances={bytes.fromhex(OWNER.address[2:]): 100 * ETH})
    return Web3(PyEvmProvider(chain))


def send(w3: Web3, transaction: dict[str, Any]) -> Any:
    transaction = {
        "chainId": 31337,
        "nonce": w3.eth.get_transaction_count(OWNER.address),
        "maxFeePerGas": 3 * 10**9,
        "maxPriorityFeePerGas": 10**8,
        "gas": 3_000_000,
        "value": 0,
        **transaction,
    }
    raw = OWNER.sign_transaction(transaction).raw_transaction
    return w3.eth.wait_for_transaction_receipt(w3.eth.send_raw_transaction(raw))


def ask(w3: Web3, method: str, *params: Any) -> Any:
    return w3.provider.make_request(RPCEndpoint(method), params)


def deploy_token(w3: Web3) -> Any:
    compiled = load_contract("SimulatedToken")
    factory = w3.eth.contract(abi=compiled.abi, bytecode=compiled.bytecode)
    kinds = [entry for entry in compiled.abi if entry["type"] == "constructor"][0]["inputs"]
    values = {"string": "TOK", "uint8": 6, "address": OWNER.address}
    built = factory.constructor(*(values[kind["type"]] for kind in kinds)).build_transaction(
        {"from": OWNER.address, "gas": 3_000_000, "nonce": 0}
    )
    receipt = send(w3, {"data": built["data"], "to": ""})
    assert receipt["status"] == 1
    return w3.eth.contract(address=receipt["contractAddress"], abi=compiled.abi)


def test_a_transfer_of_coins_pays_exactly_value_and_fees(w3: Web3) -> None:
    receipt = send(w3, {"to": OTHER.address, "value": ETH})

    assert (receipt["status"], receipt["gasUsed"]) == (1, 21_000)
    assert w3.eth.get_balance(OTHER.address) == ETH
    assert w3.eth.get_balance(OWNER.address) == 99 * ETH - 21_000 * receipt["effectiveGasPrice"]
    assert w3.eth.block_number == 1


def test_a_token_is_deployed_minted_sent_and_its_logs_found(w3: Web3) -> None:
    token = deploy_token(w3)
    send(w3, {"to": token.address, "data": token.encode_abi("mint", args=[OWNER.address, 1_000])})
    receipt = send(w3, {"to": token.address, "data": token.encode_abi("transfer", args=[OTHER.address, 400])})

    assert token.functions.balanceOf(OTHER.address).call() == 400
    found = w3.eth.get_logs({"fromBlock": 0, "toBlock": "latest", "address": token.address})
    assert found[-1]["transactionHash"] == receipt["transactionHash"]
    assert int(found[-1]["data"].hex(), 16) == 400


def test_gas_of_a_deployment_equals_the_nodes(w3: Web3, chain: World) -> None:
    compiled = load_contract("GasBurner")
    here = send(w3, {"data": compiled.bytecode, "to": ""})
    there = chain.send(chain.actors.deployer, None, compiled.bytecode)

    assert here["gasUsed"] == int(there["gasUsed"], 16)


def test_a_revert_is_told_with_its_reason_and_still_costs_gas(w3: Web3) -> None:
    token = deploy_token(w3)
    with pytest.raises(ContractLogicError):
        token.functions.transfer(OTHER.address, 1).call({"from": OWNER.address})
    receipt = send(w3, {"to": token.address, "data": token.encode_abi("transfer", args=[OTHER.address, 1])})

    assert receipt["status"] == 0
    assert receipt["gasUsed"] > 21_000


def test_an_estimate_is_enough_and_no_more_than_a_little_above_the_need(w3: Web3) -> None:
    token = deploy_token(w3)
    mint: Any = {"to": token.address, "data": token.encode_abi("mint", args=[OWNER.address, 5])}
    estimate = w3.eth.estimate_gas({"from": OWNER.address, **mint})
    receipt = send(w3, {**mint, "gas": estimate})

    assert receipt["status"] == 1
    assert 0 <= estimate - receipt["gasUsed"] <= 64


def test_going_back_to_a_snapshot_undoes_blocks_balances_and_time(w3: Web3) -> None:
    point = ask(w3, "evm_snapshot")["result"]
    send(w3, {"to": OTHER.address, "value": ETH})
    assert ask(w3, "evm_revert", point)["result"] is True

    assert w3.eth.block_number == 0
    assert w3.eth.get_balance(OTHER.address) == 0
    assert w3.eth.get_transaction_count(OWNER.address) == 0
    assert ask(w3, "evm_revert", point)["result"] is False


def test_what_a_node_refuses_is_refused(w3: Web3) -> None:
    for bent, words in (
        ({"nonce": 5}, "nonce"),
        ({"chainId": 1}, "chain"),
        ({"value": 10**30}, "hold"),
        ({"gas": 20_000}, "gas"),
        ({"maxFeePerGas": 10, "maxPriorityFeePerGas": 1}, "fee"),
    ):
        with pytest.raises(Web3RPCError, match=words):
            send(w3, {"to": OTHER.address, **bent})
    assert w3.eth.block_number == 0
