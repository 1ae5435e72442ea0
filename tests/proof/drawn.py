"""Mutants drawn by chance over the whole product outside the safety code, and which of them the suite notices.

Every mutant has a place in a row that its name and the commit's hash decide, so that a draw of some is the beginning of
a draw of more, and every commit is asked about others: nobody can write tests for a draw before it is made. Each is
tried with the quick tests of the whole suite that reach it and the slow ones near its module (`drawn_session.py`); what
a fork cannot tell (a mutant in the body of a class, in what runs while a module loads or in a process that a test
starts) runs in a process of its own (`drawn_alone.py`). What is known is kept in var/drawn.json after every mutant,
which tests reach what in var/drawn_reached.json.

The first word about a mutant is the last: a run that was ended goes on with those that have none yet and asks about no
survivor again, whatever tests were written meanwhile, for these make another commit and another draw. A mutant that
changes nothing (`drawn_reasons.py`, `equivalent_mutants.py`) is named with its reason, and counts neither as noticed
nor as tried. One that nothing noticed within its time counts as survived, and is told as such.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from threading import Timer
from typing import Any, Final

from golem_project.embedded.environment import LOCAL_RPC_VARIABLE
from golem_project.embedded.paths import CHECKOUT
from tests.proof import mutants
from tests.proof.drawn_alone import FIRST_VARIABLE, OUT_OF_TIME, SECONDS_VARIABLE, WORDS_VARIABLE
from tests.proof.drawn_reasons import CHANGES_NOTHING
from tests.proof.drawn_record import split_word, write_whole
from tests.proof.drawn_session import PLAN_VARIABLE
from tests.proof.drawn_sources import source_of, write_sources
from tests.proof.equivalent_mutants import EQUIVALENT
from tests.proof.first_pass import (
    LEAST_PERCENT,
    LEAST_PERCENT_OF_AN_APP,
    find_shortfalls,
    has_last_word,
    read_commit,
)
from tests.proof.forks import read_lines
from tests.proof.mutants import Mutant
from tests.proof.near_tests import APPS, list_edges, list_near, list_quick
from tests.proof.probes import list_probes
from tests.proof.registry import Progress, proof
from tests.proof.safety import list_modules

DRAWN: Final = 150
# Proven whole by `safety.mutants`, or beside it.
_SAFETY: Final = "permits_app.safety."
# What became of those of earlier runs, in the checkout: `drawn_page.py` writes it.
KEPT: Final = Path(__file__).with_name("drawn_verdicts.json")
_NO_TEST: Final = "it does not load"
_NO_PRODUCT: Final = "a case says what a test does: nothing of the product reads it"
# Near files of a mutant whose slow tests are asked too.
_MOST_FILES: Final = 9
# In a process of its own: files, or files beside the tests that reach it, seconds of the processor, and the longest by
# the clock on a busy machine.
_MOST_ALONE: Final = 6
_MOST_BESIDE: Final = 3
_MOST_REACHING: Final = 60
_ASKED_AGAIN_AT_ONCE: Final = 12
# How long nothing may be said before those tried beside are looked at.
_PAUSE_SECONDS: Final = 5
_ALONE_SECONDS: Final = 30
_MOST_SECONDS: Final = 600
SERVERS: Final = ("DATABASE_URL", "REDIS_URL", LOCAL_RPC_VARIABLE)
# The settings are named, because the environment goes before pyproject.toml.
_PYTEST: Final = (
    *(sys.executable, "-m", "pytest", "--ds=golem_project.settings.test", "-q"),
    *("-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not browser"),
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A mutant with its module."""

    module: str
    mutant: Mutant

    def __str__(self) -> str:
        return f"{self.module}:{self.mutant.line}: {self.mutant.name}"

    @property
    def key(self) -> str:
        """What names it in files: its line may move."""
        return f"{self.module}: {self.mutant.name}"

    @property
    def reason(self) -> str | None:
        """Why it changes nothing anyone could see, if so."""
        if self.module.endswith(".cases"):
            return _NO_PRODUCT
        known = {**EQUIVALENT.get(self.module, {}), **CHANGES_NOTHING.get(self.module, {})}
        return known.get(self.mutant.name)


@cache
def list_mutants(source: str) -> list[Mutant]:
    """The draw and whoever describes it ask for the same sources."""
    return mutants.list_mutants(source)


