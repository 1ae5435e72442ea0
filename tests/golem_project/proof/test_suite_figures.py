"""The figures of the suite are read from what its last run left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import suite
from tests.bench.suite import LastRun, count_more_seconds, measure_growth, measure_suite
from tests.drawing import plugin
from tests.drawing.plugin import Drawing, keep_figures

CASES = "tests/catalogue/test_cases.py"
READS = "tests/catalogue/test_reads.py"
RULES = "tests/architecture/test_tool_rules.py"


def test_a_hundred_cases_more_cost_a_quarter_of_themselves_and_what_all_rules_take_of_each_tool() -> None:
    run = LastRun(True, 600.0, 2, 100, 200, {CASES: (10, 20.0), RULES: (8, 13.0)})
    # 25 of 100 cases of two seconds, and 200 tools of a tenth, on two workers.
    assert count_more_seconds(run, tools=130, reads=80) == pytest.approx((25 * 2 + 200 * 0.1) / 2)


def test_a_hundred_reads_more_cost_what_each_read_is_asked_in_every_run() -> None:
    """Nobody draws among them: a folder's reads are one test, of five folders here with eighty."""
    run = LastRun(True, 600.0, 2, 100, 200, {CASES: (10, 20.0), RULES: (8, 13.0), READS: (5, 24.0)})
    assert count_more_seconds(run, tools=130, reads=80) == pytest.approx((25 * 2 + 100 * 0.3 + 200 * 0.1) / 2)


def test_the_last_run_is_kept_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    file = tmp_path / "suite.json"
    monkeypatch.setattr(plugin, "LAST_RUN", file)
    monkeypatch.setattr(suite, "LAST_RUN", file)
    state = Drawing()
    state.seconds.update({CASES: 3.0, RULES: 0.5})
    state.counts.update({CASES: 4, RULES: 8})
    keep_figures(state, pytestconfig)
    assert json.loads(file.read_text())["ran"] == 12
    figures = {figure.id: figure for figure in [*measure_suite(), *measure_growth()]}
    assert set(figures) == {
        "suite.minutes",
        "suite.core_seconds",
        "suite.ran",
        "suite.snapshot_lines",
        "growth.seconds",
    }
    assert figures["suite.core_seconds"].value >= 1
    assert figures["suite.ran"].value == 12 and figures["suite.snapshot_lines"].ok and figures["growth.seconds"].ok


def test_without_a_run_the_figures_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "LAST_RUN", tmp_path / "none.json")
    with pytest.raises(FileNotFoundError, match="Fix: make test"):
        list(measure_suite())
