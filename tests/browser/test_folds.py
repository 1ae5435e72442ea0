"""The pages of a golem and of a request on a phone: what matters is seen, the rest folds, and is opened and linked."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.pages.golem_tabs import Tab
from tests.browser.axe import find_serious
from tests.browser.conftest import PHONE, WIDE, press
from tests.browser.journeys import make_person
from tests.browser.test_twelve_journeys import ask
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import critical_swap as critical_swap
from tests.permits_app.approvals.conftest import eager as eager

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HIGHEST_PX = 4_000
HIGHEST_TAB_PX = 2_500
FOLDED = ("who-it-is", "what-it-may-use", "how-it-lives")
_HEIGHT = "document.documentElement.scrollHeight"


def path_of(demo: LiveGolem, tab: str = "settings") -> str:
    return f"/admin/archetypes_app/golem/{demo.golem.pk}/{tab}/"


def list_open(page: Any) -> list[str]:
    """Which of the sections of the settings are open."""
    return [name for name in FOLDED if page.locator(f"details#{name}").get_attribute("open") is not None]


def test_on_a_phone_a_golem_s_page_answers_in_one_look_and_each_tab_is_short(
    open_window: Any, demo: LiveGolem, swap_id: str
) -> None:
    visit = open_window(viewport=PHONE)
    visit.log_in("owner-a")
    page = visit.open(path_of(demo, "change"))
    answers = [page.inner_text(f"#{name}") for name in ("spend", "lose", "money", "needs")]
    assert answers[0].startswith("May it spend now?") and "Nothing of this golem waits for you." in answers[3]
    assert page.locator("#needs").bounding_box()["y"] < 2 * PHONE["height"], "four answers within two screens"
    for tab in Tab:
        page = visit.open(path_of(demo, tab))
        visit.shoot(f"golem-{tab}-phone")
        assert page.evaluate(_HEIGHT) <= HIGHEST_TAB_PX and visit.overflow() == 0, tab
        assert find_serious(page) == [], tab
        assert page.locator("nav.gx-tabs a[aria-current=page]").inner_text() == tab.words


def test_on_a_phone_the_settings_fold_and_are_left_as_they_were(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window(viewport=PHONE)
    visit.log_in("owner-a")
    page = visit.open(path_of(demo))
    assert list_open(page) == []
    # By keyboard, and as it was left when one comes back.
    page.locator("details#how-it-lives > summary").focus()
    page.keyboard.press("Enter")
    page = visit.open(path_of(demo))
    assert list_open(page) == ["how-it-lives"]
    page.locator("details#how-it-lives > summary").focus()
    page.keyboard.press("Space")
    # An address leads into a section that is folded.
    page = visit.open(f"{path_of(demo)}#who-it-is")
    assert list_open(page) == ["who-it-is"]
    page = visit.open(path_of(demo))
    assert list_open(page) == []


def test_where_there_is_room_or_no_script_nothing_is_hidden(open_window: Any, demo: LiveGolem) -> None:
    visit = open_window(viewport=WIDE)
    visit.log_in("owner-a")
    page = visit.open(path_of(demo))
    visit.shoot("golem-folds-wide")
    assert list_open(page) == list(FOLDED)
    page.get_by_label("Name", exact=False).first.fill("Renamed")
    assert find_serious(page) == []
    plain = open_window(viewport=PHONE, has_javascript=False)
    plain.log_in("owner-a")
    page = plain.open(path_of(demo, "change"))
    press(page.get_by_role("link", name="Money", exact=True).first)
    assert "Back up" in page.inner_text("#wallet")
    press(page.get_by_role("link", name="Settings", exact=True))
    page.get_by_text("Who it is", exact=True).click()
    assert page.locator("[name=name]").is_visible()


def test_on_a_phone_a_request_shows_what_moves_and_who_decides_and_folds_the_rest(
    open_window: Any, shared_golem: LiveGolem, eager: None, critical_swap: None
) -> None:
    owner = make_person(shared_golem)
    visit = open_window(viewport=PHONE)
    visit.log_in(owner.username)
    request = ask(shared_golem, visit.base_url)
    address = f"/admin/permits_app/changerequest/{request.pk}/change/"
    page = visit.open(address)
    visit.shoot("request-folded-phone")
    text = page.inner_text("#content")
    assert all(words in text for words in ("leaves at most", "500", "arrives at least", "Code of your authenticator"))
    assert page.evaluate(_HEIGHT) < HIGHEST_PX and visit.overflow() == 0
    assert find_serious(page) == []
    folded = ("calls", "reach", "seal", "comments", "audit")
    assert not any(page.locator(f"details#{name}").get_attribute("open") is not None for name in folded)
    # What warns is never folded away.
    assert page.locator("#addresses").evaluate("each => each.closest('details') === null")
    page.get_by_role("link", name="Your decision").click()
    assert page.get_by_label("Code of your authenticator").is_visible()
    page = visit.open(f"{address}#calls")
    assert "on Uniswap" in page.inner_text("#calls") or "amount" in page.inner_text("#calls")
    wide = open_window(viewport=WIDE)
    wide.log_in(owner.username)
    page = wide.open(address)
    assert all(page.locator(f"details#{name}").get_attribute("open") is not None for name in folded)