def list_row(seed: str, kept: Path | None = None) -> Iterator[Drawn]:
    """Every mutant outside the safety code, in the order of a draw. `kept` remembers the names in each source."""
    named: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept is not None and kept.exists() else {}
    row, sources = [], {}
    proven = set(list_modules())
    for app in APPS:
        for path in (CHECKOUT / app).rglob("*.py"):
            module = ".".join(path.relative_to(CHECKOUT).with_suffix("").parts)
            if module in proven or module.startswith(_SAFETY) or ".migrations." in module:
                continue
            sources[module] = source = path.read_text(encoding="utf-8")
            digest = hashlib.sha256(source.encode()).hexdigest()
            if named.get(module, {}).get("digest") != digest:
                named[module] = {"digest": digest, "names": [each.name for each in list_mutants(source)]}
            row += [(module, number, name) for number, name in enumerate(named[module]["names"])]
    if kept is not None:
        kept.write_text(json.dumps({module: named[module] for module in sources}), encoding="utf-8")
    row.sort(key=lambda each: hashlib.sha256(f"{seed} {each[0]}: {each[2]}".encode()).digest())
    found: dict[str, list[Mutant]] = {}
    for module, number, _ in row:
        if module not in found:
            found[module] = list_mutants(sources[module])
        yield Drawn(module, found[module][number])


def draw(count: int, kept: Path | None = None, *, seed: str) -> list[Drawn]:
    """The first `count` that change something, and with them those before that change nothing."""
    drawn, counted, row = [], 0, list_row(seed, kept)
    # No further one is asked for: its whole module would be read.
    while counted < count and (each := next(row, None)) is not None:
        drawn.append(each)
        counted += each.reason is None
    return drawn


