"""A pytest plugin: with `--draw` what changed runs whole, of the expensive families a part, and everything else.

The part is drawn by the commit's hash, or by GOLEM_DRAW_SEED; the same seed on the same files draws the same. The
process that hands tests out decides once and tells its workers. Who chooses tests by a path, `-k`, `-m` or `--lf` gets
all that were chosen, unless they name a seed as well.

Without `--draw` everything runs, as `make test-all` does; when that was green and nothing is uncommitted, the commit is
kept as the one to compare with.
"""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest

from golem_project.embedded.paths import CHECKOUT
from tests.drawing.changes import Changes, find_changes
from tests.drawing.draw import NO_KIND, Candidate, Whole, draw
from tests.drawing.families import FAMILIES, find_family
from tests.drawing.reach import Reach
from tests.drawing.verdicts import Verdicts, find_unchanged, hash_inputs, read_verdicts, write_verdicts
from tests.durations import A_SHORT_FILE_SECONDS, read_durations

SEED_VARIABLE: Final = "GOLEM_DRAW_SEED"
VERDICTS: Final = CHECKOUT / "var" / "verdicts.json"
LAST_RUN: Final = CHECKOUT / "var" / "suite.json"
"""What the last run over the whole suite took, for `make bench ONLY=suite`."""
BUILT_IN: Final = "uniswap"
"""What lies on every local chain, so that its tests name no further protocol."""
_TOLD: Final = "drawing_plan"
_CHOSEN_BY: Final = ("keyword", "markexpr", "lf", "deselect", "ignore", "ignore_glob")


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run draws by, the same in all of its processes."""

    seed: str
    whole: Whole
    told_at: str
    """A file in which the first process that has collected says how many were drawn."""

    def as_json(self) -> str:
        return json.dumps({**asdict(self), "whole": _whole_as_json(self.whole)})


def read_plan(text: str) -> Plan:
    """A plan as the process that hands tests out wrote it."""
    told = json.loads(text)
    whole = told["whole"]
    names = ("paths", "kinds", "unchanged_inputs")
    return Plan(told["seed"], Whole(**{**whole, **{name: frozenset(whole[name]) for name in names}}), told["told_at"])


def _whole_as_json(whole: Whole) -> Mapping[str, Any]:
    return {name: sorted(each) if isinstance(each, frozenset) else each for name, each in asdict(whole).items()}


@dataclass
class Drawing:
    """The state of the plugin in one process."""

    plan: Plan | None = None
    changes: Changes | None = None
    begun: float = field(default_factory=time.monotonic)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    not_passed: set[str] = field(default_factory=set)
    ran: set[str] = field(default_factory=set)
    has_told: bool = False


STATE: Final = pytest.StashKey[Drawing]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option, which `make test` gives and `make test-all` does not."""
    parser.addoption("--draw", action="store_true", help="run what changed, and a drawn part of the expensive families")


def is_worker(config: pytest.Config) -> bool:
    """Whether another process hands this one its tests."""
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    """Decide what is drawn, or hear it."""
    state = config.stash[STATE] = Drawing()
    if is_worker(config):
        told = getattr(config, "workerinput").get(_TOLD)  # noqa: B009 (pytest-xdist puts it there)
        state.plan = read_plan(told) if told else None
    elif config.getoption("draw") and (SEED_VARIABLE in os.environ or not is_narrowed(config)):
        verdicts = read_verdicts(VERDICTS)
        state.changes = find_changes(CHECKOUT, green=verdicts.green or None)
        state.plan = make_plan(state.changes, verdicts, CHECKOUT)


def make_plan(changes: Changes, verdicts: Verdicts, checkout: Path) -> Plan:
    """The plan for what changed in `checkout`."""
    unchanged = find_unchanged(checkout, verdicts)
    whole = (
        Whole(everything=changes.why)
        if changes.files is None
        else Reach(checkout).find(changes.files, unchanged_inputs=unchanged)
    )
    handle, told_at = tempfile.mkstemp(prefix="golem-drawn-", suffix=".json")
    os.close(handle)
    return Plan(os.environ.get(SEED_VARIABLE) or changes.head or "0", whole, told_at)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker the plan. `node` is pytest-xdist's, which has no types."""
    plan = node.config.stash[STATE].plan
    if plan is not None:
        node.workerinput[_TOLD] = plan.as_json()


