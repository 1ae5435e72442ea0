"""One person's way through the pages: every page looked at by day and in the dark, judged by axe and by its height on a
phone, its console read and its time noted.

Pictures and times stay under `var/screenshots/journeys`; `python -m tests.browser.page_times` reports the times.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from tests.browser.axe import find_serious
from tests.browser.conftest import PATIENCE_MS, PHONE, WIDE, Visit, go_to, press
from tests.browser.page_times import TIMES, PageTime
from tests.browser.served import Server
from tests.factories.golems import PASSWORD
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import give_device, next_code

_TIMING = """() => {
  const [entry] = performance.getEntriesByType("navigation");
  return Math.round(entry.loadEventEnd - entry.startTime);
}"""
_HEIGHT = "document.documentElement.scrollHeight"
HIGHEST_PX: Final = 2_500
"""Of a page on a phone that is no record of what happened and no text to read."""
MOST_PROCESSOR_SECONDS: Final = 1.0
"""Of this process, which serves the page and drives the browser, while a page is asked for and comes."""


@dataclass
class Journey:
    """A window of one person. `problems` are collected and asked for at the end, so that a run tells all of them."""

    visit: Visit
    size: str
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page: Page = self.visit.page
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))

    def _note(self, message: Any) -> None:
        if message.type == "error":
            self.problems.append(f"console at {self.page.url}: {message.text}")

    def enter(self, username: str) -> None:
        """Through the login page."""
        self.go("/admin/login/")
        self.page.get_by_label("Username").fill(username)
        self.page.get_by_label("Password").fill(PASSWORD)
        press(self.page.get_by_role("button", name="Log in"))

    def go(self, path: str) -> str:
        """Open a page; what it says. Who serves it may work on it for a second at most, however busy the machine is."""
        before = time.process_time()
        go_to(self.page, self.visit.base_url + path)
        used = time.process_time() - before
        if used > MOST_PROCESSOR_SECONDS:
            self.problems.append(f"{path} ({self.size}): {used:.2f} s of the processor")
        return self.text()

    def press(self, name: str, *, role: Any = "button", whole: bool = False) -> str:
        """Press what leads to another page; what that says, with its messages where `whole`."""
        press(self.page.get_by_role(role, name=name, exact=True).first)
        return self.page.inner_text("body") if whole else self.text()

    def follow(self, name: str) -> str:
        """Press a link."""
        return self.press(name, role="link")

    def text(self) -> str:
        """What the page says below its header."""
        content = self.page.locator("#content")
        return str((content if content.count() else self.page.locator("body")).first.inner_text())

    def look(self, name: str, *, is_record: bool = False) -> str:
        """Keep pictures by day and in the dark and the time, and judge the page as it stands; what it says."""
        elapsed, height = int(self.page.evaluate(_TIMING)), int(self.page.evaluate(_HEIGHT))
        self.visit.shoot(f"journeys/{name}-{self.size}")
        TIMES.parent.mkdir(parents=True, exist_ok=True)
        with TIMES.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(PageTime(name, self.size, elapsed, height))) + "\n")
        if self.visit.overflow() > 0:
            self.problems.append(f"{name}: wider than its window by {self.visit.overflow()} px")
        if self.size == "phone" and height > HIGHEST_PX and not is_record:
            self.problems.append(f"{name}: {height} px high on a phone")
        self.problems += [f"{name}: {each['id']} {each['nodes']}" for each in find_serious(self.page)]
        dark = look_in_the_dark(self.visit, f"journeys/{name}-{self.size}")
        self.problems += [f"{name} in the dark: {each}" for each in dark]
        return self.text()


def look_in_the_dark(visit: Visit, name: str) -> list[str]:
    """A picture of the page as who keeps their system dark sees it, and what of it cannot be read."""
    _darken(visit.page, is_dark=True)
    visit.shoot(f"{name}-dark")
    found = find_serious(visit.page, "color-contrast")
    _darken(visit.page, is_dark=False)
    return [f"{each['id']} {each['nodes']}" for each in found]


def _darken(page: Page, *, is_dark: bool) -> None:
    """The admin's pages ask the system once, while they load, and keep the answer as a class; what a form answered
    cannot be asked for a second time.
    """
    page.emulate_media(color_scheme="dark" if is_dark else "light")
    page.evaluate("(dark) => document.documentElement.classList.toggle('dark', dark)", is_dark)


SIZES = pytest.mark.parametrize("size", ["wide", "phone"])


@pytest.fixture
def set_out(browser: Browser) -> Iterator[Callable[..., Journey]]:
    """`set_out(size, username)`: a journey that is logged in. At the end nothing was found on any page."""
    server = Server()
    server.start()
    contexts, journeys = [], []

    def begin(size: str, username: str = "", *, wallet: Any = None) -> Journey:
        context = browser.new_context(viewport=WIDE if size == "wide" else PHONE)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        if wallet is not None:
            wallet.enter(page)
        journeys.append(Journey(Visit(page, server.url), size))
        if username:
            journeys[-1].enter(username)
        return journeys[-1]

    yield begin
    for context in contexts:
        context.close()
    server.stop()
    found = [problem for journey in journeys for problem in journey.problems]
    assert found == [], "\n".join(found)


def own(golem: Golem, page: str = "change") -> str:
    return f"/admin/archetypes_app/golem/{golem.pk}/{page}/"


def approve_it(journey: Journey, person: Any) -> str:
    """The request that is open, with a code."""
    journey.page.get_by_label("Code of your authenticator").fill(next_code(person))
    return journey.press("Approve")


def make_person(live: LiveGolem) -> Any:
    """The golem's owner, who can log in and has a second factor."""
    owner = live.owner
    owner.set_password(PASSWORD)
    owner.save()
    owner.groups.add(ensure_owner_group())
    give_device(owner)
    return owner
