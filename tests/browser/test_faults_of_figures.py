"""Faults of figures and words that an owner met, met again in Chromium: profit, amounts of tokens, words."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.urls import reverse

from permits_app.models import ChangeRequest, NavSnapshot
from tests import factories
from tests.admin.test_words_of_pages import NOT_UNDERSTOOD
from tests.browser.conftest import PHONE, Visit, press
from tests.browser.owners import USD, House, make_house
from tools_app.core import clock

pytestmark = pytest.mark.browser
SIZES = pytest.mark.parametrize("viewport", [None, PHONE], ids=["wide", "phone"])


def enter(open_window: Any, house: House, viewport: Any) -> Visit:
    visit: Visit = open_window(**({"viewport": viewport} if viewport else {}))
    visit.log_in(house.owner.username)
    return visit


def read_whole(visit: Visit, url: str) -> str:
    """What the page says once everything that folds is open."""
    page = visit.open(url)
    for fold in page.locator("details").all():
        fold.evaluate("each => each.open = true")
    return str(page.inner_text("body"))


@SIZES
def test_profit_is_one_figure_wherever_it_is_told_and_its_parts_add_up_to_the_change(
    open_window: Any, viewport: Any
) -> None:
    house = make_house()
    golem, now = house.golem, clock.now()
    NavSnapshot.objects.filter(golem=golem).delete()
    factories.make_nav_snapshot(golem=golem, worth=1_000 * USD, at=now - timedelta(minutes=3))
    earned = {"price": 60, "fees_and_interest": 5, "gas": -10, "slippage": -5, "moved": 100}
    parts = {name: str(value * USD) for name, value in earned.items()}
    factories.make_nav_snapshot(golem=golem, worth=1_150 * USD, at=now - timedelta(minutes=1), parts=parts)
    visit = enter(open_window, house, viewport)
    own = f"/admin/archetypes_app/golem/{golem.pk}"
    for url in ("/admin/", f"{own}/change/", f"/admin/cockpit/{golem.pk}/"):
        told = read_whole(visit, url)
        assert "+$50.00" in told, (url, told)
        assert "+$150.00" not in told, (url, "what was paid in is no profit")
    lines = read_whole(visit, f"{own}/statement/").splitlines()
    tiles, parts_of_it = {name: value for value, name in pairwise(lines)}, dict(pairwise(lines))
    assert (tiles["at the beginning"], tiles["now"], tiles["profit or loss"]) == ("$1,000.00", "$1,150.00", "$50.00")
    shown = {
        "Prices of what it held": "$60.00",
        "Fees and interest of its positions, less what liquidity lost against holding": "$5.00",
        "Slippage of its trades": "-$5.00",
        "Gas": "-$10.00",
        "Paid in, less taken out (no profit)": "$100.00",
    }
    assert {name: parts_of_it[name] for name in shown} == shown
    assert visit.overflow() <= 0


@SIZES
@pytest.mark.parametrize("typed", ["1 000", "$500", "500 USDC", "abc", "inf"])
def test_an_amount_of_a_token_that_nobody_can_read_is_refused_beside_its_field(
    open_window: Any, viewport: Any, typed: str
) -> None:
    house = make_house()
    factories.make_cage_mirror(golem=house.golem)
    visit = enter(open_window, house, viewport)
    page = visit.open(reverse("admin:archetypes_app_golem_cage", args=[house.golem.pk]))
    for fold in page.locator("details").all():
        fold.evaluate("each => each.open = true")
    form = page.locator("form", has=page.locator("[name=asset-per_batch]"))
    form.locator("[name=asset-per_batch]").fill(typed)
    form.locator("[name=asset-reason]").fill("by mistake")
    press(form.locator("button[type=submit], input[type=submit]").last)
    assert page.locator(".errorlist, .gx-error").first.is_visible()
    assert "Server Error" not in page.inner_text("body") and not ChangeRequest.objects.exists()
    assert form.locator("[name=asset-per_batch]").input_value() == typed, "what was typed is still there"


@SIZES
def test_no_page_of_a_golem_says_what_nobody_understood(open_window: Any, viewport: Any) -> None:
    house = make_house()
    golem = house.golem
    factories.make_permit(golem=golem)
    factories.make_episode(golem=golem)
    factories.make_change_request(golem=golem)
    factories.make_api_key(golem=golem)
    visit = enter(open_window, house, viewport)
    own = f"/admin/archetypes_app/golem/{golem.pk}"
    tabs = [
        f"{own}/{tab}/" for tab in ("change", "money", "rules", "agent", "records", "settings", "halt", "statement")
    ]
    others = ["/admin/", "/admin/cockpit/", f"/admin/cockpit/{golem.pk}/", "/admin/archetypes_app/apikey/"]
    others += [reverse("admin:permits_app_changerequest_inbox"), "/admin/permits_app/actionpermit/"]
    for url in (*(f"{own}/{tab}/" for tab in tabs), *others):
        told = re.sub(r"\s+", " ", read_whole(visit, url)).lower()
        assert [words for words in NOT_UNDERSTOOD if words.lower() in told] == [], url
        assert len(told) > 100, url
