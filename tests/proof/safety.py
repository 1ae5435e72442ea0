"""Mutation proof of ledger, lifecycle, capabilities, risk and hooks: each small change must make a test fail.

Every mutant is tried, in forks of one run of the suite (`mutation_session.py`) against the tests that reach it; the
working tree is never touched. Those no test notices are listed as findings, by file, line and change; those that
change nothing anyone could see are listed with the reason (`equivalent_mutants.py`). What is known is kept in
var/safety_mutants.json after every mutant: a run that was ended goes on, and after a change of the sources each is
asked first of the test that noticed it before. What is listed as changing nothing meets the quick tests alone. Those
of the slow tests take most of the hours that a whole run takes;
noticed_slowly.json has them for whoever begins on another machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from golem_project.embedded.environment import LOCAL_RPC_VARIABLE
from golem_project.embedded.paths import CHECKOUT
from tests.durations import read_durations
from tests.proof.drawn_alone import FIRST_VARIABLE, SECONDS_VARIABLE
from tests.proof.drawn_record import write_whole
from tests.proof.equivalent_mutants import EQUIVALENT
from tests.proof.forks import read_lines
from tests.proof.met_tests import MetTests
from tests.proof.mutants import Mutant, list_mutants
from tests.proof.mutation_session import HUNG, MET
from tests.proof.registry import Progress, proof

SAFETY = "permits_app/safety"
SAFETY_TESTS = ("tests/permits_app/safety", "tests/permits_app/test_risk_tier_rules.py")
# What is proven -> the tests that must notice.
SUITES: dict[str, tuple[str, ...]] = {
    f"{SAFETY}/hooks/*.py": SAFETY_TESTS,
    f"{SAFETY}/*_rules.py": SAFETY_TESTS,
    f"{SAFETY}/arrival_rules.py": (
        *SAFETY_TESTS,
        "tests/permits_app/test_claims_by_their_rule.py",
        "tests/permits_app/test_measured_not_declared.py",
    ),
    f"{SAFETY}/calldata_rules.py": (
        *SAFETY_TESTS,
        "tests/adversary/test_arbitrary_calldata.py",
        "tests/permits_app/approvals/test_flash_loans.py",
    ),
    f"{SAFETY}/bridge_rules.py": (*SAFETY_TESTS, "tests/permits_app/test_two_chain_bridge.py"),
    f"{SAFETY}/hook_rules.py": (*SAFETY_TESTS, "tests/permits_app/test_pools_with_hooks.py"),
    f"{SAFETY}/position_rules.py": (
        *SAFETY_TESTS,
        "tests/catalogue/test_slash_losses.py",
        "tests/permits_app/test_claims_by_their_rule.py",
        "tests/permits_app/test_standing_orders.py",
    ),
    f"{SAFETY}/principal_rules.py": (*SAFETY_TESTS, "tests/permits_app/test_others_money.py"),
    f"{SAFETY}/promise_rules.py": (*SAFETY_TESTS, "tests/permits_app/test_signed_promises.py"),
    f"{SAFETY}/received_rules.py": (*SAFETY_TESTS, "tests/permits_app/test_others_money.py"),
    f"{SAFETY}/drawdown.py": (
        *SAFETY_TESTS,
        "tests/permits_app/test_another_account.py",
        "tests/permits_app/test_one_net_asset_value.py",
    ),
    f"{SAFETY}/loop_and_breaker_rules.py": SAFETY_TESTS,
    f"{SAFETY}/action_gate.py": SAFETY_TESTS,
    f"{SAFETY}/hook_chain.py": SAFETY_TESTS,
    f"{SAFETY}/load_call_records.py": (*SAFETY_TESTS, "tests/permits_app/test_levels_beside.py"),
    f"{SAFETY}/hooks/policy_cage.py": (
        *SAFETY_TESTS,
        "tests/permits_app/test_several_chains.py",
        "tests/permits_app/test_two_chain_bridge.py",
    ),
    f"{SAFETY}/hooks/simulator.py": (*SAFETY_TESTS, "tests/permits_app/test_signed_promises.py"),
    "permits_app/permits/risk_tier_rules.py": SAFETY_TESTS,
    "permits_app/permits/capabilities.py": ("tests/permits_app/test_capabilities.py",),
    "permits_app/limits/ledger.py": (
        "tests/permits_app/test_ledger.py",
        "tests/permits_app/test_owner_budget.py",
        "tests/permits_app/test_trading_costs.py",
        "tests/permits_app/safety/test_boundaries.py",
    ),
    "permits_app/limits/trading_costs.py": (
        "tests/permits_app/test_trading_costs.py",
        "tests/permits_app/test_worst_costs_of_trades.py",
    ),
    "permits_app/permits/lifecycle.py": ("tests/permits_app/test_lifecycle.py",),
    "permits_app/execution/halt_signing_rule.py": (
        "tests/permits_app/execution/test_halt_calls.py",
        "tests/permits_app/execution/test_halt.py",
        "tests/permits_app/execution/test_position_unwinding.py",
    ),
}
ROUNDS = 40
# A process of its own has servers of its own: the test database of these is in use by the run beside it.
_SERVERS = ("DATABASE_URL", "REDIS_URL", LOCAL_RPC_VARIABLE)
_SURVIVED, _UNREACHED, _CHANGES_NOTHING, _FIGURES = "survived", "no test reaches it", "changes nothing", "mutants"
NOTICED_SLOWLY = Path(__file__).with_name("noticed_slowly.json")
"""The slow test that noticed a mutant, by the mutant's key: it says where to look first, and nothing else."""
# Alone: one that says nothing for so long, also on a slow machine, hangs.
SILENT_SECONDS = 1_200

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

    @property
    def key(self) -> str:
        """What names it in files: its line may move."""
        return f"{self.module}: {self.mutant.name}"


