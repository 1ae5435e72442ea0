"""A pytest plugin that tries many mutants in one run: the tests run once as they are, then each mutant in a fork.

The first run learns which tests reach which mutant, so a mutant meets only those, the likeliest first. The slow tests,
which ask a chain, run only once the quick ones have met every mutant, and meet what these did not notice. A test that
fails with a mutant is asked again without it: only when it passes then was the mutant noticed, otherwise the test is
of no use here. GOLEM_MUTATION_PLAN names a JSON file with the sources, the mutants in the order wanted, the test that
noticed each before, those that each passed before, the mutants that meet the quick tests alone, and the descriptor that
verdicts are written to, one line of JSON each.
"""

from __future__ import annotations

import ast
import json
import os
import re
import select
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase

from tests.conftest import is_slow
from tests.durations import read_durations
from tests.proof.constants_bound_anew import bind_anew, bound_names
from tests.proof.mutants import Mutant, list_mutants
from tests.proof.woven import LOADING, NO_MUTANT, Chooser, Finder

PLAN_VARIABLE = "GOLEM_MUTATION_PLAN"
# A mutant may wait for a lock that never comes free; the suite's own patience is for slow machines.
LEAST_PATIENCE_SECONDS = 60
PATIENCE_FACTOR = 5
HUNG = "hung"
PARTLY_BOUND = "partly bound"
MET = "met"
"""No verdict yet: these tests did not notice it."""


