"""The machine in process on generated cases: against the node's engine always, against the reference where it is."""

from __future__ import annotations

import os

import pytest

from tests.evm.world import World
from tests.proof.evm.cases import AUTHORITIES, make_case
from tests.proof.evm.here import run_case
from tests.proof.evm.reference import is_installed, run_reference
from tests.proof.simulation import compare_case
from tests.tools_app.simulation.machines import run_on_both

CASES_AGAINST_REFERENCE = 60
CASES_AGAINST_NODE = 250
# The node refunds an authority that does not exist as if it did (decision 0005), so here every one exists.
RICH = {"nonce": 0, "balance": 1, "code": "", "storage": {}}


def test_a_number_always_makes_the_same_case() -> None:
    assert make_case(17) == make_case(17)
    assert make_case(17) != make_case(18)
    assert run_case(make_case(17)) == run_case(make_case(17))


@pytest.mark.parametrize("fork", ["prague", "cancun"])
def test_generated_cases_equal_the_reference_interpreter(fork: str) -> None:
    if not is_installed() and not os.environ.get("CI"):
        pytest.skip("not run: the reference interpreter is not installed; `python -m tests.proof` installs it")
    with run_reference() as reference:
        findings = [compare_case(number, fork, reference) for number in range(CASES_AGAINST_REFERENCE)]
    assert [finding for finding in findings if finding is not None] == []


def test_generated_cases_equal_the_nodes_engine(world: World) -> None:
    """Success, gas, output and logs; the node does not tell the state, but gas and output depend on it."""
    compared = 0
    for number in range(CASES_AGAINST_NODE):
        case = make_case(number)
        if not case["transaction"]["to"] or case["transaction"]["access_list"]:
            continue
        case = {**case, "env": {**case["env"], "chain_id": 31337}}
        case["accounts"] = {**dict.fromkeys(AUTHORITIES, RICH), **case["accounts"]}
        if run_case(case).get("refused"):
            continue
        compared += 1
        run_on_both(case, world)
    assert compared > CASES_AGAINST_NODE // 2