@dataclass
class Verdicts:
    """What became of each mutant of these sources, by its key, with the test that noticed it; kept in a file."""

    path: Path
    sources: str
    told: dict[str, tuple[str, str]]
    noticed_before: dict[str, str]
    """By whom it was noticed in an earlier run, also of other sources."""

    @classmethod
    def load(cls, path: Path, sources: str) -> Verdicts:
        """Those of an earlier run count for the same sources alone."""
        kept: dict[str, Any] = {"sources": "", "told": {}, "by": {}}
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
        told = {key: (verdict, by) for key, (verdict, by) in kept["told"].items()}
        elsewhere: dict[str, str] = json.loads(NOTICED_SLOWLY.read_text(encoding="utf-8"))
        return cls(path, sources, told if kept["sources"] == sources else {}, {**elsewhere, **kept["by"]})

    def list_slow(self) -> dict[str, str]:
        """Who noticed what, of the tests that are slow."""
        files = read_durations()
        slow = {key: by for key, by in self.noticed_before.items() if by.partition("::")[0] in files}
        return dict(sorted(slow.items()))

    def has(self, candidate: Candidate) -> bool:
        """Whether its verdict is known."""
        return candidate.key in self.told

    def keep(self, candidate: Candidate, verdict: str, *, by: str) -> None:
        """Write its verdict down."""
        self.told[candidate.key] = (verdict, by)
        if "::" in by:
            self.noticed_before[candidate.key] = by
        kept = {"sources": self.sources, "told": self.told, "by": self.noticed_before}
        write_whole(self.path, json.dumps(kept, indent=1))


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


def survives(module: str, mutant: Mutant, *, first: Sequence[str] = ()) -> bool:
    """Whether the module's tests pass with the mutant in its place, in a process of its own, those `first` before the
    others; one that hangs is noticed. Raises RuntimeError when what failed does not pass without the mutant either.
    """
    failed = _run_alone(module, mutant.source, (*first, *_list_nearest(module)))
    if failed is None:
        return True
    if failed != HUNG:
        _check_passes_unchanged(module, failed)
    return False


def _list_nearest(module: str) -> list[str]:
    """The files named after the module, of those that must notice its mutants."""
    name = f"test_{module.rpartition('.')[2]}.py"
    found = [CHECKOUT / test for test in list_suites()[module]]
    files = [file for each in found for file in ([each] if each.is_file() else sorted(each.rglob(name)))]
    return [str(file.relative_to(CHECKOUT)) for file in files if file.name == name]


@cache
def _check_passes_unchanged(module: str, failed: str) -> None:
    text = module_path(module).read_text(encoding="utf-8")
    if _run_alone(module, text, (failed,), only=failed) is not None:
        raise RuntimeError(f"{failed or f'what is proven of {module}'} does not pass in a process of its own")


def _run_alone(module: str, text: str, first: Sequence[str], *, only: str = "") -> str | None:
    """The first test that fails in a process of its own, nothing when it does not come so far, HUNG, or None."""
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
            FIRST_VARIABLE: json.dumps(list(first)),
            SECONDS_VARIABLE: str(inf),
        }
        asked = [only] if only else list_suites()[module]
        running = subprocess.Popen(
            [*_PYTEST, "-p", "golem_mutant_plugin", "-p", "tests.proof.drawn_alone", *asked],
            cwd=CHECKOUT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
        with running:
            assert running.stdout is not None
            output = ""
            for line in read_lines(running.stdout.fileno(), patience_seconds=SILENT_SECONDS):
                if line is None:
                    running.kill()
                    running.wait()
                    return HUNG
                output += f"{line}\n"
    if running.returncode == 0:
        return None
    return next(iter(re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)), "")


