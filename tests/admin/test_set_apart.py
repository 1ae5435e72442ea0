"""What the demo and measurements made is marked and left out of lists and sums, which say so and show it when asked."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem
from archetypes_app.models.golem import Maker
from archetypes_app.owner_group import ensure_owner_group
from tests import factories

LISTS = {
    "permits": "/admin/permits_app/actionpermit/",
    "golems": "/admin/archetypes_app/golem/",
    "audit": "/admin/tools_app/auditentry/",
    "requests": "/admin/permits_app/changerequest/",
    "first page": "/admin/",
    "fleet": "/admin/cockpit/",
    "find": "/admin/find/?q=swap",
}
PLACES = pytest.mark.parametrize("place", list(LISTS))


@pytest.fixture
def house(db: None) -> dict[str, Any]:
    """Somebody with a golem, the demo's, and one of a measurement; each with a permit, an audit entry and a request."""
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    made = {}
    for name, maker in (("Mine", Maker.OWNER), ("Demo golem", Maker.DEMO), ("Fleet 7", Maker.MEASUREMENT)):
        golem = factories.make_golem(owner=owner, name=name)
        Golem.objects.filter(pk=golem.pk).update(made_by=maker)
        factories.make_permit(golem=golem)
        factories.make_audit_entry(golem=golem)
        factories.make_change_request(golem=golem)
        made[name] = golem
    return {"owner": owner, **made}


def read(person: Any, address: str) -> tuple[str, str]:
    """What the page says in the notice, and below it."""
    client = Client()
    client.force_login(person)
    answer = client.get(address)
    assert answer.status_code == 200, address
    text = answer.content.decode()
    text = text[text.index('id="content"') :]
    if 'id="apart"' not in text:
        return "", text
    before, _, rest = text.partition('id="apart"')
    notice, _, after = rest.partition("</div>")
    return notice, before + after


def rows_of(text: str) -> str:
    """Without what filters offer."""
    return text.partition('id="changelist-filter"')[0].partition('x-show="filterOpen"')[0]


@PLACES
def test_what_is_owned_is_seen_without_what_was_tried(house: dict[str, Any], place: str) -> None:
    notice, text = read(house["owner"], LISTS[place])
    assert "Left out" in notice and "Demo golem, Fleet 7" in notice and "apart=1" in notice
    # A request that waits for its owner is told of there, whoever's it is.
    said = rows_of(text) if place != "first page" else text[text.index("Last permits") :]
    assert "Mine" in said and "Fleet 7" not in said and "Demo golem" not in said


@PLACES
def test_it_is_shown_when_asked_for_and_marked(house: dict[str, Any], place: str) -> None:
    address = LISTS[place]
    notice, text = read(house["owner"], address + ("&apart=1" if "?" in address else "?apart=1"))
    assert "Also shown" in notice and "Leave it out" in notice and "apart=1" not in notice
    assert all(name in rows_of(text) for name in ("Mine", "Demo golem", "Fleet 7"))
    if place in ("permits", "golems", "first page", "fleet"):
        assert ">demo<" in text and ">measurement<" in text


def test_the_sums_of_the_first_page_leave_them_out_and_what_needs_a_person_does_not(house: dict[str, Any]) -> None:
    _, text = read(house["owner"], "/admin/")
    assert "<b>0</b><span>at work, 1 only read" in text
    needs = text[text.index('id="needs"') :].partition("</section>")[0]
    assert needs.count("<tr>") == 1 + 3
    _, text = read(house["owner"], "/admin/?apart=1")
    assert "<b>0</b><span>at work, 3 only read" in text


def test_who_has_the_demo_alone_sees_it(house: dict[str, Any]) -> None:
    Golem.objects.filter(pk=house["Mine"].pk).update(made_by=Maker.MEASUREMENT)
    notice, text = read(house["owner"], LISTS["permits"])
    assert "Fleet 7, Mine" in notice and "Demo golem" in rows_of(text)


def test_a_golem_that_is_asked_for_shows_its_rows_and_a_whole_id_is_found(house: dict[str, Any]) -> None:
    golem = house["Fleet 7"]
    notice, text = read(house["owner"], f"{LISTS['permits']}?of_golem={golem.pk}")
    assert notice == "" and "Fleet 7" in rows_of(text) and "Mine" not in rows_of(text)
    notice, text = read(house["owner"], f"/admin/find/?q={golem.pk}")
    assert notice == "" and "Fleet 7" in text


def test_nobody_is_told_of_somebody_else_s(house: dict[str, Any]) -> None:
    ben = factories.make_owner(name="ben")
    ben.groups.add(ensure_owner_group())
    factories.make_golem(owner=ben, name="Of ben")
    for address in LISTS.values():
        notice, text = read(ben, address + ("&apart=1" if "?" in address else "?apart=1"))
        assert notice == "" and "Fleet 7" not in text, address


def test_one_s_own_golems_bring_no_notice(house: dict[str, Any]) -> None:
    Golem.objects.update(made_by=Maker.OWNER)
    for address in LISTS.values():
        assert read(house["owner"], address)[0] == "", address