def pytest_report_header(config: pytest.Config) -> list[str]:
    """What is drawn and why, and how to run everything."""
    state = config.stash[STATE]
    if state.plan is None or state.changes is None:
        return []
    whole, changes = state.plan.whole, state.changes
    lines = [
        f"drawn by seed {state.plan.seed} (again: {SEED_VARIABLE}={state.plan.seed} make test); all: make test-all"
    ]
    if whole.everything:
        return [*lines, f"everything runs: {whole.everything}"]
    count = len(changes.files or ())
    lines.append(f"compared with {changes.since[:12]}, {changes.why}: {count} files changed")
    for family in FAMILIES:
        if family.name in whole.unchanged_inputs:
            lines.append(f"  {family.name}: left out, passed with these inputs")
        elif family.name in whole.families:
            lines.append(f"  {family.name}: whole, {whole.families[family.name]} changed")
        elif family.is_of_one_of_many:
            lines.append(f"  {family.name}: one of each")
        else:
            lines.append(f"  {family.name}: one in {family.one_in}")
    named = sorted(whole.paths)
    return [*lines, *([f"  whole by what changed: {', '.join(named)}"] if named else [])]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not drawn, before anything is ordered."""
    plan = config.stash[STATE].plan
    if plan is None:
        return
    drawn = draw([describe(item) for item in items], seed=plan.seed, whole=plan.whole)
    left = [item for item in items if item.nodeid in drawn.left_out]
    report = {
        "all": len(items),
        "left_out": len(left),
        "families": drawn.counts,
        "seconds": estimate(Counter(map(_path_of, items)), Counter(map(_path_of, left))),
    }
    _write(Path(plan.told_at), json.dumps(report))
    if left:
        items[:] = [item for item in items if item.nodeid not in drawn.left_out]
        config.hook.pytest_deselected(items=left)


def _path_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def estimate(collected: Mapping[str, int], left_out: Mapping[str, int]) -> int:
    """How long the drawn tests take one after the other: of each file the part of its seconds that its tests are."""
    known = read_durations()
    return round(
        sum(
            known.get(path, A_SHORT_FILE_SECONDS) * (count - left_out.get(path, 0)) / count
            for path, count in collected.items()
        )
    )


def describe(item: pytest.Item) -> Candidate:
    """What the draw knows of a collected test."""
    mark = item.get_closest_marker("protocols")
    kind = " ".join(str(each) for each in mark.args) or BUILT_IN if mark else NO_KIND
    is_one_of_many = item.get_closest_marker("one_of_many") is not None
    return Candidate(item.nodeid, _path_of(item), hasattr(item, "callspec"), kind, is_one_of_many)


def tell_counts(config: pytest.Config) -> list[str]:
    """How many tests of each family run, once a process has collected them."""
    plan = config.stash[STATE].plan
    text = Path(plan.told_at).read_text(encoding="utf-8") if plan and Path(plan.told_at).exists() else ""
    if not text:
        return []
    report = json.loads(text)
    kept = report["all"] - report["left_out"]
    families = [f"  {name}: {ran} of {all}, {all - ran} left out" for name, (ran, all) in report["families"].items()]
    return [
        f"drawn: {kept} of {report['all']} tests, {report['left_out']} left out",
        f"as long as {report['seconds']} seconds of one process among three, by tests/durations.json",
        *families,
    ]


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """In a run of one process, before the first test."""
    return tell_counts(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: Any) -> None:
    """In a run of several, when the first has collected. Both are pytest-xdist's."""
    state, reporter = node.config.stash[STATE], node.config.pluginmanager.get_plugin("terminalreporter")
    lines = [] if state.has_told else tell_counts(node.config)
    if lines and reporter is not None:
        state.has_told = True
        reporter.ensure_newline()
        for line in lines:
            reporter.write_line(line)


