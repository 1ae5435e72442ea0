"""A pytest plugin that tries drawn mutants, one after the other, each in a fork that meets the nearest tests first.

Other than `mutation_session.py` it does not run the suite once before: every fork says which tests reached which of the
wanted mutants, so a test that is known to miss a line is not asked about it again. A fork ends at its first failing
test, or when its share of time is used up; a test that fails is asked again without the mutant. GOLEM_DRAWN_PLAN names
a JSON file: the modules with their paths, the wanted mutants with the test files near them, the seconds a mutant may
take, and the descriptor that verdicts are written to, one line of JSON each.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase

from tests.conftest import is_slow
from tests.proof.mutants import Mutant, list_mutants
from tests.proof.mutation_session import LOADING, NO_MUTANT, Chooser, Finder

PLAN_VARIABLE = "GOLEM_DRAWN_PLAN"
# Longer than any test takes without a mutant on a slow machine.
PATIENCE_SECONDS: Final = 240
# What a session shares is made before the forks, or each of them would make it anew.
_SHARED_FIXTURES: Final = ("world", "db")


@dataclass
class Ran:
    """What a fork told: the tests that ran through and what they reached, the one that failed, the one it hung in."""

    tests: int = 0
    failed: str = ""
    hung: str = ""
    is_out_of_time: bool = False


@dataclass
class DrawnSession:
    """The plugin object. Wanted mutants are numbered in the order of the plan."""

    plan: dict[str, Any]
    chooser: Chooser = field(default_factory=Chooser)
    _mutants: dict[int, Mutant] = field(default_factory=dict)
    _firsts: dict[str, int] = field(default_factory=dict)
    _reached: dict[str, set[int]] = field(default_factory=dict)
    _unfit: set[str] = field(default_factory=set)
    _session: pytest.Session | None = None

    def __post_init__(self) -> None:
        found, total = {}, 0
        for module, path in self.plan["modules"].items():
            self._firsts[module] = total
            found[module] = (path, total)
            for mutant in list_mutants(Path(path).read_text(encoding="utf-8")):
                self._mutants[total + mutant.number] = mutant
            total = max(self._mutants, default=-1) + 1
        sys.meta_path.insert(0, Finder(found, self.chooser))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Make what tests share, then judge what is wanted."""
        self._session = session
        for name in _SHARED_FIXTURES:
            first = next((item for item in session.items if name in getattr(item, "fixturenames", ())), None)
            if first is not None:
                runtestprotocol(first, nextitem=self._nothing_shared(), log=False)
        loaded = {number for number, tests in self.chooser.reached.items() if LOADING in tests}
        self.chooser.test = None
        _part_with_database()
        for wanted in self.plan["wanted"]:
            number = self._firsts[wanted["module"]] + wanted["number"]
            verdict = {"verdict": "alone"} if number in loaded else self._judge(number, wanted["files"])
            line = {"module": wanted["module"], "number": wanted["number"], **verdict}
            os.write(self.plan["descriptor"], (json.dumps(line) + "\n").encode())
        return True

    def _judge(self, number: int, files: list[str]) -> dict[str, Any]:
        ends = time.monotonic() + self.plan["seconds"]
        tried = 0
        while True:
            items = self._list_items(number, files)
            ran = self._fork(number, items, ends)
            tried += ran.tests
            suspect = ran.failed or ran.hung
            if not suspect:
                reaching = sum(number in reached for reached in self._reached.values())
                verdict = "survived" if reaching else "unreached"
                return {"verdict": "out of time" if ran.is_out_of_time else verdict, "tests": reaching}
            again = self._fork(NO_MUTANT, [item for item in items if item.nodeid == suspect], time.monotonic() + 1_000)
            if not (again.failed or again.hung):
                return {"verdict": "noticed", "by": suspect, "tests": tried + 1}
            self._unfit.add(suspect)
            if len(self._unfit) > 40:
                pytest.exit(f"too many tests fail without any mutant, the last {suspect}", returncode=3)

    def _list_items(self, number: int, files: list[str]) -> list[pytest.Item]:
        """The tests to ask, those known to reach the mutant first, then by nearness; quick ones of a file first."""
        assert self._session is not None
        place = self._mutants[number].place.rpartition(".")[2]
        order = {file: at for at, file in enumerate(files)}
        found = []
        for at, item in enumerate(self._session.items):
            name = item.nodeid
            file = name.partition("::")[0]
            reached = self._reached.get(name)
            if file not in order or name in self._unfit or (reached is not None and number not in reached):
                continue
            near = -1 if len(place) > 4 and place in name else order[file] // 8
            found.append(((reached is None, near, is_slow(item), order[file], at), item))
        return [item for _, item in sorted(found, key=lambda each: each[0])]

    def _fork(self, number: int, items: list[pytest.Item], ends: float) -> Ran:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                self._run_with(number, items, ends, writing)
            finally:
                os._exit(0)
        os.close(writing)
        try:
            return self._listen(child, reading, is_mutant=number != NO_MUTANT)
        finally:
            os.close(reading)
            os.waitpid(child, 0)

    def _run_with(self, number: int, items: list[pytest.Item], ends: float, writing: int) -> None:
        assert self._session is not None
        _forget_database()
        self.chooser.active = number
        for at, item in enumerate(items):
            if time.monotonic() > ends:
                _tell(writing, {"out_of_time": True})
                return
            _tell(writing, {"begins": item.nodeid})
            self.chooser.reached.clear()
            self.chooser.test = item.nodeid
            nextitem = items[at + 1] if at + 1 < len(items) else self._nothing_shared()
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
            is_failed = any(report.failed for report in reports)
            _tell(writing, {"ran": item.nodeid, "failed": is_failed, "reached": sorted(self.chooser.reached)})
            if is_failed:
                self._session._setupstate.teardown_exact(self._nothing_shared())
                return

    def _listen(self, child: int, reading: int, *, is_mutant: bool) -> Ran:
        ran, begun = Ran(), ""
        for line in _read_lines(reading):
            if line is None:
                os.kill(child, signal.SIGKILL)
                ran.hung = begun
                break
            told = json.loads(line)
            if "begins" in told:
                begun = told["begins"]
            elif "out_of_time" in told:
                ran.is_out_of_time = True
            elif told["failed"]:
                ran.failed, begun = told["ran"], ""
            else:
                ran.tests += 1
                self._reached.setdefault(told["ran"], set()).update(told["reached"])
                begun = ""
        else:
            # It ended within a test: that is a failure of it.
            ran.failed = ran.failed or begun
        return ran

    def _nothing_shared(self) -> Any:
        """What a module, class or package shares is taken down; what the session shares stays."""
        return SimpleNamespace(listchain=lambda: [self._session])


