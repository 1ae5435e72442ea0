"""Mutation proof of ledger, lifecycle, capabilities, risk and hooks: each small change must make a test fail.

Every mutant is tried, in forks of one run of the suite (`mutation_session.py`) against the tests that reach it; the
working tree is never touched. Those no test notices are listed as findings, by file, line and change; those that
change nothing anyone could see are listed with the reason (`equivalent_mutants.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from golem_project.embedded.environment import LOCAL_RPC_VARIABLE
from golem_project.embedded.paths import CHECKOUT
from tests.proof.equivalent_mutants import EQUIVALENT
from tests.proof.mutants import Mutant, list_mutants
from tests.proof.registry import Progress, proof

SAFETY = "permits_app/safety"
SAFETY_TESTS = ("tests/permits_app/safety", "tests/permits_app/test_risk.py")
# What is proven -> the tests that must notice.
SUITES: dict[str, tuple[str, ...]] = {
    f"{SAFETY}/hooks/*.py": SAFETY_TESTS,
    f"{SAFETY}/*_rules.py": SAFETY_TESTS,
    f"{SAFETY}/promise_rules.py": (*SAFETY_TESTS, "tests/permits_app/test_signed_promises.py"),
    f"{SAFETY}/drawdown.py": SAFETY_TESTS,
    f"{SAFETY}/repetition.py": SAFETY_TESTS,
    f"{SAFETY}/action_gate.py": SAFETY_TESTS,
    f"{SAFETY}/hook_chain.py": SAFETY_TESTS,
    f"{SAFETY}/record_reader.py": SAFETY_TESTS,
    "permits_app/permits/risk.py": SAFETY_TESTS,
    "permits_app/permits/capabilities.py": ("tests/permits_app/test_capabilities.py",),
    "permits_app/limits/ledger.py": ("tests/permits_app/test_ledger.py", "tests/permits_app/safety/test_boundaries.py"),
    "permits_app/permits/lifecycle.py": ("tests/permits_app/test_lifecycle.py",),
    "permits_app/execution/halt_calls.py": (
        "tests/permits_app/execution/test_halt_calls.py",
        "tests/permits_app/execution/test_halt.py",
        "tests/permits_app/execution/test_unwinding.py",
    ),
}
ROUNDS = 40
# A process of its own has servers of its own: the test database of these is in use by the run beside it.
_SERVERS = ("DATABASE_URL", "REDIS_URL", LOCAL_RPC_VARIABLE)
_SURVIVED, _UNREACHED, _CHANGES_NOTHING, _FIGURES = "survived", "no test reaches it", "changes nothing", "mutants"
# Alone: the whole suite once, on a slow machine.
TIMEOUT_SECONDS = 1_200

# Loaded before anything of the product: a finder that answers one module's name with the mutant's file.
PLUGIN = """
import importlib.abc, importlib.util, os, sys

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["MUTANT_MODULE"]:
            return importlib.util.spec_from_file_location(name, os.environ["MUTANT_FILE"])
        return None

sys.meta_path.insert(0, Finder())
"""
# The settings are named, because `manage.py` exports its own and the environment goes before pyproject.toml. A slow
# machine ends no test by the suite's clock: how long a mutant is waited for is decided here and in the session.
_PYTEST = (
    sys.executable,
    "-m",
    "pytest",
    "--ds=golem_project.settings.test",
    "-q",
    "-x",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "--timeout=0",
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mutant and the module it belongs to."""

    module: str
    mutant: Mutant

    def __str__(self) -> str:
        return f"{self.module}:{self.mutant.line}: {self.mutant.name}"


def list_modules() -> list[str]:
    """The modules that are proven, by name."""
    return sorted(list_suites())


def list_suites() -> dict[str, tuple[str, ...]]:
    """Every proven module and its tests."""
    return {
        ".".join(path.relative_to(CHECKOUT).with_suffix("").parts): tests
        for pattern, tests in SUITES.items()
        for path in CHECKOUT.glob(pattern)
        if path.name != "__init__.py"
    }


def module_path(module: str) -> Path:
    """The source file of a module of the product."""
    return CHECKOUT / (module.replace(".", "/") + ".py")


def list_candidates() -> list[Candidate]:
    """Every mutant of every module; its place in the list is its number."""
    return [
        Candidate(module, mutant)
        for module in list_modules()
        for mutant in list_mutants(module_path(module).read_text(encoding="utf-8"))
    ]


def list_round(number: int, *, count: int) -> list[int]:
    """Which of `count` candidates one round tries: some of every module, so that few rounds say something too."""
    return list(range(number, count, ROUNDS))


def survives(module: str, mutant: Mutant) -> bool:
    """Whether the module's tests pass with the mutant in its place, in a process of its own; a hang is noticed.

    Raises RuntimeError when they do not pass without it either.
    """
    if _passes_alone(module, mutant.source):
        return True
    _check_passes_unchanged(module)
    return False


@cache
def _check_passes_unchanged(module: str) -> None:
    if not _passes_alone(module, module_path(module).read_text(encoding="utf-8")):
        raise RuntimeError(f"the tests of {module} do not pass in a process of their own")


