"""Who a golem is, in the browser: graph, matrix, golem page, diff, conflict; by mouse, keyboard, phone, plain HTML."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page

from archetypes_app.actions.update_vitality import VitalityFacts, update_vitality
from archetypes_app.models import Golem
from tests.browser.conftest import PHONE, press
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.browser

GRAPH = "/admin/archetypes_app/archetype/graph/"
MATRIX = "/admin/archetypes_app/toolprofile/matrix/"
WIZARD = "/admin/archetypes_app/golem/add/"

# Everything a person may want to use and can see; of a group of radio buttons the keyboard stops at one.
MARK = """
() => {
  const wanted = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]';
  const groups = new Set();
  let number = 0;
  for (const element of document.querySelectorAll('#content ' + wanted.split(',').join(', #content '))) {
    const box = element.getBoundingClientRect();
    const closed = element.closest('details:not([open])');
    const isHidden = !box.width || !box.height || getComputedStyle(element).visibility === 'hidden'
      || (closed && element.tagName !== 'SUMMARY') || element.disabled || element.tabIndex < 0;
    if (isHidden) continue;
    if (element.type === 'radio') {
      if (groups.has(element.name)) continue;
      groups.add(element.name);
      for (const twin of document.getElementsByName(element.name)) twin.dataset.stop = number;
    }
    element.dataset.stop = number++;
  }
  return number;
}
"""
FOCUSED = """
() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const rings = [element, ...element.querySelectorAll('rect')].map((each) => getComputedStyle(each));
  const isMarked = rings.some((each) => each.outlineStyle !== 'none' || each.boxShadow !== 'none');
  return [element.dataset ? element.dataset.stop ?? null : null, isMarked, element.outerHTML.slice(0, 90)];
}
"""


def walk_by_keyboard(page: Page, *, presses: int = 600) -> tuple[int, set[str], list[str]]:
    """Press Tab through the page: how many stops there are, which were reached, and which showed no focus."""
    stops = int(page.evaluate(MARK))
    reached: set[str] = set()
    unmarked: list[str] = []
    page.evaluate("() => { document.activeElement.blur(); window.getSelection().removeAllRanges(); }")
    for _ in range(presses):
        page.keyboard.press("Tab")
        stop, is_marked, text = page.evaluate(FOCUSED)
        if stop is None:
            continue
        if stop in reached and len(reached) == stops:
            break
        reached.add(stop)
        if not is_marked:
            unmarked.append(text)
    return stops, reached, unmarked


def test_the_golem_page_tells_phase_tools_and_where_each_limit_comes_from(open_window: Any, demo: LiveGolem) -> None:
    update_vitality(golem_id=demo.golem.pk, facts=VitalityFacts(1_000_000_000), now=clock.now())
    update_vitality(golem_id=demo.golem.pk, facts=VitalityFacts(600_000_000), now=clock.now())
    visit = open_window()
    visit.log_in("owner-a")
    own = f"/admin/archetypes_app/golem/{demo.golem.pk}"
    visit.open(f"{own}/rules/")
    visit.shoot("golem-cautious")
    visit.page.get_by_text("Every limit and where it comes from", exact=True).click()
    text = visit.page.inner_text("#content")
    assert "CAUTIOUS" in text.upper()
    assert "Phase cautious allows" in text
    assert "writes per hour" in text.lower()
    assert visit.page.locator(".gx-facts dd small").count() >= 5
    visit.open(f"{own}/agent/")
    visit.page.get_by_text("Tools it has, and why", exact=True).click()
    text = visit.page.inner_text("#content")
    assert {"trading", "lp", "memory"} <= set(re.findall(r"[a-z_]+", text.lower()))


def test_the_graph_is_a_picture_with_levels_terminals_and_the_longest_chain(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in("owner-a")
    page = visit.open(GRAPH)
    visit.shoot("graph-whole")
    assert page.locator(".gx-box").count() == 41
    assert page.locator(".gx-terminal").count() >= 12
    assert "Longest chain: " in page.inner_text("#content")
    assert page.locator(".gx-box.gx-longest").count() == 3


@pytest.mark.parametrize(
    "path", [GRAPH, MATRIX, WIZARD, "change", "settings"], ids=["graph", "matrix", "wizard", "golem", "settings"]
)
def test_every_control_of_a_page_is_reached_by_keyboard_and_shows_it(
    open_window: Any, demo: LiveGolem, path: str
) -> None:
    visit = open_window()
    visit.log_in("owner-a")
    page = visit.open(path if path.startswith("/") else f"/admin/archetypes_app/golem/{demo.golem.pk}/{path}/")
    stops, reached, unmarked = walk_by_keyboard(page)
    assert stops > 0
    assert len(reached) == stops
    assert unmarked == []


def test_an_edit_with_its_diff_is_made_by_keyboard_alone(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in("owner-a")
    page = visit.open(f"/admin/archetypes_app/golem/{demo.golem.pk}/settings/")
    page.locator("input[name=profiles]:checked").first.focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Save", exact=True).focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "Before it is saved" in page.inner_text("#content")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent.trim()") == "Save it":
            break
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert demo.golem.profiles.count() == 2
    assert AuditEntry.objects.filter(golem_id=demo.golem.pk, event="ToolsetChanged").exists()


def test_graph_and_diff_work_without_javascript(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window(has_javascript=False)
    visit.log_in("owner-a")
    page = visit.open(GRAPH)
    page.get_by_label("From").select_option("pool-researcher")
    page.get_by_label("to", exact=True).select_option("trade-executor")
    press(page.get_by_role("button", name="Try it"))
    visit.shoot("graph-plain")
    assert "Refused: " in page.inner_text("#content")
    visit.open(f"/admin/archetypes_app/golem/{demo.golem.pk}/settings/")
    page.get_by_text("Who it is", exact=True).click()
    page.locator("input[name=profiles]:checked").first.uncheck()
    press(page.locator("[name=_save]").first)
    assert "Before it is saved" in page.inner_text("#content")
    press(page.get_by_role("button", name="Save it"))
    assert demo.golem.profiles.count() == 2


def test_on_a_phone_the_diff_and_the_conflict_do_not_scroll_sideways(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window(viewport=PHONE)
    visit.log_in("owner-a")
    path = f"/admin/archetypes_app/golem/{demo.golem.pk}/settings/"
    page = visit.open(path)
    page.locator("details#who-it-is > summary").click()
    page.locator("input[name=profiles]:checked").first.uncheck()
    press(page.get_by_role("button", name="Save", exact=True))
    visit.shoot("phone-diff")
    assert "Before it is saved" in page.inner_text("#content")
    assert visit.overflow() == 0
    visit.open(path)
    # The section stays open, as it was left.
    page.get_by_label("Name").fill("Renamed by the second")
    Golem.objects.filter(pk=demo.golem.pk).update(version=demo.golem.version + 1)
    press(page.get_by_role("button", name="Save", exact=True))
    visit.shoot("phone-conflict")
    assert "What you typed is still here" in page.inner_text("#content")
    assert page.get_by_label("Name").input_value() == "Renamed by the second"
    assert visit.overflow() == 0
