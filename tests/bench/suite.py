"""What the tests cost: the last run of the suite, the lines of snapshots, and what a hundred more cases would add.

A whole run takes its time, so none is begun here: the last `make test` or `make test-all` left what it took.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from golem_project.embedded.paths import CHECKOUT
from tests.bench.figures import Figure, measure
from tests.catalogue.shelf import load_reads
from tests.drawing.families import find_family
from tests.drawing.plugin import LAST_RUN
from tools_app.toolkit.registry import REGISTRY

MOST_MINUTES: Final = 12.0
MOST_CORE_SECONDS: Final = 1_300
MOST_LINES_OF_400_TOOLS: Final = 4_000
MOST_MORE_SECONDS: Final = 90.0
MORE: Final = 100
"""Cases, and reads beside them."""
_TOOLS_OF_THE_PROMISE: Final = 400
_CASES: Final = "tests/catalogue/test_cases.py"
_READS: Final = "tests/catalogue/test_reads.py"
# What tries every tool; their batches grow with each one.
_RULES: Final = (
    "tests/architecture/test_tool_rules.py",
    "tests/golem_project/pi/test_parameter_union.py",
    "tests/golem_project/pi/test_schema_is_the_server.py",
    "tests/golem_project/pi/test_versions.py",
    "tests/permits_app/test_replaced_tools.py",
    "tests/permits_app/test_spellings.py",
    "tests/tools_app/test_edges_of_parameters.py",
)


@dataclass(frozen=True, slots=True)
class LastRun:
    """What a run over the suite left. `files` holds of each file how many tests ran and the seconds they took."""

    is_drawn: bool
    seconds: float
    workers: int
    ran: int
    all: int
    files: Mapping[str, tuple[int, float]]
    core_seconds: int = 0
    """Of its processes and their servers; 0 in what an older run left."""


def read_last_run() -> LastRun:
    """The last whole or drawn run. Raises FileNotFoundError where none was made here."""
    if not LAST_RUN.exists():
        raise FileNotFoundError(f"{LAST_RUN} is not there. Fix: make test, then this again")
    told: dict[str, Any] = json.loads(LAST_RUN.read_text(encoding="utf-8"))
    return LastRun(**told)


@measure("suite")
def measure_suite() -> Iterator[Figure]:
    """The last run, how many of all tests it drew, and the stored snapshots."""
    run = read_last_run()
    name = "make test" if run.is_drawn else "make test-all"
    yield Figure(
        "suite.minutes",
        f"minutes of the last `{name}` here, on {run.workers} workers",
        round(run.seconds / 60, 1),
        "min",
        target=MOST_MINUTES if run.is_drawn else None,
        reference="20 minutes when everything ran, on a quiet machine of two cores",
    )
    yield Figure(
        "suite.core_seconds",
        "seconds of processors that it used, with its servers",
        run.core_seconds,
        "s",
        target=MOST_CORE_SECONDS if run.is_drawn else None,
        reference=f"{MOST_MINUTES:.0f} minutes of two cores are {MOST_MINUTES * 120:.0f}",
    )
    yield Figure("suite.ran", "tests that the last run ran", run.ran, "tests", reference=f"{run.all} there are")
    lines = sum(
        len(path.read_text(encoding="utf-8").splitlines()) for path in (CHECKOUT / "tests/snapshots").rglob("*.json")
    )
    yield Figure(
        "suite.snapshot_lines",
        f"lines of stored snapshots for {len(REGISTRY)} tools",
        lines,
        "lines",
        target=MOST_LINES_OF_400_TOOLS * len(REGISTRY) / _TOOLS_OF_THE_PROMISE,
        reference="35,400 lines for 130 tools when each was told whole",
    )


@measure("growth")
def measure_growth() -> Iterator[Figure]:
    """What a hundred cases and a hundred reads more would add to `make test`, by what one costs in the last run."""
    run = read_last_run()
    yield Figure(
        "growth.seconds",
        f"seconds that {MORE} cases and {MORE} reads more add to `make test` on {run.workers} workers",
        round(count_more_seconds(run, tools=len(REGISTRY), reads=_count_reads()), 1),
        "s",
        target=MOST_MORE_SECONDS,
        reference="the seconds of a case, of a read and of all rules for one tool in the last run",
    )


def _count_reads() -> int:
    """How many questions the reads of all folders are asked in each run."""
    return sum(len(filed.cases) for filed in load_reads().values())


def count_more_seconds(run: LastRun, *, tools: int, reads: int) -> float:
    """A quarter of the cases is drawn, all `reads` are asked, and every rule meets each new tool: a write for a case,
    and a read.
    """
    count, seconds = run.files[_CASES]
    family = find_family(_CASES)
    assert count and family is not None, "the last run drew no case"
    a_case = seconds / count
    a_read = run.files[_READS][1] / reads if _READS in run.files else 0.0
    a_tool = sum(run.files[path][1] for path in _RULES if path in run.files) / tools
    return (MORE / family.one_in * a_case + MORE * a_read + 2 * MORE * a_tool) / run.workers
