"""The chain in process through web3: real contracts deployed and used, equal in gas to the node's."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account import Account
from eth_utils.crypto import keccak
from rlp import decode as rlp_decode
from rlp import encode as rlp_encode
from web3 import Web3
from web3.exceptions import ContractLogicError, Web3RPCError
from web3.types import RPCEndpoint

from golem_project.embedded.world.solidity import load_contract
from tests.evm.world import World
from tools_app.simulation.pyevm.in_process_web3_provider import PyEvmProvider
from tools_app.simulation.pyevm.local_chain import LocalChain

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


def test_a_signed_authorization_gives_an_account_code_that_runs_for_it(w3: Web3) -> None:
    """EIP-7702, as wallets do it: the account signs, someone else sends, and the account then answers with the code."""
    answers = send(w3, {"data": "0x69602a5f5260205ff3" + "00" * 2 + "5f52600a6016f3", "to": ""})["contractAddress"]
    signed = OTHER.sign_authorization({"chainId": 31337, "address": answers, "nonce": 0})
    receipt = send(w3, {"to": OTHER.address, "authorizationList": [signed], "type": 4})

    assert (receipt["status"], receipt["type"]) == (1, 4)
    assert bytes(w3.eth.get_code(OTHER.address)) == bytes.fromhex("ef0100" + answers[2:])
    assert int.from_bytes(w3.eth.call({"to": OTHER.address}), "big") == 42
    assert w3.eth.get_transaction_count(OTHER.address) == 1


def test_bytes_that_are_no_transaction_are_refused_as_such(w3: Web3) -> None:
    good = OWNER.sign_transaction(
        {"to": OTHER.address, "value": 1, "gas": 21_000, "gasPrice": 2 * 10**9, "nonce": 0, "chainId": 31337}
    ).raw_transaction
    unsigned = rlp_encode([*rlp_decode(bytes(good))[:7], b"", b""])
    for raw in (
        b"",
        unsigned,
        b"\x02",
        b"\x03" + bytes(good),
        b"\x04\xc0",
        b"\xde\xad\xbe\xef",
        bytes(good)[:-3],
        b"\x7f" * 40,
    ):
        error = ask(w3, "eth_sendRawTransaction", "0x" + raw.hex())["error"]
        assert "no signed transaction" in error["message"], raw.hex()
    assert w3.eth.block_number == 0
    assert w3.eth.send_raw_transaction(good)


def test_blocks_and_transactions_are_told_as_a_node_tells_them(w3: Web3) -> None:
    receipt = send(w3, {"to": OTHER.address, "value": 7})
    block = w3.eth.get_block("latest", full_transactions=True)
    transaction: Any = block["transactions"][0]

    assert w3.eth.get_transaction(receipt["transactionHash"]) == transaction
    assert (transaction["from"], transaction["to"], transaction["value"]) == (OWNER.address, OTHER.address, 7)
    assert w3.eth.get_block(block["hash"])["number"] == receipt["blockNumber"]
    assert w3.eth.get_block(0)["hash"] == block["parentHash"]
    assert ask(w3, "eth_getBlockByNumber", "0x99", False)["result"] is None
    assert ask(w3, "eth_getTransactionReceipt", "0x" + "00" * 32)["result"] is None
    assert ask(w3, "eth_mystery")["error"]["code"] == -32601
    assert w3.eth.fee_history(1, "latest")["baseFeePerGas"][0] == block["baseFeePerGas"]


def test_logs_are_found_by_topic_and_by_any_of_several(w3: Web3) -> None:
    token = deploy_token(w3)
    send(w3, {"to": token.address, "data": token.encode_abi("mint", args=[OWNER.address, 10])})
    send(w3, {"to": token.address, "data": token.encode_abi("transfer", args=[OTHER.address, 4])})
    send(w3, {"to": token.address, "data": token.encode_abi("approve", args=[OTHER.address, 5])})
    to_other = "0x" + OTHER.address[2:].lower().rjust(64, "0")
    events = [
        "0x" + keccak(text=name).hex()
        for name in ("Transfer(address,address,uint256)", "Approval(address,address,uint256)")
    ]

    def count(topics: Any) -> int:
        return len(w3.eth.get_logs({"fromBlock": 0, "toBlock": "latest", "topics": topics}))

    assert count([events[0]]) == 2
    assert count([events]) == 3
    assert count([events, None, to_other]) == 2
    assert count([events[1], None, to_other, to_other]) == 0
