"""A button that a document names is called so on a page."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.architecture.sources import ROOT

GUIDES = (
    "approve-a-change",
    "bring-a-tool",
    "choose-who-signs",
    "invite-people",
    "let-a-golem-live",
    "talk-to-a-golem",
    "write-a-module",
)
_QUOTED = re.compile(r'"([A-Z][a-z]+(?: [a-z]+){0,5})"|\*\*([A-Z][a-z]+(?: [a-z]+){0,5})\*\*')


@cache
def read_pages() -> str:
    """Every template, and the Python that gives templates their words."""
    found = list((ROOT / "templates").rglob("*.html"))
    for package in ("permits_app", "archetypes_app", "golem_project", "memory_app", "tools_app"):
        found += (ROOT / package).rglob("*.py")
    return "\n".join(path.read_text(encoding="utf-8") for path in found).lower()


@pytest.mark.parametrize("guide", GUIDES)
def test_every_button_a_guide_names_is_on_a_page(guide: str) -> None:
    text = " ".join((ROOT / "docs" / "how-to" / f"{guide}.md").read_text(encoding="utf-8").split())
    named = [one or other for one, other in _QUOTED.findall(text)]
    assert named, "a guide without a button"
    assert [each for each in named if each.lower() not in read_pages()] == []