def _tell(writing: int, told: dict[str, Any]) -> None:
    line = (json.dumps(told) + "\n").encode()
    while line:
        line = line[os.write(writing, line) :]


def _read_lines(reading: int) -> Iterator[str | None]:
    """The lines of a fork until it ends; None when it said nothing for too long."""
    kept = b""
    while True:
        ready, _, _ = select.select([reading], [], [], PATIENCE_SECONDS)
        if not ready:
            yield None
            return
        read = os.read(reading, 65_536)
        if not read:
            return
        *lines, kept = (kept + read).split(b"\n")
        yield from (line.decode() for line in lines)


def _part_with_database() -> None:
    """Two processes must not speak on one connection."""
    from django.db import connections

    for each in connections.all():
        each.close()
        each.close_pool()  # type: ignore[attr-defined]


def _forget_database() -> None:
    """A pool's threads do not come along into a fork."""
    from django.db.backends.postgresql.base import DatabaseWrapper

    DatabaseWrapper._connection_pools.clear()  # type: ignore[attr-defined]


def pytest_configure(config: pytest.Config) -> None:
    """A failure is enough: nobody reads the smallest example of it."""
    hypothesis.settings.register_profile(
        "drawn", phases=(Phase.explicit, Phase.generate), database=None, report_multiple_bugs=False
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
