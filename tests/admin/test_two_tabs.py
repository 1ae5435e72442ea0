"""Two tabs on one row: the older one is told what moved, keeps what was typed, and writes nothing. On every form."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule

from archetypes_app.models import CodingWorkspace, Golem
from archetypes_app.owner_group import ensure_owner_group
from memory_app.actions.restore_directive import write_directive
from memory_app.models import Directive
from memory_app.models.directive import Document
from permits_app.models import HaltSetting, KnownAddress, SpendingLimits
from tests import factories
from tests.admin.rows import MAKERS, form_page, page
from tools_app.chain.abi import checksum
from tools_app.core import clock
from tools_app.pages.opened_rows import OpenedRowForm

pytestmark = pytest.mark.django_db
TOLD = "since this page was opened"
_OPENED = ("opened_as", "edit_version")


@pytest.fixture
def golem() -> Golem:
    owner = factories.make_owner()
    owner.groups.add(ensure_owner_group())
    return factories.make_golem(owner=owner)


def browse(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def read_form(browser: Client, url: str) -> dict[str, str]:
    """What the page would send if nobody typed anything; a box that is not ticked is not sent."""
    form = browser.get(url).context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    return {name: "on" if value is True else str(value) for name, value in values.items() if value not in (None, False)}


def edit_in_two_tabs(browser: Client, url: str, first: dict[str, str], second: dict[str, str]) -> str:
    """The page that the older tab is answered with, after the newer one was saved."""
    older = read_form(browser, url)
    assert browser.post(url, older | first).status_code == 302
    answer = browser.post(url, older | second)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_a_coding_workspace_that_another_tab_changed_is_not_set_back(golem: Golem) -> None:
    row = CodingWorkspace.objects.create(golem=golem)
    url = page("archetypes_app.codingworkspace", "change", row.pk)
    told = edit_in_two_tabs(browse(golem.owner), url, {"needs_owner": "NOTHING"}, {"port": "2222"})
    assert TOLD in told and 'value="2222"' in told
    row.refresh_from_db()
    assert (row.needs_owner, row.port) == ("NOTHING", 22)


def test_a_live_golem_s_workspace_of_an_older_tab_asks_its_owners_for_nothing(golem: Golem) -> None:
    Golem.objects.filter(pk=golem.pk).update(is_live=True)
    row = CodingWorkspace.objects.create(golem=golem, needs_owner="COMMANDS")
    url = page("archetypes_app.codingworkspace", "change", row.pk)
    told = edit_in_two_tabs(
        browse(golem.owner), url, {"needs_owner": "EVERYTHING"}, {"needs_owner": "NOTHING", "_why": "alone at night"}
    )
    assert TOLD in told and not golem.change_requests.exists()
    row.refresh_from_db()
    assert row.needs_owner == "EVERYTHING"


def test_what_a_halt_does_is_not_set_back_by_an_older_tab(golem: Golem) -> None:
    row = HaltSetting.objects.create(golem=golem)
    url = page("permits_app.haltsetting", "change", row.pk)
    told = edit_in_two_tabs(browse(golem.owner), url, {"unwind_on_halt": "on"}, {})
    assert f"{TOLD}: unwind" in told
    row.refresh_from_db()
    assert row.unwind_on_halt


def test_a_name_of_the_address_book_is_not_set_back_by_an_older_tab(golem: Golem) -> None:
    row = KnownAddress.objects.create(owner=golem.owner, address=checksum("0x" + "a1" * 20), name="Bank")
    url = page("permits_app.knownaddress", "change", row.pk)
    told = edit_in_two_tabs(browse(golem.owner), url, {"name": "Exchange"}, {"note": "my own"})
    assert f"{TOLD}: name." in told and "my own" in told
    row.refresh_from_db()
    assert (row.name, row.note) == ("Exchange", "")


def test_an_account_of_an_older_tab_keeps_the_groups_it_was_given_and_sends_nothing_of_its_password(
    golem: Golem,
) -> None:
    browser, owner = browse(factories.make_operator()), golem.owner
    url = reverse("admin:auth_user_change", args=[owner.pk])
    form = browser.get(url).context["adminform"].form
    sent = str(form["opened_as"].value())
    assert owner.password not in sent and "password" not in sent
    owner.groups.clear()
    body = {
        "username": owner.username,
        "email": "new@example.com",
        "is_active": "on",
        "is_staff": "on",
        "groups": [str(ensure_owner_group().pk)],
        "date_joined_0": f"{owner.date_joined:%Y-%m-%d}",
        "date_joined_1": f"{owner.date_joined:%H:%M:%S}",
        "opened_as": sent,
    }
    answer = browser.post(url, body)
    assert answer.status_code == 200 and f"{TOLD}: groups" in answer.content.decode()
    owner.refresh_from_db()
    assert not owner.groups.exists() and owner.email == ""


def read_fields(browser: Client, url: str) -> dict[str, str]:
    """The same of a page that is no form of the admin's."""
    form = browser.get(url).context["form"]
    return {name: str(form[name].value() or "") for name in form.fields}


