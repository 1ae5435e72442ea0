"""What a browser is told about every page, and what it then does: pages work, and a smuggled script does not run."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from tests.browser.conftest import press
from tests.factories.golems import PASSWORD
from tests.live_golem import LiveGolem

pytestmark = pytest.mark.browser

INLINE = """() => {
    const script = document.createElement("script");
    script.textContent = "window.smuggled = 1";
    document.body.appendChild(script);
    const image = document.createElement("img");
    image.setAttribute("onerror", "window.smuggled = 2");
    image.src = "http://198.51.100.7/pixel.png";
    document.body.appendChild(image);
    return new Promise(done => setTimeout(() => done(window.smuggled ?? null), 300));
}"""

STYLED = """() => {
    const background = () => getComputedStyle(document.body).backgroundColor;
    const before = background();
    const style = document.createElement("style");
    style.textContent = "body { background: rgb(1, 2, 3) !important }";
    document.head.appendChild(style);
    document.body.setAttribute("style", "background: rgb(4, 5, 6) !important");
    return [before, background()];
}"""


@pytest.mark.parametrize("path", ["/about", "/errors/", "/errors/rate_limited"])
def test_the_open_pages_keep_to_their_policy(open_window: Any, path: str) -> None:
    visit = open_window()
    page = visit.open(path)
    expect(page.locator("body")).not_to_be_empty()


def test_the_documentation_of_the_api_is_drawn_under_its_policy(open_window: Any) -> None:
    page = open_window().open("/api/v1/docs")
    expect(page.get_by_text("preview_action").first).to_be_visible()


def test_the_lists_and_forms_of_the_admin_keep_to_their_policy(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in(demo.owner.username)
    golem = demo.golem.pk
    for path in (
        "/admin/",
        "/admin/permits_app/actionpermit/",
        f"/admin/archetypes_app/golem/{golem}/change/",
        "/admin/permits_app/spendinglimits/",
        "/admin/archetypes_app/apikey/add/",
        "/admin/cockpit/",
        f"/admin/cockpit/{golem}/",
        "/admin/memory_app/episode/",
    ):
        page = visit.open(path)
        assert page.locator("h1, h2").count() > 0, path


def test_a_style_smuggled_into_a_page_changes_nothing(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in(demo.owner.username)
    before, after = visit.open("/admin/").evaluate(STYLED)
    assert before == after
    assert any("style-src" in text for text in visit.violations)
    visit.violations.clear()


@pytest.mark.django_db(transaction=True)
def test_the_bar_of_actions_is_as_wide_as_its_list_and_runs_one(open_window: Any) -> None:
    User.objects.create_superuser("root", password=PASSWORD)
    User.objects.create_user("gone")
    visit = open_window()
    visit.log_in("root")
    page = visit.open("/admin/auth/user/")
    page.get_by_role("row", name="gone").locator("input.action-select").check()
    bar, rows = page.locator("#changelist-actions"), page.locator("#changelist-form")
    expect(bar.locator(".action-counter")).to_have_text("1 of 2 selected")
    assert abs(bar.bounding_box()["width"] - rows.bounding_box()["width"]) < 2
    bar.get_by_role("combobox").select_option("delete_selected")
    press(bar.get_by_role("button", name="Run"))
    assert "Are you sure" in page.inner_text("#content")


def test_a_script_smuggled_into_a_page_does_not_run(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in(demo.owner.username)
    assert visit.open("/admin/").evaluate(INLINE) is None
    assert any("script-src" in text for text in visit.violations)
    visit.violations.clear()
