"""One case on two machines: ours, and the node's, with the case's accounts laid over the chain."""

from __future__ import annotations

from typing import Any

from tests.evm.world import World
from tests.proof.evm.here import run_case

SENDER = "a0" * 20
A, B, C = "10" * 20, "11" * 20, "12" * 20
COINBASE = "c0" * 20


def make_case(
    code: str,
    *,
    data: str = "",
    gas: int = 1_000_000,
    value: int = 0,
    to: str = A,
    storage: dict[int, int] | None = None,
    others: dict[str, str] | None = None,
    balance: int = 10**18,
) -> dict[str, Any]:
    """A transaction of SENDER to A, which has `code`; `others` maps further addresses to their code."""
    accounts: dict[str, Any] = {
        address: {"nonce": 1, "balance": balance, "code": text, "storage": {}}
        for address, text in {A: code, **(others or {})}.items()
    }
    accounts[A]["storage"] = {str(slot): word for slot, word in (storage or {}).items()}
    accounts[SENDER] = {"nonce": 0, "balance": 10**20, "code": "", "storage": {}}
    accounts[COINBASE] = {"nonce": 0, "balance": 5, "code": "", "storage": {}}
    return {
        "number": 0,
        "fork": "prague",
        "env": {
            "chain_id": 31337,
            "number": 1_000,
            "timestamp": 1_700_000_000,
            "coinbase": COINBASE,
            "prevrandao": "7d" * 32,
            "gas_limit": 30_000_000,
            "excess_blob_gas": 0,
        },
        "accounts": accounts,
        "transaction": {
            "sender": SENDER,
            "to": to,
            "value": value,
            "data": data,
            "gas": gas,
            "access_list": [],
            "authorizations": [],
        },
    }


def run_on_both(case: dict[str, Any], world: World) -> dict[str, Any]:
    """Our outcome, after it was found equal to the node's in success, gas, output and logs."""
    here, there = run_case(case), run_on_node(case, world)
    for key in ("succeeded", "gas_used", "output", "logs"):
        assert here[key] == there[key], key
    return here


def run_on_node(case: dict[str, Any], world: World) -> dict[str, Any]:
    """The node's outcome of a case that is no creation."""
    env, tx = case["env"], case["transaction"]
    overrides = {
        "0x" + address: {
            "nonce": hex(entry["nonce"]),
            "balance": hex(entry["balance"]),
            "code": "0x" + entry["code"],
            "state": {f"0x{int(slot):064x}": f"0x{value:064x}" for slot, value in entry["storage"].items()},
        }
        for address, entry in case["accounts"].items()
    }
    block = {
        "number": hex(env["number"]),
        "time": hex(env["timestamp"]),
        "feeRecipient": "0x" + env["coinbase"],
        "prevRandao": "0x" + env["prevrandao"],
        "gasLimit": hex(env["gas_limit"]),
    }
    call: dict[str, Any] = {
        "from": "0x" + tx["sender"],
        "to": "0x" + tx["to"],
        "value": hex(tx["value"]),
        "input": "0x" + tx["data"],
        "gas": hex(tx["gas"]),
    }
    if tx["authorizations"]:
        call["authorizationList"] = [_authorization(told) for told in tx["authorizations"]]
    payload = {
        "blockStateCalls": [{"blockOverrides": block, "stateOverrides": overrides, "calls": [call]}],
        "validation": False,
    }
    row = world.rpc.call("eth_simulateV1", payload, "latest")[0]["calls"][0]
    succeeded = row["status"] == "0x1"
    logs = [[log["address"][2:], [t[2:] for t in log["topics"]], log["data"][2:]] for log in row["logs"]]
    return {
        "succeeded": succeeded,
        "gas_used": int(row["gasUsed"], 16),
        "output": row["returnData"][2:],
        "logs": logs if succeeded else [],
    }


def _authorization(told: dict[str, Any]) -> dict[str, str]:
    return {
        "chainId": hex(told["chain_id"]),
        "address": "0x" + told["address"],
        "nonce": hex(told["nonce"]),
        "yParity": hex(told["y_parity"]),
        "r": hex(told["r"]),
        "s": hex(told["s"]),
    }
