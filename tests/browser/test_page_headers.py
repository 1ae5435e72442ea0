"""What a browser is told about every page, and what it then does: pages work, and a smuggled script does not run."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

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


def test_a_script_smuggled_into_a_page_does_not_run(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window()
    visit.log_in(demo.owner.username)
    assert visit.page.evaluate(INLINE) is None
    assert any("script-src" in text for text in visit.violations)
    visit.violations.clear()
