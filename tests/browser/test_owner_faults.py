"""Faults that an owner met (`docs/history/owner-faults.md`), met again in Chromium where no journey does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from archetypes_app.models import Golem
from golem_project import wiring
from memory_app.models import Episode
from permits_app.actions.stage_key import stage_key
from permits_app.models import AllowlistEntry, ChangeRequest, Wallet
from tests import factories
from tests.browser.conftest import PHONE, Visit, press
from tests.browser.owners import House, make_house
from tools_app.core import clock

pytestmark = pytest.mark.browser
SIZES = pytest.mark.parametrize("viewport", [None, PHONE], ids=["wide", "phone"])
TURNING = "\u202a\u202b\u202d\u202e\u2066\u2067"
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
Open = Callable[[House, Any], Visit]


@pytest.fixture
def enter(open_window: Any) -> Open:
    """A window of the house's owner."""

    def begin(house: House, viewport: Any) -> Visit:
        visit: Visit = open_window(**({"viewport": viewport} if viewport else {}))
        visit.log_in(house.owner.username)
        return visit

    return begin


@SIZES
def test_the_form_of_the_signer_chooses_nothing_and_takes_no_staged_key_that_was_not_named(
    enter: Open, viewport: Any
) -> None:
    house = make_house()
    staged = stage_key(golem=house.golem, reason="for the cage", actor="system:test", now=clock.now())
    wallet = Wallet.objects.get(golem=house.golem)
    visit = enter(house, viewport)
    page = visit.open(reverse("admin:permits_app_wallet_choose_signer", args=[wallet.pk]))
    kind = page.locator("select[name=kind]")
    assert kind.input_value() == ""
    kind.select_option("LOCAL_KEYSTORE")
    page.locator("[name=reason]").fill("by mistake")
    press(page.locator("#content form button[type=submit], #content form input[type=submit]").last)
    assert "Name the key" in page.inner_text("body") and not ChangeRequest.objects.exists()
    assert staged.address not in page.inner_text("#content .gx-hero, #content h1, h1")
    assert visit.overflow() <= 0


@SIZES
def test_one_worth_is_told_on_the_first_page_the_golems_page_its_cockpit_and_the_fleet(
    enter: Open, viewport: Any
) -> None:
    house = make_house(worth_usd=17_998)
    visit = enter(house, viewport)
    own = f"/admin/archetypes_app/golem/{house.golem.pk}"
    for url in ("/admin/", f"{own}/change/", f"/admin/cockpit/{house.golem.pk}/", "/admin/cockpit/"):
        told = visit.open(url).inner_text("body")
        worths = set(re.findall(r"\$1\d,\d{3}\.\d\d", told))
        assert worths == {"$17,998.00"}, (url, worths)


@SIZES
def test_a_wrong_address_a_closed_page_and_the_guide_are_pages_of_the_product(enter: Open, viewport: Any) -> None:
    house = make_house()
    visit = enter(house, viewport)
    for url, words in (
        ("/admin/archetypes_app/golem/zzz/change/", "overview"),
        ("/admin/auth/user/", "may not"),
        ("/admin/help/", "The documents"),
    ):
        page = visit.page
        page.goto(visit.base_url + url)
        told = page.inner_text("body")
        assert words.lower() in told.lower(), (url, told[:400])
        assert page.evaluate("getComputedStyle(document.body).fontFamily") not in ("", "Times New Roman"), url
        assert page.locator("a[href='/admin/'], a[href^='/admin/help']").count(), url
        assert visit.overflow() <= 0, url


@SIZES
def test_a_debt_that_came_as_predicted_is_told_without_an_error(enter: Open, viewport: Any) -> None:
    house = make_house()
    row = factories.make_episode(golem=house.golem)
    compared = [{"what": "gas_per_call[0]", "expected": "46115", "actual": "46115", "difference_bps": 0}]
    Episode.objects.filter(pk=row.pk).update(reflection={"comparisons": compared}, chain_id=31_337)
    visit = enter(house, viewport)
    page = visit.open(f"/admin/memory_app/episode/{row.pk}/change/")
    for fold in page.locator("details").all():
        fold.evaluate("each => each.open = true")
    told = page.inner_text("body")
    assert "46,115 gas" in told and "100.00%" not in told


@SIZES
def test_without_a_model_a_talk_says_what_is_missing_and_has_no_button_that_looks_alive(
    enter: Open, viewport: Any
) -> None:
    house = make_house()
    visit = enter(house, viewport)
    page = visit.open(f"/admin/chat/{house.golem.pk}/")
    assert "asks no language model" in page.inner_text("body")
    assert page.locator("#content form [type=submit]:not([disabled])").locator("visible=true").count() == 0
    assert visit.overflow() <= 0


@SIZES
def test_a_label_that_would_turn_an_address_round_is_shown_plain_wherever_it_is_asked_for(
    enter: Open, viewport: Any
) -> None:
    wiring.configure_networks({31_337: ("http://127.0.0.1:9",)})
    house = make_house()
    Golem.objects.filter(pk=house.golem.pk).update(is_live=True)
    visit = enter(house, viewport)
    page = visit.open("/admin/permits_app/allowlistentry/add/")
    page.locator("[name=golem]").select_option(str(house.golem.pk))
    page.locator("[name=chain_id]").select_option("31337")
    page.locator("[name=kind]").select_option("RECIPIENT")
    page.locator("[name=address]").fill(PAYEE)
    page.locator("[name=label]").fill(f"Mine \u202e{PAYEE[::-1]}\u202c")
    press(page.get_by_role("button", name="Save", exact=True))
    assert ChangeRequest.objects.count() + AllowlistEntry.objects.count() == 1, page.inner_text("body")[:600]
    for url in ("", "/admin/permits_app/changerequest/inbox/", "/admin/permits_app/allowlistentry/"):
        told = page.inner_text("body") if not url else visit.open(url).inner_text("body")
        assert not set(TURNING) & set(told), url
