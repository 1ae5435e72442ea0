"""A pytest plugin that tries drawn mutants, one after the other, each in a fork that meets the tests which reach it.

Other than `mutation_session.py` it does not run the whole suite before: the quick tests of every file run once as they
are, in a fork, and the slow ones of a file when a mutant first asks for that file; which of the woven mutants each
of them reached is kept for all others and for later runs. A mutant then meets only tests that reach it, those of near
files first, and ends at the first that fails; that one is asked again without the mutant. Time is the processor's, so
a busy machine changes no verdict. GOLEM_DRAWN_PLAN names a JSON file: the modules with their paths, the wanted mutants
with the test files near them, further ones to weave in, the files whose quick tests run, the functions where a change
of a constant is used, where the record of what reaches what is kept, and the descriptor that verdicts are written to,
one line of JSON each.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from django.conf import settings
from hypothesis import Phase

from tests.conftest import is_slow
from tests.proof.before_forks import run_what_is_shared
from tests.proof.constants_bound_anew import bind_anew
from tests.proof.drawn_record import WORD, Record, is_meant, list_parts, part_of, split_word
from tests.proof.forks import PATIENCE_SECONDS, Ran, forget_database, part_with_database, read_lines, tell
from tests.proof.mutants import Mutant, list_mutants
from tests.proof.weaving import ProbedFinder
from tests.proof.woven import LOADING, NO_MUTANT, Chooser

PLAN_VARIABLE = "GOLEM_DRAWN_PLAN"
# Of the processor: what a mutant may take at first and in all against the tests that reach it, and before against those
# that are named for it; a part of a file that
# runs as it is, all parts that one mutant may ask for anew, and a test that a mutant keeps from ending.
FIRST_SECONDS: Final = 8
MUTANT_SECONDS: Final = 30
NAMED_SECONDS: Final = 20
PART_SECONDS: Final = 20
ASKED_SECONDS: Final = 25
_QUICK_SECONDS: Final = 120
ENDLESS_SECONDS: Final = 60
_MOST_UNFIT: Final = 300
# What stands on the local chain is built for all forks together.
_SHARED: Final = "golem_project.embedded.world."
# Before the parts of files: the tests that are named for a mutant.
_NOTICED: Final = "named"


@dataclass
class DrawnSession:
    """The plugin object. Wanted mutants are numbered through all modules in the order of the plan."""

    plan: dict[str, Any]
    chooser: Chooser = field(default_factory=Chooser)
    _keys: dict[int, str] = field(default_factory=dict)
    _mutants: dict[int, Mutant] = field(default_factory=dict)
    _modules: dict[int, str] = field(default_factory=dict)
    _items: dict[str, pytest.Item] = field(default_factory=dict)
    _parts: dict[str, list[pytest.Item]] = field(default_factory=lambda: defaultdict(list))
    _unfit: set[str] = field(default_factory=set)
    _met: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The tests that each mutant was asked already: at first and later."""
    _touched: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Those of them that reached it, and passed."""
    _session: pytest.Session | None = None

    def __post_init__(self) -> None:
        self._record = Record.load(Path(self.plan["record"]))
        asked: dict[str, set[int]] = defaultdict(set)
        for woven in (*self.plan["wanted"], *self.plan["woven"]):
            asked[woven["module"]].add(woven["number"])
        found: dict[str, tuple[str, int, frozenset[int]]] = {}
        total = 0
        for module, path in self.plan["modules"].items():
            mutants = list_mutants(Path(path).read_text(encoding="utf-8")) if module in asked else []
            # Only what is wanted is woven, so that an interpreter's loop is nearly as quick as it was.
            found[module] = (path, total, frozenset(asked[module]))
            for mutant in mutants:
                number = total + mutant.number
                self._mutants[number], self._modules[number] = mutant, module
                self._keys[number] = f"{module}: {mutant.name}"
            total += len(mutants)
        self._firsts = {module: first for module, (_, first, _) in found.items()}
        self._woven = {self._keys[self._firsts[module] + each] for module, numbers in asked.items() for each in numbers}
        probes: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for each in (*self.plan["wanted"], *self.plan["woven"]):
            for module, functions in each["probes"].items():
                for function in functions:
                    probes[module][function].append(self._firsts[each["module"]] + each["number"])
        # What starts the servers of a run is loaded before any plugin can weave it.
        self._early = {module for module in found if module.removesuffix(".__init__") in sys.modules}
        sys.meta_path.insert(0, ProbedFinder(found, probes, self.chooser))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Make what tests share, run the quick tests as they are, then judge what is wanted."""
        self._session = session
        # Every fork would do it anew: the addresses of all pages with what stands behind them.
        import_module(settings.ROOT_URLCONF)
        loaded = {number for number, tests in self.chooser.reached.items() if LOADING in tests}
        self.chooser.test = None
        run_what_is_shared(session.items, nothing_shared=self._nothing_shared())
        words: dict[str, set[str]] = defaultdict(set)
        for file, word in (split_word(each) for wanted in self.plan["wanted"] for each in wanted["files"]):
            words[file].add(word)
        for item in session.items:
            self._items[item.nodeid] = item
            file = item.nodeid.partition("::")[0]
            for word in words[file] or ("",):
                if is_meant(item.name, word):
                    named = f"{file}{WORD}{word}" if word else file
                    self._parts[part_of(named, is_quick=not is_slow(item))].append(item)
        part_with_database()
        # Where a test is named for each and notices it, no other is run.
        rest = [
            each for each in self.plan["wanted"] if not each["named"] or not self._tell(each, loaded, is_first=True)
        ]
        for file in self.plan["quick"] if rest else ():
            part = part_of(file, is_quick=True)
            if not all(self._record.is_known(part, key) for key in self._woven):
                self._run_as_it_is(part, seconds=_QUICK_SECONDS)
        self._record.save(is_last=True)
        # What the tests at hand notice is told first; what they do not, then meets the slow tests near it.
        rest = [wanted for wanted in rest if not self._tell(wanted, loaded, is_first=True)]
        for wanted in rest:
            self._tell(wanted, loaded, is_first=False)
        self._record.save(is_last=True)
        return True

    def _tell(self, wanted: dict[str, Any], loaded: Collection[int], *, is_first: bool) -> bool:
        """Judge it and tell the verdict; whether that is the last word."""
        number = self._firsts[wanted["module"]] + wanted["number"]
        is_early = wanted["module"] in self._early
        if is_early or (number in loaded and self._mutants[number].is_woven):
            verdict = {"verdict": "alone", "reaching": [] if is_early else self._list_reaching(number, wanted)}
        else:
            verdict = self._judge(number, wanted, is_first=is_first)
        is_last = not is_first or verdict["verdict"] in ("noticed", "alone")
        line = {"module": wanted["module"], "number": wanted["number"], **verdict}
        tell(self.plan["descriptor"], line if is_last else {**line, "all": False, "is_last": False})
        self._record.save()
        return is_last

    def _judge(self, number: int, wanted: dict[str, Any], *, is_first: bool) -> dict[str, Any]:
        """Against the tests that are known to reach it; later against the slow ones of the near files too, one part at
        a time.
        """
        most = FIRST_SECONDS if is_first else MUTANT_SECONDS
        mutant = self._mutants[number]
        # What no process of this run has loaded cannot be bound anew in a fork of it.
        is_there = wanted["module"].removesuffix(".__init__") in sys.modules
        if not mutant.is_woven and not (mutant.binding and is_there):
            return {"verdict": "alone", "reaching": self._list_reaching(number, wanted)}
        key, asked, spent = self._keys[number], 0.0, 0.0
        met, touched = self._met[number], self._touched[number]
        is_all = is_out_of_time = False
        for part in (_NOTICED, "") if is_first else ("", *list_parts(wanted["files"])):
            if part not in (_NOTICED, "") and not self._record.is_known(part, key):
                if asked > ASKED_SECONDS:
                    break
                asked += self._run_as_it_is(part)
            known = self._list_named(wanted) if part == _NOTICED else self._list_reaching(number, wanted)
            if not mutant.is_woven:
                known += self._list_of_part(part)
            tests = [name for name in dict.fromkeys(known) if name not in {*met, *self._unfit} and name in self._items]
            while tests:
                ran = self._fork(number, tests, seconds=NAMED_SECONDS if part == _NOTICED else most - spent)
                spent += ran.seconds
                met.update(ran.passed, ran.failed)
                touched.update(ran.touched if mutant.is_woven else ran.passed)
                if ran.is_partly_bound and not ran.failed:
                    return {"verdict": "alone", "reaching": self._list_reaching(number, wanted)}
                is_out_of_time = ran.is_out_of_time or spent > most
                if not ran.failed:
                    break
                (failed,) = ran.failed
                again = self._fork(NO_MUTANT, [failed], seconds=PATIENCE_SECONDS)
                if not again.failed:
                    seconds = round(spent + asked, 1)
                    return {"verdict": "noticed", "by": failed, "tests": len(touched) + 1, "seconds": seconds}
                self._make_unfit(failed)
                tests = tests[tests.index(failed) + 1 :]
            if is_out_of_time:
                break
        else:
            is_all = True
        seconds = round(spent + asked, 1)
        if not is_first and (not mutant.is_woven or not touched or wanted["module"].startswith(_SHARED)):
            # What only servers, workers or commands run that a test starts is no fork's to tell, nor what was built
            # before the forks, nor what a test's parameters were made of when it was collected.
            return {"verdict": "alone", "is_unreached": not touched, "all": is_all, "seconds": seconds}
        return {"verdict": "survived", "tests": len(touched), "all": is_all, "seconds": seconds}

    def _list_reaching(self, number: int, wanted: dict[str, Any]) -> list[str]:
        """The tests that reach it, or where it is used: those of near files first, and of each the quickest."""
        at = {split_word(file)[0]: place for place, file in reversed(list(enumerate(wanted["files"])))}
        names = self._record.list_reaching(self._keys[number])
        return sorted(names, key=lambda name: at.get(name.partition("::")[0], len(at)))

    def _list_named(self, wanted: dict[str, Any]) -> list[str]:
        """The tests that are named for it: those that noticed it before, or those of a file."""
        named = [split_word(each) for each in wanted["named"]]
        return [
            name
            for test, word in named
            for name in self._items
            if name.startswith(test) and is_meant(name.partition("::")[2], word)
        ]

    def _list_of_part(self, part: str) -> list[str]:
        found = [
            (self._record.tests[item.nodeid]["seconds"], item.nodeid)
            for item in self._parts.get(part, ())
            if item.nodeid in self._record.tests
        ]
        return [name for _, name in sorted(found)]

    def _run_as_it_is(self, part: str, *, seconds: float = PART_SECONDS) -> float:
        """Run a part of a file without any mutant and keep what its tests reach; the processor's seconds it took."""
        items = self._parts.get(part, [])
        ran = self._fork(NO_MUTANT, [item.nodeid for item in items], seconds=seconds) if items else Ran()
        for name in ran.failed:
            self._make_unfit(name)
        self._record.keep_part(part, self._woven)
        self._record.save()
        return ran.seconds

    def _make_unfit(self, name: str) -> None:
        self._unfit.add(name)
        self._record.tests.pop(name, None)
        if len(self._unfit) > _MOST_UNFIT:
            pytest.exit(f"too many tests fail without any mutant, the last {name}", returncode=3)

    def _fork(self, number: int, tests: Sequence[str], *, seconds: float) -> Ran:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                self._run_with(number, [self._items[test] for test in tests], seconds, writing)
            finally:
                os._exit(0)
        os.close(writing)
        try:
            return self._listen(child, reading, number)
        finally:
            os.close(reading)
            os.waitpid(child, 0)

    def _run_with(self, number: int, items: Sequence[pytest.Item], seconds: float, writing: int) -> None:
        """In the fork. Without a mutant every item runs, with one they end at the first that fails."""
        assert self._session is not None
        forget_database()
        mutant = self._mutants.get(number)
        if mutant is not None and mutant.binding:
            try:
                tell(
                    writing,
                    {
                        "is_whole": bind_anew(
                            sys.modules[self._modules[number].removesuffix(".__init__")], mutant.binding
                        )
                    },
                )
            except Exception:
                tell(writing, {"ran": items[0].nodeid, "failed": True, "seconds": 0, "reached": []})
                return
        self.chooser.active = number
        for at, item in enumerate(items):
            began = time.process_time()
            if began > seconds:
                tell(writing, {"out_of_time": True})
                return
            resource.setrlimit(resource.RLIMIT_CPU, (int(began) + ENDLESS_SECONDS, resource.RLIM_INFINITY))
            tell(writing, {"begins": item.nodeid})
            self.chooser.reached.clear()
            self.chooser.test = item.nodeid
            nextitem = items[at + 1] if at + 1 < len(items) else self._nothing_shared()
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
            is_failed = any(report.failed for report in reports)
            reached = sorted(self._keys[each] for each in self.chooser.reached)
            took = round(time.process_time() - began, 3)
            tell(writing, {"ran": item.nodeid, "failed": is_failed, "seconds": took, "reached": reached})
            if is_failed:
                self._session._setupstate.teardown_exact(self._nothing_shared())
                if mutant is not None:
                    return

    def _listen(self, child: int, reading: int, number: int) -> Ran:
        ran, begun = Ran(), ""
        for line in read_lines(reading):
            if line is None:
                os.kill(child, signal.SIGKILL)
                break
            told = json.loads(line)
            if "is_whole" in told:
                ran.is_partly_bound = not told["is_whole"]
            elif "begins" in told:
                begun = told["begins"]
            elif "out_of_time" in told:
                ran.is_out_of_time = True
            else:
                begun = ""
                ran.seconds += told["seconds"]
                (ran.failed if told["failed"] else ran.passed).append(told["ran"])
                if not told["failed"] and self._keys.get(number) in told["reached"]:
                    ran.touched.append(told["ran"])
                if not told["failed"] and number == NO_MUTANT:
                    self._record.keep_test(told["ran"], seconds=told["seconds"], reached=told["reached"])
        if begun:
            # It ended or was ended within a test: that is a failure of it.
            ran.failed.append(begun)
            ran.seconds += ENDLESS_SECONDS
        return ran

    def _nothing_shared(self) -> Any:
        """What a module, class or package shares is taken down; what the session shares stays."""
        return SimpleNamespace(listchain=lambda: [self._session])


def pytest_configure(config: pytest.Config) -> None:
    """A failure is enough: nobody reads the smallest example of it."""
    hypothesis.settings.register_profile(
        "drawn",
        phases=(Phase.explicit, Phase.generate),
        database=None,
        report_multiple_bugs=False,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("drawn")
    config.pluginmanager.register(SESSION, "drawn-session")


# At import: `-p` loads this file before Django's settings, and with them the product. Without a plan it is only one of
# the package's files, which `python -m tests.proof` imports all.
SESSION = (
    DrawnSession(json.loads(Path(os.environ[PLAN_VARIABLE]).read_text(encoding="utf-8")))
    if PLAN_VARIABLE in os.environ
    else None
)