class Recorder:
    """Hears of every test in the process that hands them out."""

    def __init__(self, state: Drawing) -> None:
        self.state = state

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what each file took, and which families did not pass whole."""
        path = report.nodeid.partition("::")[0]
        self.state.seconds[path] += report.duration
        if report.when == "call":
            self.state.counts[path] += 1
        family = find_family(path)
        if family is not None:
            self.state.ran.add(family.name)
            if report.outcome != "passed":
                self.state.not_passed.add(family.name)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Listen where all reports arrive."""
    if not is_worker(session.config):
        session.config.pluginmanager.register(Recorder(session.config.stash[STATE]), "drawing-recorder")


def count_core_seconds() -> int:
    """What this process and those that it waited for used of the processors: its workers, with their servers."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(sum(each.ru_utime + each.ru_stime for each in used))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """At the end of a run of the whole suite, when its workers are gone."""
    if not is_worker(config) and not is_narrowed(config):
        terminalreporter.write_line(f"used: {count_core_seconds()} core seconds")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep what this run showed."""
    config = session.config
    state = config.stash[STATE]
    if is_worker(config):
        return
    was_whole = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not session.shouldstop
    if was_whole and not is_narrowed(config) and not config.option.collectonly:
        keep_verdicts(state, is_green=exitstatus == pytest.ExitCode.OK, is_drawn=state.plan is not None)
        keep_figures(state, config)
    if state.plan is not None:
        Path(state.plan.told_at).unlink(missing_ok=True)


def is_narrowed(config: pytest.Config) -> bool:
    """Whether somebody chose tests by name, so that the run tells nothing of the suite."""
    chosen = [each for each in config.args if Path(each).resolve() not in (CHECKOUT / "tests", CHECKOUT)]
    return bool(chosen) or any(config.getoption(name, default=None) for name in _CHOSEN_BY)


def keep_verdicts(state: Drawing, *, is_green: bool, is_drawn: bool) -> None:
    """A green whole run of what is committed is the one to compare with; families with inputs stand for themselves."""
    kept = read_verdicts(VERDICTS)
    inputs = dict(kept.inputs)
    for family in FAMILIES:
        was_whole = state.plan is None or state.plan.whole.holds(family)
        if family.inputs and was_whole and family.name in state.ran and family.name not in state.not_passed:
            inputs[family.name] = hash_inputs(CHECKOUT, family)
        elif family.name in state.not_passed:
            inputs.pop(family.name, None)
    verdicts = replace(kept, inputs=inputs)
    if is_green and not is_drawn:
        changes = find_changes(CHECKOUT, green=None)
        verdicts = replace(verdicts, green=changes.head if changes.is_clean else kept.green)
    write_verdicts(VERDICTS, verdicts)


def keep_figures(state: Drawing, config: pytest.Config) -> None:
    """What the run took, by file, beside how many tests there are."""
    plan = state.plan
    text = Path(plan.told_at).read_text(encoding="utf-8") if plan and Path(plan.told_at).exists() else ""
    ran = sum(state.counts.values())
    figures = {
        "is_drawn": plan is not None,
        "seconds": round(time.monotonic() - state.begun, 1),
        "core_seconds": count_core_seconds(),
        "workers": config.getoption("numprocesses", default=0) or 1,
        "ran": ran,
        "all": json.loads(text)["all"] if text else ran,
        "files": {path: [state.counts[path], round(taken, 2)] for path, taken in sorted(state.seconds.items())},
    }
    _write(LAST_RUN, json.dumps(figures, indent=1) + "\n")


def _write(file: Path, text: str) -> None:
    """Whole or not at all: several workers write the same."""
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_name(f"{file.name}.{os.getpid()}")
    made.write_text(text, encoding="utf-8")
    made.replace(file)