def try_drawn(
    wanted: Sequence[Drawn],
    *,
    record: Path,
    woven: Sequence[Drawn] = (),
    quick: Sequence[str] = (),
    named: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[tuple[Drawn, dict[str, Any]]]:
    """Each of `wanted` with its verdict, as they come, and before with one that is not the last word: those that need a
    process of their own are tried beside those that forks tell. The tests that `named` has under a mutant's key are
    asked before all others. The quick tests of the files `quick` run first, as they are; `record` keeps which tests
    reach what, also of the further mutants `woven`. Raises RuntimeError when the run of the tests breaks off.
    """
    named = named or {}
    with ThreadPoolExecutor(max_workers=1) as beside:
        alone: list[tuple[Drawn, Future[_Alone]]] = []
        for heard in _try_forked(wanted, record, woven=woven, quick=quick, named=named):
            if heard is not None and heard[1]["verdict"] == "alone":
                each, verdict = heard
                alone.append((each, beside.submit(_try_alone, each, verdict, named.get(each.key, ()))))
            elif heard is not None:
                yield heard
            # A few at once, or whatever there is when none is under way: a run that is ended loses little.
            done = len(list(takewhile(lambda one: one[1].done(), alone)))
            if done and done >= min(_ASKED_AGAIN_AT_ONCE, len(alone)):
                yield from _ask_again([(one, told.result()) for one, told in alone[:done]])
                del alone[:done]
        for begin in range(0, len(alone), _ASKED_AGAIN_AT_ONCE):
            yield from _ask_again([(one, told.result()) for one, told in alone[begin : begin + _ASKED_AGAIN_AT_ONCE]])


@dataclass(frozen=True, slots=True)
class _Alone:
    """What a process of its own told: the test that failed, nothing when it failed before any, None when none did."""

    tests: tuple[str, ...]
    failed: str | None
    is_unreached: bool
    is_ended: bool
    seconds: float


def _try_forked(
    wanted: Sequence[Drawn],
    record: Path,
    *,
    woven: Sequence[Drawn],
    quick: Sequence[str],
    named: Mapping[str, Sequence[str]],
) -> Iterator[tuple[Drawn, dict[str, Any]] | None]:
    """The verdicts of one run of the tests; None now and then while there is none."""
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory(prefix="golem-drawn-") as folder, os.fdopen(reading):
        near = [list_near(each.module, each.mutant)[:_MOST_FILES] for each in wanted]
        chosen = {each.key for each in wanted}
        described = [_describe(each) for each in (*wanted, *(each for each in woven if each.key not in chosen))]
        modules = {each["module"] for each in described} | {used for each in described for used in each["probes"]}
        plan = {
            "modules": {module: str(source_of(module)) for module in sorted(modules)},
            "wanted": [
                {**told, "files": files, "named": named.get(each.key, ())}
                for each, told, files in zip(wanted, described, near, strict=False)
            ],
            "woven": described[len(wanted) :],
            "quick": quick,
            "record": str(record),
            "descriptor": writing,
        }
        (Path(folder) / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        log = Path(folder) / "log"
        asked = {split_word(file)[0] for each in near for file in each} | set(quick)
        files = sorted(asked | {_file_of(test) for each in wanted for test in named.get(each.key, ())})
        with log.open("wb") as output:
            running = subprocess.Popen(
                [*_PYTEST, "--timeout=0", "-p", "tests.proof.drawn_session", *files],
                cwd=CHECKOUT,
                pass_fds=(writing,),
                env={**os.environ, PLAN_VARIABLE: f"{folder}/plan.json"},
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
            )
        os.close(writing)
        told, numbered = 0, {(each.module, each.mutant.number): each for each in wanted}
        try:
            for line in read_lines(reading, patience_seconds=_PAUSE_SECONDS):
                if line is None:
                    yield None
                    continue
                verdict = json.loads(line)
                told += verdict.get("is_last", True)
                yield numbered[verdict["module"], verdict["number"]], verdict
        finally:
            if told < len(wanted):
                running.terminate()
            running.wait()
        if told < len(wanted):
            raise RuntimeError(f"the run of the tests ended early:\n{log.read_text(errors='replace')[-4000:]}")


def _file_of(test: str) -> str:
    return split_word(test)[0].partition("::")[0]


def _describe(drawn: Drawn) -> dict[str, Any]:
    return {
        "module": drawn.module,
        "number": drawn.mutant.number,
        "probes": list_probes(drawn.module, drawn.mutant),
    }


def _try_alone(drawn: Drawn, told: dict[str, Any], named: Sequence[str]) -> _Alone:
    """In a process of its own: the tests named for it, the files that compare its kind and the nearest one, tests that
    reach it, or else the nearest files.
    """
    near = list_near(drawn.module, drawn.mutant)
    reaching = told.get("reaching", [])[:_MOST_REACHING]
    files = [*named, *(near[:_MOST_BESIDE] if reaching else near[:_MOST_ALONE]), *reaching]
    run = _run_alone(files, drawn=drawn, named=named)
    return _Alone(
        tests=tuple(files),
        failed=next(iter(run.failed), None if run.is_fit else ""),
        is_unreached=bool(told.get("is_unreached")),
        is_ended=run.is_ended,
        seconds=run.seconds + told.get("seconds", 0),
    )


def _ask_again(tried: Sequence[tuple[Drawn, _Alone]]) -> Iterator[tuple[Drawn, dict[str, Any]]]:
    """What failed with a mutant is asked again without one, all in one run, and where that tells nothing each in its
    own.
    """
    failed = sorted({told.failed for _, told in tried if told.failed})
    again = _run_alone(failed, drawn=None) if failed else _Run((), is_fit=True, is_ended=True, seconds=0)
    passed = set(failed) - set(again.failed) if again.is_ended and (again.is_fit or again.failed) else set()
    for each, told in tried:
        seconds = round(told.seconds, 1)
        verdict = {"verdict": "unreached" if told.is_unreached else "survived", "all": told.is_ended}
        if told.failed in passed or (told.failed is not None and _passes(told.failed or told.tests[0])):
            verdict = {"verdict": "noticed", "by": told.failed or _NO_TEST}
        yield each, {**verdict, "alone": True, "seconds": seconds}


def _passes(test: str) -> bool:
    run = _run_alone([test], drawn=None)
    if not run.is_fit and not run.failed and "[" in test:
        # Parameters that are made of the table have other names without the mutant.
        run = _run_alone([test.partition("[")[0]], drawn=None)
    return run.is_fit and run.is_ended


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of tests: those that failed, whether nothing else went wrong, whether all of them ran."""

    failed: tuple[str, ...]
    is_fit: bool
    is_ended: bool
    seconds: float


def _run_alone(tests: Sequence[str], *, drawn: Drawn | None, named: Sequence[str] = ()) -> _Run:
    """The tests in a process of their own, those `named` first, with the mutant until the first that fails, or all of
    them without one.
    """
    with tempfile.TemporaryDirectory(prefix="golem-mutant-") as folder:
        environment = {
            **{name: value for name, value in os.environ.items() if name not in SERVERS},
            SECONDS_VARIABLE: str(_ALONE_SECONDS if drawn is not None else _MOST_SECONDS),
            WORDS_VARIABLE: json.dumps(dict(split_word(each) for each in tests)),
            FIRST_VARIABLE: json.dumps([split_word(each)[0] for each in named]),
        }
        if drawn is not None:
            environment |= write_sources(drawn.module, drawn.mutant, Path(folder))
        paths = dict.fromkeys(split_word(each)[0] for each in tests)
        with subprocess.Popen(
            [*_PYTEST, *(["-x"] if drawn is not None else []), "-p", "tests.proof.drawn_alone", *paths],
            cwd=CHECKOUT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as running:
            ending = Timer(_MOST_SECONDS, running.kill)
            ending.start()
            output = running.stdout.read() if running.stdout is not None else ""
            _, status, spent = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
            ending.cancel()
    failed = tuple(re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE))
    is_over = OUT_OF_TIME in output or running.returncode < 0
    return _Run(
        failed=failed,
        is_fit=not failed and (is_over or running.returncode in (0, 5)),
        is_ended=not is_over,
        seconds=spent.ru_utime + spent.ru_stime,
    )


@proof(
    id="drawn.mutants",
    what=(
        f"of {DRAWN} mutants that the commit's hash draws outside the safety code at least {LEAST_PERCENT}% are noticed"
        f" by a test at the first pass, and of each app's at least {LEAST_PERCENT_OF_AN_APP}%"
    ),
    rounds=DRAWN,
)
def prove_drawn(progress: Progress) -> None:
    """A round is a mutant of the draw. A run that was ended goes on; another commit begins anew."""
    commit = read_commit()
    kept = progress.path.with_name("drawn.json")
    known = _load_known(kept, commit)
    names = progress.path.with_name("drawn_names.json")
    drawn = draw(progress.rounds, names, seed=commit)
    wanted = [each for each in drawn if each.reason is None and not has_last_word(known.get(each.key))]
    # The quick tests run once, also for what a run of more rounds draws.
    woven = draw(DRAWN, names, seed=commit)
    told = [{"module": each.module, "name": each.mutant.name, "reason": each.reason} for each in drawn]
    record = progress.path.with_name("drawn_reached.json")
    _report(progress, commit, drawn, known)
    for each, verdict in try_drawn(wanted, record=record, woven=woven, quick=list_quick(), named=_list_named(wanted)):
        known[each.key] = verdict
        write_whole(kept, json.dumps({"commit": commit, "drawn": told, "verdicts": known}, indent=1))
        _report(progress, commit, drawn, known)


def _load_known(kept: Path, commit: str) -> dict[str, Any]:
    """The verdicts of an earlier run at this commit."""
    told: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    return dict(told["verdicts"]) if told.get("commit") == commit else {}


def _list_named(wanted: Sequence[Drawn]) -> dict[str, list[str]]:
    """The test that noticed each mutant in an earlier run, where it is still there, and of each of `wanted` that is a
    threshold the test that the table of thresholds names.
    """
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    noticed = [*kept["noticed_before"], *(each for told in kept["passes"].values() for each in told["noticed"])]
    named = {
        f"{each['module']}: {each['name']}": [each["by"]]
        for each in noticed
        if each["by"] not in ("", _NO_TEST) and (CHECKOUT / _file_of(each["by"])).exists()
    }
    for each in wanted:
        edge = list_edges().get(f"{each.module}.{each.mutant.place}")
        if edge is not None:
            named[each.key] = [*named.get(each.key, ()), edge]
    return named


def _report(progress: Progress, commit: str, drawn: Sequence[Drawn], known: Mapping[str, Any]) -> None:
    counted = [each for each in drawn if each.reason is None]
    tried = [each for each in counted if has_last_word(known.get(each.key))]
    left = [each for each in tried if known[each.key]["verdict"] != "noticed"]
    unreached = sum(known[each.key]["verdict"] == "unreached" for each in left)
    late = sum(not known[each.key].get("all", True) for each in left)
    seconds = sum(known[each.key].get("seconds", 0) for each in tried)
    progress.done = len(tried)
    progress.notes[:] = [
        f"commit {commit}, first pass: {len(tried)} tried, {len(tried) - len(left)} noticed by a test,"
        f" {len(left)} not: {unreached} that no test reached, {late} whose time was over before all near tests had met"
        f" them; {len(drawn) - len(counted)} more change nothing",
        f"{seconds / max(1, len(tried)):.1f} s of the processor each",
        *(f"{known[each.key]['verdict']}: {each}" for each in left),
        *(f"changes nothing: {each}: {each.reason}" for each in drawn if each.reason is not None),
    ]
    # A part says nothing yet: what is noticed at once is told first.
    is_whole = len(tried) == len(counted)
    told = [(each.module, known[each.key]["verdict"] == "noticed") for each in tried]
    progress.findings[:] = find_shortfalls(told) if is_whole else []
    progress.save()
