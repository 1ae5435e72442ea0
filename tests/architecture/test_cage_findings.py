"""The table of what attacks found in the cage names tests that exist, and every hole that can be put back."""

from __future__ import annotations

import re

from tests.architecture.sources import ROOT, list_tracked
from tests.proof.heists.holes import HOLES

TABLE = (ROOT / "docs" / "policy-cage-findings.md").read_text(encoding="utf-8")
IN_THE_SERVER = "L8"


def test_every_test_the_findings_name_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", TABLE))
    tests = [path for path in list_tracked() if path.startswith("tests/") and path.endswith(".py")]
    written = "\n".join((ROOT / path).read_text(encoding="utf-8") for path in tests)
    assert len(named) > 30
    assert sorted(name for name in named if f"def {name}(" not in written) == []


def test_each_of_the_fifteen_holes_is_in_the_table_and_is_put_back() -> None:
    listed = re.findall(r"^\| ([HML]\d) \| (?:high|medium|low) \|", TABLE, re.MULTILINE)
    assert len(listed) == len(set(listed)) == 15
    later = {hole.id for hole in HOLES if hole.id.startswith("N")}
    assert {hole.id for hole in HOLES} - later == set(listed) - {IN_THE_SERVER}
    assert later and all(f"{one} " in TABLE for one in later)
