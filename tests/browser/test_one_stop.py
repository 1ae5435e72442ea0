"""One Stop for one golem or all: told before, done at once, and resumed into rehearsal."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import Golem
from permits_app.actions.halt import halt_golem
from permits_app.actions.request_change import request_operation
from permits_app.approvals.operations import find_operation
from permits_app.models.permit import PermitStatus
from tests import factories
from tests.browser.conftest import PHONE, WIDE, press
from tests.browser.owners import House, make_house
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def house() -> House:
    return make_house()


def test_a_stop_of_all_golems_is_one_page_away_from_every_page(open_window: Any, house: House) -> None:
    other = factories.make_golem(owner=house.owner, name="Beta")
    foreign = factories.make_golem(owner=factories.make_owner(name="ben"), name="Gamma")
    permit = factories.make_permit(golem=house.golem)
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    for path in ("/admin/", "/admin/cockpit/", "/admin/permits_app/actionpermit/", "/admin/machinery/"):
        assert visit.open(path).get_by_role("link", name="Stop", exact=True).count() >= 1, path
    page = visit.page
    press(page.get_by_role("link", name="Stop", exact=True).first)
    told = page.inner_text("#content")
    visit.shoot("stop")
    assert "Swap 500 USDC for WETH" in told and "Cancels" in told and "Gamma" not in told
    page.get_by_label("Reason").fill("something smells")
    press(page.get_by_role("button", name="Stop now"))
    for golem in (house.golem, other):
        golem.refresh_from_db()
        assert golem.is_halted
    foreign.refresh_from_db()
    permit.refresh_from_db()
    assert not foreign.is_halted and permit.status == PermitStatus.CANCELLED
    assert page.url.endswith("/admin/cockpit/") and "is halted" in page.inner_text("body")


def test_only_the_ticked_golems_are_stopped(open_window: Any, house: House) -> None:
    other = factories.make_golem(owner=house.owner, name="Beta")
    visit = open_window(viewport=PHONE)
    visit.log_in("ana")
    page = visit.open("/admin/archetypes_app/golem/stop/")
    assert visit.overflow() == 0
    page.get_by_label("Beta").uncheck()
    page.get_by_label("Reason").fill("only one")
    press(page.get_by_role("button", name="Stop now"))
    house.golem.refresh_from_db()
    other.refresh_from_db()
    assert (house.golem.is_halted, other.is_halted) == (True, False)


def test_a_drill_changes_nothing_and_tells_in_words(open_window: Any, house: House) -> None:
    factories.make_permit(golem=house.golem)
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = visit.open(f"/admin/archetypes_app/golem/{house.golem.pk}/halt/")
    page.get_by_label("Reason").fill("to see")
    page.get_by_label("Drill").check()
    press(page.get_by_role("button", name="Stop now"))
    house.golem.refresh_from_db()
    told = page.inner_text("body")
    assert not house.golem.is_halted and "nothing was changed" in told
    assert "{'" not in told and "permit_ids" not in told


def test_a_resumed_golem_rehearses_unless_its_owner_said_live(house: House) -> None:
    Golem.objects.filter(pk=house.golem.pk).update(is_live=True)
    for said, expected in ((False, False), (True, True)):
        Golem.objects.filter(pk=house.golem.pk).update(is_live=True)
        golem = Golem.objects.get(pk=house.golem.pk)
        halt_golem(golem=golem, reason="stop", actor="owner:1", now=clock.now())
        golem.refresh_from_db()
        asked = request_operation(
            golem=golem, name="resume", arguments={"live": said}, owner=house.owner, reason="go on", now=clock.now()
        )
        assert asked.needs_second_factor
        lines = [line["after"] for line in asked.shown["differences"]]
        assert any(("live" if said else "rehearses") in line for line in lines)
        find_operation("resume").apply(
            golem=golem, change=asked.change, actor="owner:1", reason="go on", now=clock.now()
        )
        golem.refresh_from_db()
        assert (golem.is_halted, golem.is_live) == (False, expected)


def test_back_to_rehearsal_needs_nobody_and_is_audited(open_window: Any, house: House) -> None:
    Golem.objects.filter(pk=house.golem.pk).update(is_live=True)
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    page = visit.open(f"/admin/archetypes_app/golem/{house.golem.pk}/change/")
    press(page.get_by_role("link", name="Back to rehearsal"))
    page.get_by_label("Reason").fill("look first")
    press(page.get_by_role("button", name="Rehearse from now on"))
    house.golem.refresh_from_db()
    assert not house.golem.is_live
    assert AuditEntry.objects.filter(golem_id=house.golem.pk, event="LiveSet").count() == 1


def test_a_golem_is_retired_and_brought_back_halted(open_window: Any, house: House) -> None:
    key = factories.make_api_key(golem=house.golem)
    halt_golem(golem=house.golem, reason="over", actor="owner:1", now=clock.now())
    visit = open_window(viewport=WIDE)
    visit.log_in("ana")
    own = f"/admin/archetypes_app/golem/{house.golem.pk}/settings/"
    page = visit.open(own)
    press(page.get_by_role("link", name="Retire"))
    page.get_by_label("Reason").fill("it did its work")
    press(page.get_by_role("button", name="Retire it"))
    key.key.refresh_from_db()
    assert key.key.revoked_at is not None
    assert "retired" in page.inner_text("#content")
    assert "Alpha" not in visit.open("/admin/archetypes_app/golem/").inner_text("#content")
    told = visit.open("/admin/").inner_text("#content")
    assert told.count("Alpha") == 1 and "that it still holds" in told, "it is told for what is to be withdrawn alone"
    press(visit.open(own).get_by_role("link", name="Bring back"))
    page.get_by_label("Reason").fill("needed again")
    press(page.get_by_role("button", name="Bring it back"))
    house.golem.refresh_from_db()
    assert house.golem.is_halted and house.golem.retired_at is None
    events = AuditEntry.objects.filter(golem_id=house.golem.pk, event__startswith="Golem")
    assert set(events.values_list("event", flat=True)) >= {"GolemRetired", "GolemBroughtBack"}
