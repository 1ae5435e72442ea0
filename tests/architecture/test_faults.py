"""docs/history/faults.md tells of each fault once and names tests that exist."""

from __future__ import annotations

import re

from tests.architecture.sources import ROOT, list_tracked

TABLE = (ROOT / "docs" / "history" / "faults.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in TABLE.splitlines() if re.match(r"\| F\d", line)]


def test_every_fault_of_the_list_has_a_row() -> None:
    assert [row[0] for row in ROWS] == [f"F{number}" for number in range(1, 35)]
    assert all(len(row) == 4 for row in ROWS)


def test_every_test_the_faults_name_exists() -> None:
    tests = [path for path in list_tracked() if path.startswith("tests/") and path.endswith(".py")]
    written = "\n".join((ROOT / path).read_text(encoding="utf-8") for path in tests)
    named = [re.findall(r"`(test_\w+)`", row[3]) for row in ROWS]
    assert all(named)
    assert [name for names in named for name in names if f"def {name}(" not in written] == []
