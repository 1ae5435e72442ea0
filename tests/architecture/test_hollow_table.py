"""docs/hollow.md names tests and files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    line.strip("| ").split(" | ")
    for line in (ROOT / "docs/hollow.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| \d", line)
]


def test_every_test_of_the_table_exists() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = [name for row in ROWS for name in re.findall(r"`(test_\w+)`", row[3])]
    assert len(named) >= len(ROWS) > 0
    assert [name for name in named if f"def {name}(" not in sources] == []


def test_every_file_of_the_table_exists() -> None:
    named = [name for row in ROWS for name in re.findall(r"`([\w/.]+\.\w+)`", row[2])]
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_line_is_one_of_the_audit() -> None:
    assert {int(row[0]) for row in ROWS} <= set(range(1, 63))
    assert all(len(row) == 4 for row in ROWS)
