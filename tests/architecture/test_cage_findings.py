"""What the cage's page says of each rule, and the table of what attacks found, name tests that exist."""

from __future__ import annotations

import re

import pytest

from tests.architecture.sources import ROOT, list_tracked
from tests.proof.heists.holes import HOLES

PAGE = (ROOT / "docs" / "policy-cage.md").read_text(encoding="utf-8")
TABLE = (ROOT / "docs" / "history" / "policy-cage-findings.md").read_text(encoding="utf-8")
IN_THE_SERVER = "L8"


@pytest.mark.parametrize("text", [PAGE, TABLE], ids=["page", "findings"])
def test_every_test_the_page_and_the_findings_name_exists(text: str) -> None:
    named = set(re.findall(r"`(test_\w+)`", text))
    tests = [path for path in list_tracked() if path.startswith("tests/") and path.endswith(".py")]
    written = "\n".join((ROOT / path).read_text(encoding="utf-8") for path in tests)
    assert len(named) > 30
    assert sorted(name for name in named if f"def {name}(" not in written) == []


def test_every_rule_that_the_page_tells_has_its_proof_beside_it() -> None:
    rules = PAGE.partition("## What it judges")[2].partition("What the contract does not do")[0]
    told = re.split(r"^- ", rules, flags=re.MULTILINE)[1:]
    assert len(told) > 20
    assert [one.splitlines()[0] for one in told if "`test_" not in one] == []


def test_every_bound_that_the_page_admits_has_a_test_that_shows_it() -> None:
    bounds = PAGE.partition("What the contract does not do")[2].partition("## ")[0]
    told = re.split(r"^- ", bounds, flags=re.MULTILINE)[1:]
    assert len(told) > 12
    assert [one.splitlines()[0] for one in told if "`test_" not in one] == []


def test_each_of_the_fifteen_holes_is_in_the_table_and_is_put_back() -> None:
    listed = re.findall(r"^\| ([HML]\d) \| (?:high|medium|low) \|", TABLE, re.MULTILINE)
    assert len(listed) == len(set(listed)) == 15
    later = {hole.id for hole in HOLES if hole.id.startswith("N")}
    assert {hole.id for hole in HOLES} - later == set(listed) - {IN_THE_SERVER}
    assert later and all(f"{one} " in TABLE for one in later)