class MutationSession:
    """The plugin object. Mutants are numbered through all modules in the order of the plan's `modules`."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.chooser = Chooser()
        self._wanted: list[int] = plan["wanted"]
        self._verdicts: int = plan["descriptor"]
        self._modules: dict[int, str] = {}
        self._mutants: dict[int, Mutant] = {}
        self._items: dict[str, pytest.Item] = {}
        self._seconds: dict[str, float] = {}
        self._unfit: set[str] = set()
        self._met: dict[int, set[str]] = defaultdict(set)
        for number, tests in plan["met"].items():
            self._met[int(number)].update(tests)
        self._met_told: dict[int, set[str]] = defaultdict(set, {number: set(met) for number, met in self._met.items()})
        self._quick_only = frozenset(plan["quick_only"])
        self._partly_bound: set[int] = set()
        self._before: dict[int, str] = {int(number): test for number, test in plan["noticed_before"].items()}
        self._noticed: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._words: dict[Path, set[str]] = {}
        firsts: dict[str, tuple[str, int, frozenset[int] | None]] = {}
        self._suites: dict[str, tuple[str, ...]] = {}
        self._sources: dict[str, str] = {}
        for name, facts in plan["modules"].items():
            firsts[name] = (facts["path"], len(self._mutants), None)
            self._suites[name] = tuple(facts["tests"])
            self._sources[name] = Path(facts["path"]).read_text(encoding="utf-8")
            for mutant in list_mutants(self._sources[name]):
                self._modules[len(self._mutants)] = name
                self._mutants[len(self._mutants)] = mutant
        sys.meta_path.insert(0, Finder(firsts, self.chooser))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Every quick test once, then every wanted mutant against those that reach it; what they do not notice meets
        the slow ones, one file after the other: first the file that most of what is left may be noticed by.
        """
        left = self._wanted
        items, files = _list_parts(session.items)
        while True:
            suites = tuple({suite for number in left for suite in self._suites[self._modules[number]]})
            self._run_as_it_is(session, [item for item in items if item.nodeid.startswith(suites)])
            left = [
                number for number in left if not self._tell(number, is_last=not files or number in self._quick_only)
            ]
            if not (files and left):
                return True
            items = files.pop(min(files, key=lambda file: self._rank(file, files[file][0].path, left)))

    def _rank(self, file: str, path: Path, left: Sequence[int]) -> tuple[int, float, int]:
        """Small for a file that noticed much of what is left before, is among a module's tests by its own name, or is
        named after it; then for one that is quick, then for one that mentions it.
        """
        near = sum(self._before.get(number, "").startswith(f"{file}::") for number in left)
        mentioned = 0
        for module, count in Counter(self._modules[number] for number in left).items():
            name = module.rpartition(".")[2]
            if file in self._suites[module] or Path(file).stem == f"test_{name}":
                near += count
            if self._mentions(path, {name}):
                mentioned += count
        # Each mutant that is left meets it: what takes minutes comes when few are left.
        return -near, read_durations().get(file, 0), -mentioned

    def _run_as_it_is(self, session: pytest.Session, items: Sequence[pytest.Item]) -> None:
        # What a module, class or package shares is taken down between forks; what the session shares stays.
        nothing_shared = SimpleNamespace(listchain=lambda: [session])
        for item in items:
            self._items[item.nodeid] = item
            self.chooser.test = item.nodeid
            self._forget_answers()
            began = time.monotonic()
            # A slow machine may fail a test once; one that fails twice would make every verdict worthless.
            runs = (runtestprotocol(item, nextitem=nothing_shared, log=True) for _ in range(2))  # type: ignore[arg-type]
            is_passed = any(not any(report.failed for report in reports) for reports in runs)
            self.chooser.test = LOADING
            self._seconds[item.nodeid] = time.monotonic() - began
            if not is_passed:
                pytest.exit(f"{item.nodeid} fails without any mutant", returncode=3)
        self.chooser.test = None

    def _tell(self, number: int, *, is_last: bool) -> bool:
        """Judge it and tell the verdict, if that is the last word; whether it is. What no fork can tell waits for no
        further tests.
        """
        verdict = self._judge(number)
        if is_last or verdict["verdict"] == "noticed" or self._list_tests(number) is None:
            self._report(number, **verdict)
            return True
        # One that binds anew in part only is asked again: which tests saw all of it is not kept.
        if number not in self._partly_bound and (met := self._met[number] - self._met_told[number]):
            self._met_told[number] |= met
            self._report(number, verdict=MET, tests=sorted(met))
        return False

    def _judge(self, number: int) -> dict[str, Any]:
        """Against the tests that ran and that it did not meet yet."""
        tests = self._list_tests(number)
        if tests is None:
            return {"verdict": "alone", "reaching": sorted(self.chooser.reached.get(number, set()) - {LOADING})}
        if not tests:
            return {"verdict": "unreached"}
        patience = LEAST_PATIENCE_SECONDS + PATIENCE_FACTOR * sum(self._seconds[test] for test in tests)
        was_hung = False
        while left := [test for test in tests if test not in self._unfit | self._met[number]]:
            failed = self._fork(number, left, patience)
            if failed is None:
                self._met[number].update(left)
                continue
            if failed == PARTLY_BOUND:
                self._met[number].update(left)
                self._partly_bound.add(number)
            elif failed == HUNG:
                if was_hung:
                    return {"verdict": "noticed", "by": HUNG}
                was_hung = True
            elif self._passes_as_it_is(failed, patience):
                self._noticed[self._modules[number], self._mutants[number].place][failed] += 1
                return {"verdict": "noticed", "by": failed}
            else:
                self._unfit.add(failed)
        if number in self._partly_bound or set(tests) <= self._unfit:
            return {"verdict": "alone", "reaching": tests}
        return {"verdict": "survived", "tests": len(tests)}

    def _passes_as_it_is(self, test: str, patience_seconds: float) -> bool:
        """Whether it passes in a fork without any mutant; otherwise it was not the mutant that made it fail."""
        return any(self._fork(NO_MUTANT, [test], patience_seconds) is None for _ in range(2))

    def _list_tests(self, number: int) -> list[str] | None:
        """The module's tests that reach a mutant: first what noticed it before, then what noticed others of the same
        function, then the file named after the module, then the quickest; None when only a process of its own can tell.
        """
        mutant = self._mutants[number]
        if mutant.is_woven:
            reaching = self.chooser.reached.get(number, set())
            if LOADING in reaching:
                return None
        elif mutant.binding:
            names = bound_names(ast.parse(mutant.binding).body[0])
            users = {
                module
                for module, source in self._sources.items()
                if module == self._modules[number] or any(re.search(rf"\b{name}\b", source) for name in names)
            }
            here = [other for other, module in self._modules.items() if module in users]
            reaching = set().union(*(self.chooser.reached.get(other, set()) for other in here)) - {LOADING}
            # A test that reads a constant and calls nothing reaches it too.
            reaching |= {test for test, item in self._items.items() if self._mentions(item.path, names)}
        else:
            return None
        module = self._modules[number]
        named_after_it = f"/test_{module.rpartition('.')[2]}.py::"
        noticed = self._noticed[module, mutant.place]
        return sorted(
            (test for test in reaching if test.startswith(self._suites[module])),
            key=lambda test: (
                test != self._before.get(number),
                -noticed[test],
                named_after_it not in test,
                self._seconds[test],
            ),
        )

    def _mentions(self, path: Path, names: set[str]) -> bool:
        if path not in self._words:
            self._words[path] = set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
        return not self._words[path].isdisjoint(names)

    def _fork(self, number: int, tests: list[str], patience_seconds: float) -> str | None:
        """The first of `tests` that fails with the mutant on, HUNG, or None when all pass."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                failed = self._run_with(number, tests)
            except BaseException as error:
                failed = f"{tests[0]} ({type(error).__name__})" if number == NO_MUTANT else tests[0]
            os.write(writing, (failed or "").encode())
            os._exit(0)
        os.close(writing)
        return _read_answer(child, reading, patience_seconds)

    def _run_with(self, number: int, tests: list[str]) -> str | None:
        mutant = self._mutants.get(number)
        is_whole = True
        if mutant is not None and mutant.binding:
            try:
                is_whole = bind_anew(sys.modules[self._modules[number]], mutant.binding)
            except Exception:
                return tests[0]
        self.chooser.active = number
        self._forget_answers()
        items = [self._items[test] for test in tests]
        nothing_shared = SimpleNamespace(listchain=lambda: [items[0].session])
        for item, nextitem in zip(items, [*items[1:], nothing_shared], strict=True):
            if any(report.failed for report in runtestprotocol(item, nextitem=nextitem, log=False)):  # type: ignore[arg-type]
                return item.nodeid
        return None if is_whole else PARTLY_BOUND

    def _forget_answers(self) -> None:
        """What a proven function answered before, a mutant of it may answer otherwise."""
        for name in self._suites.keys() & sys.modules.keys():
            for value in vars(sys.modules[name]).values():
                if callable(forget := getattr(value, "cache_clear", None)):
                    forget()

    def _report(self, number: int, **verdict: Any) -> None:
        os.write(self._verdicts, (json.dumps({"number": number, **verdict}) + "\n").encode())


def _list_parts(items: Sequence[pytest.Item]) -> tuple[list[pytest.Item], dict[str, list[pytest.Item]]]:
    """The quick tests together, and the slow ones by their file."""
    slow: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if is_slow(item):
            slow[item.location[0]].append(item)
    return [item for item in items if not is_slow(item)], slow


def _read_answer(child: int, reading: int, patience_seconds: float) -> str | None:
    """What the child wrote before it ended; one that does not end in time is ended."""
    ready, _, _ = select.select([reading], [], [], patience_seconds)
    if not ready:
        os.kill(child, signal.SIGKILL)
    answer = os.read(reading, 4096).decode() if ready else HUNG
    os.close(reading)
    os.waitpid(child, 0)
    return answer or None


def pytest_configure(config: pytest.Config) -> None:
    """Before the settings and the models are loaded the finder is in place already, see below. A failure is enough:
    nobody reads the smallest example of it.
    """
    hypothesis.settings.register_profile(
        "mutants", phases=(Phase.explicit, Phase.generate), database=None, report_multiple_bugs=False
    )
    hypothesis.settings.load_profile("mutants")
    config.pluginmanager.register(SESSION, "mutation-session")


# At import: `-p` loads this file before Django's settings, and with them the product. Without a plan it is only one of
# the package's files, which `python -m tests.proof` imports all.
SESSION = (
    MutationSession(json.loads(Path(os.environ[PLAN_VARIABLE]).read_text(encoding="utf-8")))
    if PLAN_VARIABLE in os.environ
    else None
)
