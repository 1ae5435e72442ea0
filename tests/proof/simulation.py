"""Proofs of the engines: 20,000 generated cases against the reference, and programs against the node's engine.

The short form of the first runs in the tests. A finding names the case's number, which makes the case again.
"""

from __future__ import annotations

from typing import Any

from tests.proof.evm.cases import make_case
from tests.proof.evm.here import run_case
from tests.proof.evm.reference import Reference, run_reference
from tests.proof.registry import Progress, proof

FORKS = ("prague", "cancun")
CASES_PER_ROUND = 100


def compare_case(number: int, fork: str, reference: Reference) -> str | None:
    """Run one case on both interpreters; a line that says where they differ, or None."""
    case = make_case(number, fork=fork)
    reference.start_case(case)
    here = run_case(case)
    there = reference.read_answer()
    return None if here == there else f"case {number} under {fork}: {describe_difference(here, there)}"


def describe_difference(here: dict[str, Any], there: dict[str, Any]) -> str:
    """The parts that differ, each with both values where they are short."""
    parts = []
    for key in sorted({*here, *there}):
        one, two = here.get(key), there.get(key)
        if one != two:
            parts.append(key if key in ("state", "logs") else f"{key} {one} here, {two} in the reference")
    return "; ".join(parts)


@proof(
    id="simulation.reference",
    what="generated EVM cases under Cancun and Prague equal the reference interpreter in gas, output, logs and state",
    rounds=202,
)
def prove_reference(progress: Progress) -> None:
    """Rounds of a hundred cases; even rounds Prague, odd ones Cancun."""
    with run_reference() as reference:
        for number in progress.remaining():
            fork = FORKS[number % 2]
            for case in range(number * CASES_PER_ROUND, (number + 1) * CASES_PER_ROUND):
                finding = compare_case(case, fork, reference)
                if finding is not None:
                    progress.findings.append(finding)