def test_the_next_version_of_a_document_is_not_written_over_one_that_came_meanwhile(golem: Golem) -> None:
    now, actor = clock.now(), "owner:1"
    first = write_directive(
        golem_id=golem.pk, document=Document.PLAYBOOK, text="## Rules\n\none\n", reason="x", actor=actor, now=now
    )
    assert first is not None
    browser, url = browse(golem.owner), reverse("admin:memory_app_directive_edit", args=[first.pk])
    older = read_fields(browser, url)
    assert browser.post(url, older | {"text": "## Rules\n\ntwo\n", "reason": "more"}).status_code == 302
    answer = browser.post(url, older | {"text": "## Rules\n\nthree\n", "reason": "other"})
    assert answer.status_code == 200 and f"{TOLD}: newest version" in answer.content.decode()
    assert "three" in answer.content.decode()
    assert [row.version for row in Directive.objects.order_by("version")] == [1, 2]


def test_a_note_on_a_permit_is_not_written_over_another_one(golem: Golem) -> None:
    permit = factories.make_committed_permit(golem=golem)
    browser, url = browse(golem.owner), reverse("admin:permits_app_actionpermit_note", args=[permit.pk])
    older = read_fields(browser, url)
    assert browser.post(url, older | {"note": "looked at"}).status_code == 302
    told = browser.post(url, older | {"note": "not looked at"}).content.decode()
    assert f"{TOLD}: note" in told and "not looked at" in told
    permit.refresh_from_db()
    assert permit.owner_note == "looked at"


def test_limits_of_a_golem_that_is_set_up_are_not_set_back_by_an_older_tab(golem: Golem) -> None:
    browser, url = browse(golem.owner), reverse("admin:archetypes_app_golem_set_up_limits", args=[golem.pk])
    older = read_fields(browser, url)
    older.pop("allowlist")
    fewer = {"per_transaction_micro_usd": "100", "per_tick_micro_usd": "1,000", "per_session_micro_usd": "1,000"}
    newer = older | fewer | {"per_day_micro_usd": "5,000"}
    assert browser.post(url, newer).status_code == 302
    answer = browser.post(url, older | {"writes_per_hour": "7"})
    assert answer.status_code == 200 and TOLD in answer.content.decode()
    assert SpendingLimits.objects.get(golem=golem).per_day_micro_usd == 5_000_000_000


def test_co_owners_of_an_older_tab_are_asked_for_by_nobody(golem: Golem) -> None:
    ben = factories.make_owner(name="ben")
    browser, url = browse(golem.owner), reverse("admin:archetypes_app_golem_owners", args=[golem.pk])
    older = read_fields(browser, url)
    golem.co_owners.add(ben)
    told = browser.post(url, older | {"reason": "none"}).content.decode()
    assert f"{TOLD}: co-owners" in told
    assert not golem.change_requests.exists()


def make_operator_rows() -> list[Any]:
    interval = IntervalSchedule.objects.create(every=7, period="days")
    return [
        interval,
        Group.objects.create(name="some"),
        CrontabSchedule.objects.create(),
        SolarSchedule.objects.create(event="sunset", latitude=1, longitude=2),
        ClockedSchedule.objects.create(clocked_time=clock.now()),
        PeriodicTask.objects.create(name="some", task="some", interval=interval),
    ]


def test_what_a_form_names_to_compare_leaves_out_nothing_that_it_saves() -> None:
    naming = [form for form in OpenedRowForm.__subclasses__() if form.columns]
    assert naming
    for form in naming:
        saved = set(form._meta.fields or ()) - {"golem", "password", "last_login", "date_joined"}
        assert saved <= set(form.columns), form.__name__


def test_every_form_that_changes_a_row_knows_what_it_was_opened_with(golem: Golem) -> None:
    """Also those nobody named above, and those that come later."""
    browser = browse(factories.make_operator())
    rows: list[Any] = []
    for at, make in enumerate(MAKERS.values()):
        rows.append(make(factories.make_golem(owner=factories.make_owner(name=f"owner {at}"))))
    rows += make_operator_rows() + [golem.owner]
    looked_at, without = set(), []
    for row in rows:
        site = admin.site._registry.get(type(row))
        if site is None:
            continue
        answer = browser.get(form_page(row._meta.label_lower, row.pk))
        if answer.status_code != 200 or not answer.context.get("has_change_permission"):
            continue
        shown = answer.context["adminform"]
        if not shown.form.fields:
            continue
        looked_at.add(type(row).__name__)
        if not any(name in shown.form.fields and name in answer.content.decode() for name in _OPENED):
            without.append(type(row).__name__)
    assert without == []
    assert {"Golem", "Archetype", "CodingWorkspace", "HaltSetting", "User", "PeriodicTask"} <= looked_at
