"""The table of an owner's faults names tests that exist."""

from __future__ import annotations

import re

from tests.architecture.sources import ROOT, list_tracked


def test_every_test_the_table_names_exists() -> None:
    table = (ROOT / "docs" / "history" / "owner-faults.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", table))
    tests = [path for path in list_tracked() if path.startswith("tests/") and path.endswith(".py")]
    written = "\n".join((ROOT / path).read_text(encoding="utf-8") for path in tests)
    assert len(named) > 20
    assert sorted(name for name in named if f"def {name}(" not in written) == []
