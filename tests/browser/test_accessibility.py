"""Every page an owner opens, by axe: names, contrast, order, in the light and in the dark, and on a phone."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.a2a.models import OpenedRead, Task
from tests import factories
from tests.browser.axe import find_serious
from tests.browser.conftest import PHONE, WIDE, go_to
from tests.browser.owners import House, make_house
from tools_app.core import clock

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def house() -> House:
    found = make_house()
    factories.make_committed_permit(golem=found.golem)
    factories.make_pending_request(permit=factories.make_permit(golem=found.golem))
    factories.make_change_request(golem=found.golem)
    factories.make_a2a_task(golem=found.golem)
    OpenedRead.objects.create(golem=found.golem, query="limits", venue="golem", created_at=clock.now())
    return found


def list_pages(house: House) -> list[str]:
    golem, permit = house.golem.pk, house.golem.permits.order_by("created_at")[0].pk
    request = house.golem.change_requests.get().pk
    own = f"/admin/archetypes_app/golem/{golem}"
    task, read = Task.objects.get().pk, OpenedRead.objects.get().pk
    return [
        "/admin/",
        "/admin/cockpit/",
        f"/admin/cockpit/{golem}/",
        "/admin/machinery/",
        "/admin/permits_app/changerequest/inbox/",
        f"/admin/permits_app/changerequest/{request}/change/",
        "/admin/archetypes_app/golem/",
        f"{own}/change/",
        f"{own}/money/",
        f"{own}/rules/",
        f"{own}/agent/",
        f"{own}/records/",
        f"{own}/settings/",
        f"{own}/halt/",
        f"{own}/grant/",
        f"{own}/allowances/",
        f"{own}/definitions/",
        f"{own}/live/",
        "/admin/archetypes_app/golem/add/",
        "/admin/permits_app/actionpermit/",
        f"/admin/permits_app/actionpermit/{permit}/change/",
        "/admin/permits_app/spendinglimits/",
        "/admin/permits_app/allowlistentry/",
        "/admin/permits_app/ownerbudget/mine/",
        "/admin/permits_app/wallet/",
        "/admin/memory_app/episode/",
        "/admin/tools_app/auditentry/",
        "/admin/archetypes_app/apikey/add/",
        "/admin/archetypes_app/heartbeat/",
        "/admin/a2a/task/",
        f"/admin/a2a/task/{task}/change/",
        "/admin/a2a/openedread/",
        "/admin/a2a/openedread/add/",
        f"/admin/a2a/openedread/{read}/close",
    ]


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_axe_finds_nothing_serious_on_any_page(open_window: Any, house: House, look: str) -> None:
    visit = open_window(viewport=PHONE if look == "phone" else WIDE, is_dark=look == "dark")
    visit.log_in("ana")
    found: dict[str, Any] = {}
    for path in list_pages(house):
        go_to(visit.page, visit.base_url + path)
        serious = find_serious(visit.page)
        if serious:
            found[path] = [(each["id"], each["nodes"]) for each in serious]
    assert found == {}, str(found)


def test_the_login_page_and_the_open_pages_are_clean_too(open_window: Any, house: House) -> None:
    visit = open_window(viewport=WIDE)
    found: dict[str, Any] = {}
    for path in ("/admin/login/", "/about", "/errors/", "/nowhere"):
        go_to(visit.page, visit.base_url + path)
        serious = find_serious(visit.page)
        if serious:
            found[path] = [(each["id"], each["nodes"]) for each in serious]
    assert found == {}, str(found)
