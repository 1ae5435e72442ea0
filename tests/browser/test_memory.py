"""Memory in the browser, on a golem that really swapped: search with reasons, curves, histories, dreams, buttons."""

from __future__ import annotations

from typing import Any

import pytest

from memory_app.actions.update_directive import update_directive
from memory_app.models import Directive, Episode
from tests import factories
from tests.browser.conftest import press
from tests.live_golem import LiveGolem
from tools_app.core import clock

pytestmark = pytest.mark.browser


def test_an_owner_searches_as_the_agent_would_and_sees_why_each_row_ranked(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in("owner-a")
    before = Episode.objects.get(golem=demo.golem).access_count
    page = visit.open("/admin/memory_app/episode/memory/")
    page.get_by_label("Question").fill("swap of USDC for WETH")
    press(page.get_by_role("button", name="Ask"))
    visit.shoot("memory-search")
    row = page.locator(".gx-ranked tbody tr").first.inner_text()
    assert "by words" in row and "retention" in row
    assert page.locator("svg.gx-plot").count() == 2
    assert page.locator("path.gx-curve").count() == 1
    assert page.locator("rect.gx-bar").count() == 1
    assert Episode.objects.get(golem=demo.golem).access_count == before


def test_an_episode_shows_its_permit_prediction_outcome_and_curve_and_is_pinned(
    open_window: Any, demo: LiveGolem, swap_id: str
) -> None:
    visit = open_window()
    visit.log_in("owner-a")
    episode = Episode.objects.get(golem=demo.golem)
    page = visit.open(f"/admin/memory_app/episode/{episode.pk}/change/")
    visit.shoot("memory-episode")
    text = page.inner_text("#content")
    assert swap_id in text
    assert "Predicted and seen" in text and "Reflection" in text
    assert page.locator("path.gx-curve").count() == 1
    press(page.get_by_role("link", name="Pin", exact=True))
    page.get_by_label("Reason").fill("worth keeping")
    press(page.get_by_role("button", name="Pin", exact=True))
    episode.refresh_from_db()
    assert episode.is_pinned


def test_a_playbooks_history_shows_diffs_and_restores(open_window: Any, demo: LiveGolem) -> None:
    for number in (1, 2):
        update_directive(
            golem_id=demo.golem.pk,
            section="Sizing",
            change=f"Part {number}",
            reason="learned",
            actor="key:1",
            now=clock.now(),
        )
    first = Directive.objects.get(golem=demo.golem, version=1)
    visit = open_window()
    visit.log_in("owner-a")
    page = visit.open(f"/admin/memory_app/directive/{first.pk}/change/")
    visit.shoot("memory-playbook")
    assert "v2" in page.inner_text("#content")
    press(page.get_by_role("link", name="Restore this version"))
    page.get_by_label("Reason").fill("the first was better")
    press(page.get_by_role("button", name="Restore", exact=True))
    newest = Directive.objects.filter(golem=demo.golem).latest("version")
    assert (newest.version, newest.text) == (3, first.text)


def test_dream_journals_and_insights_are_there_to_read(open_window: Any, demo: LiveGolem) -> None:
    dream = factories.make_dream(golem=demo.golem)
    insight = factories.make_insight(golem=demo.golem)
    visit = open_window()
    visit.log_in("owner-a")
    page = visit.open(f"/admin/memory_app/dreamjournal/{dream.pk}/change/")
    visit.shoot("memory-dream")
    assert "prediction error" in page.inner_text("#content")
    page = visit.open(f"/admin/memory_app/insight/{insight.pk}/change/")
    visit.shoot("memory-insight")
    text = page.inner_text("#content")
    assert "Gas is cheap at night" in text and "60%" in text
    assert page.locator("path.gx-curve").count() == 1
    assert visit.overflow() == 0
