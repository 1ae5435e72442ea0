"""`python -m tests.protocol_check NAME`: everything that can refuse a protocol's folder, cheapest first.

It stops at the first step that fails and says which; `--from STEP` goes on from there, `--list` only says the commands.
`python -m tests.protocol_check NAME --addresses` tells where what the protocol's deployer creates lies on local chains.
Tests look at tracked files alone: `git add` the folder first.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import rlp
from eth_utils import to_checksum_address
from eth_utils.crypto import keccak

from golem_project.embedded.world.accounts import derive_account

ROOT: Final = Path(__file__).parents[1]
ARCHITECTURE: Final = "tests/architecture"
CATALOGUE: Final = "tests/catalogue"
_PYTHON: Final = sys.executable
_PYTEST: Final = (_PYTHON, "-m", "pytest", "-q", "-n", "0", "-o", "timeout=1500")


@dataclass(frozen=True, slots=True)
class CheckStep:
    """One step: its name, its command, and what mends it."""

    name: str
    command: tuple[str, ...]
    mends: str


def list_steps(name: str) -> Iterator[CheckStep]:
    """The steps for a folder, in the order of what they cost."""
    yield CheckStep("format", (_PYTHON, "-m", "ruff", "format", "--check", "."), "ruff format .")
    yield CheckStep("lint", (_PYTHON, "-m", "ruff", "check", "."), "ruff check --fix . and the rest by hand")
    yield CheckStep("imports", (str(Path(_PYTHON).with_name("lint-imports")),), "a folder imports no other folder")
    yield CheckStep("types", (_PYTHON, "-m", "mypy", "."), "the lines above")
    yield CheckStep(
        "snapshots",
        (_PYTHON, "manage.py", "snapshots", "--check"),
        "manage.py snapshots --write, and look at the difference",
    )
    yield CheckStep(
        "rules", (*_PYTEST, *_rules()), "the failing test says the rule; names count in tracked files alone"
    )
    yield CheckStep("own tests", (*_PYTEST, *own_tests(name)), "write them")
    chosen = " or ".join((name, *list_cases(name)))
    yield CheckStep(
        "cases",
        (*_PYTEST, f"{CATALOGUE}/test_cases.py", f"{CATALOGUE}/test_reads.py", "-k", chosen),
        "cases.py of the folder",
    )
    yield CheckStep(
        "halts",
        (
            *_PYTEST,
            f"{CATALOGUE}/test_two_ways_out_at_once.py",
            f"{CATALOGUE}/test_everything_is_left_for_the_base_asset.py",
            "-k",
            f"{chosen} or every_protocol or nobody_named or dropped_in",
        ),
        "exits and leaving of protocol.py; TOGETHER of cases.py",
    )
    yield CheckStep(
        "contracts",
        (
            *_PYTEST,
            "tests/contracts/test_callers.py",
            "tests/contracts/test_strangers_at_simulated_contracts.py",
            "tests/permits_app/policy_cage/test_suggested_conditions.py",
        ),
        "callers.py (then docs/contracts-by-caller.md), holdings_in_simulated_contracts.py, FREE of the last",
    )


def list_cases(name: str) -> tuple[str, ...]:
    """The tools that the cases of a folder are of, from its file: nothing is imported that may not import yet."""
    path = ROOT / "tools_app" / "protocols" / name / "cases.py"
    calls = (
        [each for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.Call)] if path.exists() else []
    )
    found = [
        str(each.args[0].value)
        for each in calls
        if isinstance(each.func, ast.Name) and each.func.id == "Case" and isinstance(each.args[0], ast.Constant)
    ]
    return tuple(dict.fromkeys(found))


def _rules() -> tuple[str, ...]:
    architecture = ("names", "no_protocol_by_name", "tool_rules", "boundaries", "documents", "errors", "outside_texts")
    return (
        *(f"{ARCHITECTURE}/test_{each}.py" for each in architecture),
        f"{ARCHITECTURE}/test_thresholds.py",
        f"{CATALOGUE}/test_every_write_has_a_case.py",
        "tests/tools_app/test_edges_of_parameters.py",
    )


def own_tests(name: str) -> tuple[str, ...]:
    """Where a folder's own tests are."""
    return (f"tests/tools_app/protocols/{name}",)


def list_addresses(name: str, count: int = 5) -> Iterator[str]:
    """Where the first contracts lie that the deployer of a protocol's local world creates, in their order."""
    sender = bytes.fromhex(derive_account(f"{name} deployer").address[2:])
    for nonce in range(count):
        yield str(to_checksum_address(keccak(rlp.encode([sender, nonce]))[12:]))


def run(steps: Sequence[CheckStep]) -> int:
    """Exit status 0, or that of the first step that fails."""
    for step in steps:
        print(f"protocol_check: {step.name}: {' '.join(step.command)}", flush=True)  # noqa: T201
        status = subprocess.run(step.command, cwd=ROOT, check=False).returncode
        if status:
            print(f"protocol_check: {step.name} failed. Fix: {step.mends}")  # noqa: T201
            return status
    return 0


def main(words: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.protocol_check", description=__doc__)
    parser.add_argument("name", help="the protocol's folder, and the key of its local world")
    parser.add_argument("--from", dest="start", default="", help="the step to begin with")
    parser.add_argument("--list", action="store_true", help="say the commands and run none")
    parser.add_argument("--addresses", action="store_true", help="tell where its deployer's first contracts lie")
    told = parser.parse_args(words)
    if told.addresses:
        print("\n".join(list_addresses(told.name)))  # noqa: T201
        return 0
    steps = list(list_steps(told.name))
    names = [step.name for step in steps]
    if told.start and told.start not in names:
        parser.error(f"there is no step {told.start!r}; they are {', '.join(names)}")
    chosen = steps[names.index(told.start) :] if told.start else steps
    if told.list:
        print("\n".join(f"{step.name}: {' '.join(step.command)}" for step in chosen))  # noqa: T201
        return 0
    return run(chosen)


if __name__ == "__main__":
    sys.exit(main())
