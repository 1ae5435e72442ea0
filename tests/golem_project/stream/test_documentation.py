"""The page about events says what the schemas say."""

from __future__ import annotations

from golem_project.management.commands.events_page import PAGE
from golem_project.stream.documentation import write_page
from tools_app.core.events import EventType


def test_the_page_of_events_is_made_from_the_schemas() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == write_page()
    assert all(f"| `{kind}` |" in text for kind in EventType)
