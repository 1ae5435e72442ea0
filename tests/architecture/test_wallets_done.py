"""docs/history/wallets-done.md has each point of a protocol that is done for each folder of wallets, and names tests
that exist.
"""

from __future__ import annotations

import re
from typing import Final

from tests.architecture.sources import ROOT, list_tracked

TEXT: Final = (ROOT / "docs/history/wallets-done.md").read_text(encoding="utf-8")
ROWS: Final = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in TEXT.splitlines() if line[:1] == "|"]
POINTS: Final = 19
SHORTEST_REASON: Final = 20


def test_every_point_stands_for_every_folder_with_a_test_or_a_reason() -> None:
    head, _, *rows = ROWS
    assert [row[0].partition(" ")[0] for row in rows] == [str(number) for number in range(1, POINTS + 1)]
    assert {len(row) for row in rows} == {len(head)}
    assert [cell for row in rows for cell in row[1:] if "`test_" not in cell and len(cell) < SHORTEST_REASON] == []


def test_every_test_that_is_named_exists() -> None:
    sources = [path for path in list_tracked() if path.startswith("tests/") and path.endswith(".py")]
    defined = {
        name
        for path in sources
        for name in re.findall(r"^\s*(?:async )?def (test_\w+)", (ROOT / path).read_text(), re.MULTILINE)
    }
    named = set(re.findall(r"`(test_\w+)`", TEXT))
    assert len(named) > POINTS and sorted(named - defined) == []
