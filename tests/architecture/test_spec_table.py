"""docs/history/spec-table.md names files and decisions that exist; what departs has a decision."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/history/spec-table.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if re.match(r"\| [A-Z]", line)]


def test_every_element_has_a_state_and_a_place() -> None:
    assert len(ROWS) == 413 and all(len(row) == 4 for row in ROWS)
    states = re.compile(r"holds|decision 0\d{3}")
    assert [row for row in ROWS if not states.fullmatch(row[2])] == []


def test_each_place_is_files_that_exist_and_nothing_else() -> None:
    """A test that stands as the place of an element is one of them."""
    assert [row for row in ROWS if not re.fullmatch(r"`[^`]+`(, `[^`]+`)*", row[3])] == []
    named = [(row[1], name) for row in ROWS for name in re.findall(r"`([^`]+)`", row[3])]
    assert [(element, name) for element, name in named if not (ROOT / name).is_file()] == []


def test_no_element_stands_there_twice() -> None:
    assert [count for count in Counter((row[0], row[1]) for row in ROWS).items() if count[1] > 1] == []


def test_every_decision_of_the_table_exists() -> None:
    kept = {path.name[:4] for path in (ROOT / "docs/decisions").glob("*.md")}
    assert {row[2].removeprefix("decision ") for row in ROWS if row[2].startswith("decision")} <= kept
