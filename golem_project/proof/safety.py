"""Mutation proof of ledger, lifecycle and hooks: each small change must make a focused test fail.

A mutant is loaded in place of the file's module inside the test process, so the working tree is never touched. Which
mutants are tried is fixed by the round; the ones no test notices are listed as findings, by file, line and change.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from golem_project.embedded.paths import CHECKOUT
from golem_project.proof.mutants import Mutant, list_mutants
from golem_project.proof.registry import Progress, proof

SAFETY = "permits_app.safety"
TESTS: dict[str, tuple[str, ...]] = {
    f"{SAFETY}.spend_rules": ("tests/permits_app/safety/test_spend_rules.py",),
    f"{SAFETY}.drawdown": ("tests/permits_app/safety/test_drawdown.py",),
    f"{SAFETY}.repetition": ("tests/permits_app/safety/test_repetition.py",),
    f"{SAFETY}.action_gate": ("tests/permits_app/safety/test_action_gate.py",),
    f"{SAFETY}.hook_chain": ("tests/permits_app/safety/test_hook_chain.py",),
    **{
        f"{SAFETY}.hooks.{name}": (f"tests/permits_app/safety/test_{name}.py",)
        for name in (
            "policy_cage", "allowlist_guard", "spending_limiter", "rate_limiter", "simulator",
            "hallucination_detector", "result_filter",
        )
    },
    "permits_app.risk": ("tests/permits_app/test_risk.py",),
    "permits_app.capabilities": ("tests/permits_app/test_capabilities.py",),
    f"{SAFETY}.record_reader": (
        "tests/permits_app/safety/test_record_reader.py", "tests/permits_app/safety/test_rate_limiter.py",
        "tests/permits_app/safety/test_repetition.py", "tests/permits_app/safety/test_policy_cage.py",
    ),
    "permits_app.execution.halt_calls": (
        "tests/permits_app/execution/test_halt.py", "tests/permits_app/execution/test_unwinding.py",
    ),
    "permits_app.ledger": (
        "tests/permits_app/safety/test_boundaries.py", "tests/concurrency/test_double_commit.py",
        "tests/permits_app/test_main_job.py",
    ),
    "permits_app.lifecycle": ("tests/concurrency/test_double_commit.py", "tests/adversary/test_attacks.py"),
}  # fmt: skip
PER_ROUND = 5
ROUNDS = 40
TIMEOUT_SECONDS = 300

# Loaded before anything of the product: a finder that answers one module's name with the mutant's file.
_PLUGIN = """
import importlib.abc, importlib.util, os, sys

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["MUTANT_MODULE"]:
            return importlib.util.spec_from_file_location(name, os.environ["MUTANT_FILE"])
        return None

sys.meta_path.insert(0, Finder())
"""


def choose_mutants(number: int, *, count: int = PER_ROUND) -> list[tuple[str, Mutant]]:
    """The mutants of one round, the same for the same number."""
    chance = random.Random(number)  # noqa: S311 (which mutants are tried, not a secret)
    chosen = []
    for _ in range(count):
        module = chance.choice(sorted(TESTS))
        chosen.append((module, chance.choice(list_mutants(module_path(module).read_text(encoding="utf-8")))))
    return chosen


def module_path(module: str) -> Path:
    """The source file of a module of the product."""
    return CHECKOUT / (module.replace(".", "/") + ".py")


def survives(module: str, mutant: Mutant, *, tests: tuple[str, ...] | None = None) -> bool:
    """Whether the module's focused tests pass with the mutant in its place. A run that hangs counts as noticed."""
    with tempfile.TemporaryDirectory(prefix="golem-mutant-") as folder:
        source = Path(folder) / "mutant.py"
        source.write_text(mutant.source, encoding="utf-8")
        (Path(folder) / "golem_mutant_plugin.py").write_text(_PLUGIN, encoding="utf-8")
        environment = {
            **os.environ,
            "MUTANT_MODULE": module,
            "MUTANT_FILE": str(source),
            "PYTHONPATH": folder,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        argv = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "golem_mutant_plugin", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(  # noqa: S603 (our own tests)
                [*argv, *(tests or TESTS[module])], cwd=CHECKOUT, env=environment, capture_output=True,
                timeout=TIMEOUT_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0


@proof(
    id="safety.mutants",
    what=f"{ROUNDS * PER_ROUND} mutants of ledger, lifecycle, capabilities, risk and hooks are noticed by their tests",
    rounds=ROUNDS,
)
def prove_mutants(progress: Progress) -> None:
    """Five mutants a round; survivors are findings."""
    for number in progress.remaining():
        for module, mutant in choose_mutants(number):
            if survives(module, mutant):
                progress.findings.append(f"survived: {module}:{mutant.line}: {mutant.change}")