def _passes_alone(module: str, text: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="golem-mutant-") as folder:
        source = Path(folder) / "mutant.py"
        source.write_text(text, encoding="utf-8")
        (Path(folder) / "golem_mutant_plugin.py").write_text(PLUGIN, encoding="utf-8")
        environment = {
            **{name: value for name, value in os.environ.items() if name not in _SERVERS},
            "MUTANT_MODULE": module,
            "MUTANT_FILE": str(source),
            "PYTHONPATH": folder,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        try:
            done = subprocess.run(
                [*_PYTEST, "-p", "golem_mutant_plugin", *list_suites()[module]],
                cwd=CHECKOUT,
                env=environment,
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0


def try_mutants(wanted: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The verdict on each of `wanted` candidates, in that order: noticed, survived, unreached, or alone (not to be told
    from a fork). Raises RuntimeError when the suite itself does not pass.
    """
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory(prefix="golem-mutants-") as folder, os.fdopen(reading, encoding="utf-8") as lines:
        plan = Path(folder) / "plan.json"
        suites = list_suites()
        modules = {module: {"path": str(module_path(module)), "tests": suites[module]} for module in list_modules()}
        tests = sorted({test for suite in suites.values() for test in suite})
        plan.write_text(json.dumps({"modules": modules, "wanted": list(wanted), "descriptor": writing}))
        log = Path(folder) / "log"
        with log.open("wb") as output:
            running = subprocess.Popen(
                [*_PYTEST, "-p", "tests.proof.mutation_session", *tests],
                cwd=CHECKOUT,
                pass_fds=(writing,),
                env={**os.environ, "GOLEM_MUTATION_PLAN": str(plan), "PYTHONDONTWRITEBYTECODE": "1"},
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
            )
        os.close(writing)
        told = 0
        try:
            for line in lines:
                told += 1
                yield json.loads(line)
        finally:
            if told < len(wanted):
                running.terminate()
            running.wait()
        if told < len(wanted):
            raise RuntimeError(f"the run of the tests ended early:\n{log.read_text(errors='replace')[-4000:]}")


@proof(
    id="safety.mutants",
    what="every mutant of ledger, lifecycle, capabilities, risk and hooks is noticed by a test",
    rounds=ROUNDS,
)
def prove_mutants(progress: Progress) -> None:
    """A fortieth of the mutants a round; survivors are findings. A finished run that found some tries those again, one
    of other sources than before begins anew.
    """
    candidates = list_candidates()
    sources = f"sources {_digest_sources()}"
    if sources not in progress.notes:
        progress.done = 0
        progress.findings.clear()
        progress.notes[:] = [sources]
    if progress.done < progress.rounds:
        _try_rounds(progress, candidates)
    else:
        _try_again(progress, candidates)
    _note_stale(progress, candidates)
    _note_figures(progress, tried=sum(len(list_round(n, count=len(candidates))) for n in range(progress.done)))


def _digest_sources() -> str:
    """The number of a mutant is its place in these sources, so progress counts for them alone."""
    digest = hashlib.sha256()
    for module in list_modules():
        digest.update(module_path(module).read_bytes())
    return digest.hexdigest()[:16]


def _try_rounds(progress: Progress, candidates: Sequence[Candidate]) -> None:
    rounds = {number: list_round(number, count=len(candidates)) for number in range(progress.done, progress.rounds)}
    verdicts = try_mutants([number for wanted in rounds.values() for number in wanted])
    for round_number in progress.remaining():
        for _ in rounds[round_number]:
            verdict = next(verdicts)
            _note(progress, candidates[verdict["number"]], verdict)


def _try_again(progress: Progress, candidates: Sequence[Candidate]) -> None:
    found = tuple(progress.findings)
    wanted = [
        number for number, candidate in enumerate(candidates) if any(each.endswith(f": {candidate}") for each in found)
    ]
    progress.findings.clear()
    for verdict in try_mutants(wanted) if wanted else ():
        _note(progress, candidates[verdict["number"]], verdict)


def _note(progress: Progress, candidate: Candidate, verdict: dict[str, Any]) -> None:
    reason = EQUIVALENT.get(candidate.module, {}).get(candidate.mutant.name)
    is_noticed = verdict["verdict"] == "noticed"
    if verdict["verdict"] == "alone":
        is_noticed = not survives(candidate.module, candidate.mutant)
    if is_noticed and reason is not None:
        progress.findings.append(f"listed as equivalent, but {verdict.get('by', 'a test')} notices it: {candidate}")
    elif reason is not None:
        progress.notes.append(f"{_CHANGES_NOTHING}: {candidate}: {reason}")
    elif not is_noticed:
        how = _UNREACHED if verdict["verdict"] == "unreached" else _SURVIVED
        progress.findings.append(f"{how}: {candidate}")


def _note_stale(progress: Progress, candidates: Sequence[Candidate]) -> None:
    known = {(candidate.module, candidate.mutant.name) for candidate in candidates}
    for module, reasons in EQUIVALENT.items():
        for name in reasons:
            if (module, name) not in known:
                progress.findings.append(f"listed as equivalent, but there is no such mutant: {module}: {name}")


def _note_figures(progress: Progress, *, tried: int) -> None:
    """How many were tried and what became of them, as the last note."""
    equivalent = sum(note.startswith(_CHANGES_NOTHING) for note in progress.notes)
    survived = sum(finding.startswith((_SURVIVED, _UNREACHED)) for finding in progress.findings)
    progress.notes[:] = [note for note in progress.notes if not note.startswith(_FIGURES)]
    progress.notes.append(
        f"{_FIGURES}: {tried} tried, {tried - equivalent - survived} noticed by a test, {equivalent} change nothing,"
        f" {survived} survived"
    )
