"""Open pages while an action ends: each says it is out of date, and then shows what came of it without a reload."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from golem_project.heartbeat.duties.regular_valuation import value_after_outcomes
from tests.live_golem import LiveGolem
from tools_app.core import clock

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("admin:index", "#owned"),
        ("fleet", "[data-part]"),
        ("cockpit", "[data-part]"),
        ("admin:archetypes_app_golem_change", "#money"),
    ],
)
def test_an_open_page_is_marked_and_shows_the_new_value_without_a_reload(
    open_window: Any, demo: LiveGolem, name: str, part: str
) -> None:
    value_after_outcomes(now=clock.now())
    visit = open_window()
    visit.log_in(demo.owner.username)
    page = visit.open(reverse(name) if part == "#owned" or name == "fleet" else reverse(name, args=[demo.golem.pk]))
    mark, before = page.locator("#fresh"), page.locator(part).inner_text()
    expect(mark).to_be_hidden()
    page.evaluate("window.isTheSamePage = true")
    demo.commit(demo.preview()["permit_id"])
    expect(mark).to_be_visible()
    value_after_outcomes(now=clock.now())
    expect(mark).to_be_hidden()
    expect(page.locator(part)).not_to_have_text(before)
    assert page.evaluate("window.isTheSamePage") is True
