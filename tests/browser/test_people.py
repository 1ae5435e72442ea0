"""Inviting, joining by the link, being told, the month and the sign-ins, on a desk and on a telephone."""

from __future__ import annotations

import re
from typing import Any

import pytest

from archetypes_app.models import GolemMember
from tests.browser.axe import find_serious
from tests.browser.conftest import PHONE, WIDE, Visit, press
from tests.browser.owners import House, make_house
from tests.factories.golems import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def house(transactional_db: None) -> House:
    return make_house()


def look(visit: Visit, name: str) -> None:
    """A picture of the page as it is, nothing wider than its window, nothing serious to axe."""
    visit.shoot(name)
    assert visit.overflow() <= 0, name
    assert [(each["id"], each["nodes"]) for each in find_serious(visit.page)] == [], name


@pytest.mark.parametrize("size", ["wide", "phone"])
def test_a_person_is_invited_joins_by_the_link_and_sees_the_golem(open_window: Any, house: House, size: str) -> None:
    viewport = WIDE if size == "wide" else PHONE
    visit, guest = open_window(viewport=viewport), open_window(viewport=viewport)
    errors: list[str] = []
    for each in (visit, guest):
        each.page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    visit.log_in("ana")
    page = visit.open(f"/admin/archetypes_app/golem/{house.golem.pk}/people/")
    page.get_by_label("For whom").fill("Vera of accounting")
    press(page.get_by_role("button", name="Make a link"))
    look(visit, f"people-{size}")
    found = re.search(r"/join/#[\w-]+", page.inner_text("#content"))
    assert found is not None
    there = guest.open(found[0])
    # The script took it from behind the #.
    assert there.get_by_label("Invitation").input_value() in found[0]
    there.get_by_label("Username").fill("vera")
    there.get_by_label("Password", exact=False).first.fill(PASSWORD)
    there.get_by_label("Password confirmation").fill(PASSWORD)
    look(guest, f"join-{size}")
    # The page that follows streams events, which this test's server does not.
    assert errors == []
    press(there.get_by_role("button", name="Make the account and join"))
    assert there.url.endswith(f"/admin/cockpit/{house.golem.pk}/")
    assert GolemMember.objects.get(golem=house.golem).person.username == "vera"


@pytest.mark.parametrize("size", ["wide", "phone"])
def test_the_pages_of_alerts_sign_ins_and_the_month_are_clean(open_window: Any, house: House, size: str) -> None:
    visit = open_window(viewport=WIDE if size == "wide" else PHONE)
    visit.log_in("ana")
    for name, path in (
        ("alerts", "/admin/alerts/"),
        ("sign-ins", "/admin/sign-ins/"),
        ("services", "/admin/services/"),
        ("statement", f"/admin/archetypes_app/golem/{house.golem.pk}/statement/"),
    ):
        visit.open(path)
        look(visit, f"{name}-{size}")