def try_mutants(
    wanted: Sequence[int],
    *,
    noticed_before: Mapping[int, str] | None = None,
    met_before: Mapping[int, Iterable[str]] | None = None,
    quick_only: Iterable[int] = (),
) -> Iterator[dict[str, Any]]:
    """The verdict on each of `wanted` candidates, as they come: noticed, survived, unreached, or alone (not to be told
    from a fork). The test that `noticed_before` has for one is asked first, what `met_before` has for it not again;
    those in `quick_only` meet no slow test. Between verdicts come lines that say `met`, with tests that did not notice
    one. Raises RuntimeError when the suite itself does not pass.
    """
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory(prefix="golem-mutants-") as folder, os.fdopen(reading, encoding="utf-8") as lines:
        plan = Path(folder) / "plan.json"
        suites = list_suites()
        modules = {module: {"path": str(module_path(module)), "tests": suites[module]} for module in list_modules()}
        tests = sorted({test for suite in suites.values() for test in suite})
        asked = {
            "modules": modules,
            "wanted": list(wanted),
            "noticed_before": dict(noticed_before or {}),
            "quick_only": sorted(quick_only),
            "met": {number: sorted(tests) for number, tests in (met_before or {}).items()},
            "descriptor": writing,
        }
        plan.write_text(json.dumps(asked))
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
                verdict = json.loads(line)
                told += verdict["verdict"] != MET
                yield verdict
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
    known = Verdicts.load(progress.path.with_name("safety_mutants.json"), sources)
    met = MetTests.load(progress.path.with_name("safety_mutants_met.json"), sources)
    if progress.done < progress.rounds:
        _try_rounds(progress, candidates, known, met)
    else:
        _try_again(progress, candidates, known, met)
    write_whole(NOTICED_SLOWLY, json.dumps(known.list_slow(), indent=1) + "\n")
    _note_stale(progress, candidates)
    _note_figures(progress, tried=sum(len(list_round(n, count=len(candidates))) for n in range(progress.done)))


def _digest_sources() -> str:
    """The number of a mutant is its place in these sources, so progress counts for them alone."""
    digest = hashlib.sha256()
    for module in list_modules():
        digest.update(module_path(module).read_bytes())
    return digest.hexdigest()[:16]


def _try_rounds(progress: Progress, candidates: Sequence[Candidate], known: Verdicts, met: MetTests) -> None:
    """What is noticed at once is told first, so a round is done when the last of it is told."""
    rounds = {number: list_round(number, count=len(candidates)) for number in range(progress.done, progress.rounds)}
    wanted = [number for each in rounds.values() for number in each if not known.has(candidates[number])]
    verdicts = _judge(wanted, candidates, known, met)
    for round_number in progress.remaining():
        while not all(known.has(candidates[number]) for number in rounds[round_number]):
            next(verdicts)
        for number in rounds[round_number]:
            _note(progress, candidates[number], known)


def _try_again(progress: Progress, candidates: Sequence[Candidate], known: Verdicts, met: MetTests) -> None:
    found = tuple(progress.findings)
    wanted = [
        number for number, candidate in enumerate(candidates) if any(each.endswith(f": {candidate}") for each in found)
    ]
    progress.findings.clear()
    for number in _judge(wanted, candidates, known, met) if wanted else ():
        _note(progress, candidates[number], known)


def _judge(wanted: Sequence[int], candidates: Sequence[Candidate], known: Verdicts, met: MetTests) -> Iterator[int]:
    """The numbers of `wanted` as their verdicts come; each is kept, and what each met until then."""
    before = {number: by for number in wanted if (by := known.noticed_before.get(candidates[number].key))}
    passed = {number: tests for number in wanted if (tests := met.tests.get(candidates[number].key))}
    # That a slow test notices what is listed would only mean that its reason is wrong; hours for it are not.
    listed = [number for number in wanted if candidates[number].mutant.name in _list_reasons(candidates[number])]
    for verdict in try_mutants(wanted, noticed_before=before, met_before=passed, quick_only=listed):
        candidate = candidates[verdict["number"]]
        if verdict["verdict"] == MET:
            met.keep(candidate.key, verdict["tests"])
            continue
        met.drop(candidate.key)
        if verdict["verdict"] == "alone":
            is_survivor = survives(candidate.module, candidate.mutant, first=verdict.get("reaching", ()))
            verdict = {**verdict, "verdict": "survived" if is_survivor else "noticed", "by": ""}
        known.keep(candidate, verdict["verdict"], by=verdict.get("by", ""))
        yield verdict["number"]


def _list_reasons(candidate: Candidate) -> Mapping[str, str]:
    """What is listed of its module as changing nothing anyone could see."""
    return EQUIVALENT.get(candidate.module, {})


def _note(progress: Progress, candidate: Candidate, known: Verdicts) -> None:
    verdict, by = known.told[candidate.key]
    reason = _list_reasons(candidate).get(candidate.mutant.name)
    if verdict == "noticed" and reason is not None:
        progress.findings.append(f"listed as equivalent, but {by or 'a test'} notices it: {candidate}")
    elif reason is not None:
        progress.notes.append(f"{_CHANGES_NOTHING}: {candidate}: {reason}")
    elif verdict != "noticed":
        progress.findings.append(f"{_UNREACHED if verdict == 'unreached' else _SURVIVED}: {candidate}")


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
