"""A browser, a server that answers it, and the demo's data: a real swap on the local chain."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect
from playwright.sync_api import Error as PlaywrightError

from archetypes_app.owner_group import ensure_owner_group
from golem_project.embedded.paths import CHECKOUT
from permits_app.actions.remember_outcome import remember_outcome
from tests.browser.chromium import find_chromium, open_browser
from tests.factories.golems import PASSWORD
from tests.live_golem import LiveGolem
from tools_app.core import clock

SCREENSHOTS = CHECKOUT / "var" / "screenshots"
DESKTOP = {"width": 1280, "height": 900}
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
PATIENCE_MS = 30_000
"""How long a page and what is expected of it are waited for: it ends what would wait for ever, and measures nothing."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium. Without one the tests are reported as not run; on the build machine that is a failure."""
    path = find_chromium()
    if path is None:
        reason = "not run: no Chromium here; install it or set CHROMIUM_PATH"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    # Playwright's synchronous calls run on an event loop of their own in this thread, which Django would refuse.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    expect.set_options(timeout=PATIENCE_MS)
    try:
        with open_browser(path) as opened:
            yield opened
    finally:
        if before is None:
            del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
        else:
            os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


def go_to(page: Page, url: str) -> None:
    """Leave the page for another, also while it reloads itself.

    A page that waits for its work does so every second. When that falls together with leaving it, the browser takes
    either first and the driver tells of an error, whichever page stands there in the end.
    """
    for _ in range(3):
        try:
            page.goto(url)
            return
        except PlaywrightError as error:
            if not any(words in error.message for words in ("ERR_ABORTED", "interrupted by another navigation")):
                raise
            page.wait_for_timeout(200)
            page.wait_for_load_state("networkidle")
        if page.url == url:
            return
    raise AssertionError(f"{page.url} stands where {url} was asked for")


def press(what: Locator) -> None:
    """Press what leads to another page, and wait until all of that is there: a click alone returns as it begins."""
    with what.page.expect_navigation(wait_until="load"):
        what.click()


@dataclass
class Visit:
    """One person's browser window on the server under test."""

    page: Page
    base_url: str
    violations: list[str] = field(default_factory=list)
    """What the browser refused because of a page's own Content-Security-Policy."""

    def __post_init__(self) -> None:
        self.page.on("console", self._note)

    def _note(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "Content-Security-Policy" in message.text:
            self.violations.append(message.text)

    def open(self, path: str) -> Page:
        """Go to `path` and wait until it is quiet."""
        go_to(self.page, self.base_url + path)
        self.page.wait_for_load_state("networkidle")
        return self.page

    def log_in(self, username: str) -> None:
        """Through the login's view, without its page, which costs a browser a second and most tests only begin with."""
        client = Client(headers={"user-agent": "Chromium of a test"})
        answer = client.post("/admin/login/", {"username": username, "password": PASSWORD})
        assert answer.status_code == 302, f"{username} cannot log in"
        name = settings.SESSION_COOKIE_NAME
        self.page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": self.base_url}])

    def log_in_by_hand(self, username: str, password: str = PASSWORD) -> None:
        """Through the login page, as a person does."""
        self.open("/admin/login/")
        self.page.get_by_label("Username").fill(username)
        self.page.get_by_label("Password").fill(password)
        press(self.page.get_by_role("button", name="Log in"))

    def shoot(self, name: str, *, is_full: bool = True) -> Path:
        """Keep a picture under var/screenshots."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        self.page.screenshot(path=path, full_page=is_full)
        return path

    def overflow(self) -> int:
        """Pixels by which the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.fixture
def open_window(browser: Browser, live_server: Any) -> Iterator[Any]:
    """Opens windows: `open_window(width=…, height=…, dark=…, javascript=…)`."""
    contexts: list[BrowserContext] = []
    visits: list[Visit] = []

    def open_one(
        *, viewport: dict[str, int] | None = None, is_dark: bool = False, has_javascript: bool = True
    ) -> Visit:
        context = browser.new_context(
            viewport=viewport or DESKTOP,  # type: ignore[arg-type]
            color_scheme="dark" if is_dark else "light",
            java_script_enabled=has_javascript,
            device_scale_factor=1,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        visits.append(Visit(page, live_server.url))
        return visits[-1]

    yield open_one
    for context in contexts:
        context.close()
    # No page of any journey asks for what its own policy forbids.
    assert [text for visit in visits for text in visit.violations] == []


@pytest.fixture
def demo(shared_golem: LiveGolem) -> LiveGolem:
    """A golem whose owner can log in, with one swap that was previewed, committed, verified and remembered."""
    shared_golem.owner.set_password(PASSWORD)
    shared_golem.owner.save()
    shared_golem.owner.groups.add(ensure_owner_group())
    permit = shared_golem.preview()
    shared_golem.commit(permit["permit_id"])
    remember_outcome(permit_id=UUID(permit["permit_id"]), now=clock.now())
    return shared_golem


@pytest.fixture
def swap_id(demo: LiveGolem) -> str:
    """The id of the demo's committed permit."""
    permit = demo.golem.permits.get()
    return str(permit.pk)
