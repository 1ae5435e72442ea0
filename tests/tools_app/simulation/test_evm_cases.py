"""The machine in process on generated cases: against the node's engine always, against the reference where it is."""

from __future__ import annotations

import os
from typing import Any

import pytest

from golem_project.proof.evm.cases import make_case
from golem_project.proof.evm.here import run_case
from golem_project.proof.evm.reference import is_installed, run_reference
from golem_project.proof.simulation import compare_case
from tests.evm.world import World

CASES_AGAINST_REFERENCE = 60
CASES_AGAINST_NODE = 250


def test_a_number_always_makes_the_same_case() -> None:
    assert make_case(17) == make_case(17)
    assert make_case(17) != make_case(18)
    assert run_case(make_case(17)) == run_case(make_case(17))


@pytest.mark.parametrize("fork", ["prague", "cancun"])
def test_generated_cases_equal_the_reference_interpreter(fork: str) -> None:
    if not is_installed() and not os.environ.get("CI"):
        pytest.skip("not run: the reference interpreter is not installed; `manage.py proof` installs it")
    with run_reference() as reference:
        findings = [compare_case(number, fork, reference) for number in range(CASES_AGAINST_REFERENCE)]
    assert [finding for finding in findings if finding is not None] == []


# Each is a case where the node's BLOCKHASH of a loaded chain answers hashes it made up.
_READS_BLOCK_HASHES = 0x40


def test_generated_cases_equal_the_nodes_engine(world: World) -> None:
    """Success, gas, output and logs; the node does not tell the state, but gas and output depend on it."""
    compared = 0
    for number in range(CASES_AGAINST_NODE):
        case = make_case(number)
        if not case["transaction"]["to"] or case["transaction"]["access_list"]:
            continue
        here, there = run_case(_as_the_node_sees(case, world)), _run_on_node(case, world)
        if here.get("refused"):
            continue
        compared += 1
        for key in ("succeeded", "gas_used", "output", "logs"):
            assert here[key] == there[key], (number, key)
    assert compared > CASES_AGAINST_NODE // 2


def _as_the_node_sees(case: dict[str, Any], world: World) -> dict[str, Any]:
    env = {**case["env"], "chain_id": 31337}
    return {**case, "env": env}


def _run_on_node(case: dict[str, Any], world: World) -> dict[str, Any]:
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
    call = {
        "from": "0x" + tx["sender"],
        "to": "0x" + tx["to"],
        "value": hex(tx["value"]),
        "input": "0x" + tx["data"],
        "gas": hex(tx["gas"]),
    }
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
