"""Roles per golem: what each of them may, asked through every page there is; how people come, rise and leave."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from archetypes_app.actions.invite_person import invite_person, join_golem
from archetypes_app.errors import InvitationOver
from archetypes_app.models import ApiKey, Golem, GolemMember, Invitation, SignIn
from archetypes_app.ownership import find_role, list_deciders
from archetypes_app.roles import Role
from permits_app.actions.request_change import request_operation
from permits_app.approval_errors import NotAnOwner, OwnRequest
from permits_app.doors.decide_change import decide_change
from permits_app.models import ChangeRequest
from permits_app.models.approval import Verdict
from tests import factories
from tests.admin.members import golem as golem
from tests.admin.members import log_in, make_member
from tests.admin.rows import MAKERS, page
from tests.factories.golems import PASSWORD
from tests.passing_time import let_pass_until
from tests.permits_app.approvals.people import approve, carry_out, give_device
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db

# What a person does with their own account, whatever their roles are.
_OWN_ACCOUNT = (
    "login",
    "logout",
    "password_change",
    "sign_ins",
    "permits_app_changerequest_second_factor",
    "permits_app_changerequest_second_factors",
    "permits_app_changerequest_second_factor_remove",
    "permits_app_changerequest_passkey_ask",
    "stream_webhookendpoint_add",
)
_UNTOUCHED_BY_ACTS = ("sessions.session", "archetypes_app.signin", "admin.logentry")


def list_pages() -> Iterator[tuple[str, str]]:
    """Name and route of every page below the admin."""

    def walk(patterns: list[Any], before: str) -> Iterator[tuple[str, str]]:
        for each in patterns:
            route = before + str(each.pattern).lstrip("^")
            if isinstance(each, URLResolver):
                yield from walk(each.url_patterns, route)
            elif isinstance(each, URLPattern) and route.startswith("admin/"):
                yield each.name or "", route

    yield from walk(get_resolver().url_patterns, "")


def choose_row(name: str, rows: dict[str, Any], golem: Golem) -> Any:
    """The key of the row that a page of that name is about, or of the golem."""
    model = next((label for label in rows if name.startswith(label.replace(".", "_") + "_")), None)
    return rows[model].pk if model else golem.pk


def fill(name: str, route: str, rows: dict[str, Any], golem: Golem) -> str | None:
    """An address of that page with a row of the golem; None where no row fits."""
    row = choose_row(name, rows, golem)
    if "memory/<uuid:golem_id>" in route or "golem_id" in route:
        row = golem.pk
    if "<uuid:permit_id>" in route:
        row = uuid4()
    filled = re.sub(r"<uuid:(?:golem_id|object_id|permit_id)>|<path:object_id>", str(row), route)
    filled = re.sub(r"<uuid:\w+>", str(uuid4()), filled)
    filled = re.sub(r"<int:\w+>", "1", filled)
    filled = re.sub(r"<(?:slug|str|path):\w+>", "pin", filled)
    return "/" + filled if "(?P" not in filled and "\\" not in filled else None


def read_database() -> dict[str, list[Any]]:
    """Every row of ours, for a comparison."""
    found = {}
    for model in apps.get_models():
        label = model._meta.label_lower
        if model._meta.managed and label not in _UNTOUCHED_BY_ACTS:
            found[label] = sorted(map(repr, model._default_manager.values_list()))
    return found


@pytest.mark.parametrize("role", [Role.VIEWER, None])
def test_every_post_of_a_viewer_is_refused_on_every_page_and_changes_nothing(golem: Golem, role: Role | None) -> None:
    # A golem for each kind of row: some can be made but once of one golem.
    kinds = [label for label in MAKERS if label not in _MADE_ALREADY]
    owned = {label: factories.make_golem(owner=factories.make_owner(name=label), name=label) for label in kinds}
    rows = {label: MAKERS[label](owned[label]) for label in kinds}
    rows |= {"archetypes_app.golem": golem, "permits_app.spendinglimits": golem.spending_limits}
    rows["permits_app.policycage"] = golem.policy_cage
    person = make_member(golem, Role.VIEWER, name="vera")
    for each in owned.values():
        GolemMember.objects.create(golem=each, person=person, role=Role.VIEWER.value, since=clock.now())
    if role is None:
        GolemMember.objects.all().delete()
    browser = log_in(person)
    body = {
        "reason": "mine",
        "golem": str(golem.pk),
        "golems": [str(golem.pk)],
        "confirm": "1",
        "post": "yes",
        "do": "see",
        "say": "hello",
        "note": "x",
        "password": PASSWORD,
        "verdict": "APPROVE",
        "digest": "0x",
        "text": "x",
        "seconds_left": "0",
        "action": "delete_selected",
        "scopes": "read",
        "label": "x",
    }
    before, tried, wrong = read_database(), 0, []
    for name, route in list_pages():
        url = fill(name, route, rows, golem)
        if url is None or name in _OWN_ACCOUNT:
            continue
        tried += 1
        selected = str(choose_row(name, rows, golem))
        status = browser.post(url, {**body, "_selected_action": [selected]}).status_code
        # Its history is shown whatever the method.
        names_a_row = "<" in route and "autocomplete" not in route and not route.endswith("history/")
        if names_a_row and status not in (302, 403, 404, 405):
            wrong.append((url, status))
    assert tried > 150
    assert wrong == []
    assert read_database() == before


_MADE_ALREADY = (
    "archetypes_app.golem",
    "permits_app.spendinglimits",
    "permits_app.policycage",
    # They belong to a person, not to a golem: nobody but who made them ever sees them.
    "archetypes_app.archetype",
    "archetypes_app.toolprofile",
)


def test_a_viewer_sees_the_pages_of_this_golem_and_of_no_other(golem: Golem) -> None:
    viewer = make_member(golem, Role.VIEWER, name="vera")
    other = factories.make_golem(owner=factories.make_owner(name="ben"), name="Golem of Ben")
    permit = factories.make_permit(golem=golem)
    browser = log_in(viewer)
    shown = [
        page("archetypes_app.golem", "change", golem.pk),
        page("archetypes_app.golem", "people", golem.pk),
        page("permits_app.actionpermit", "change", permit.pk),
        reverse("cockpit", args=[golem.pk]),
        reverse("risks", args=[golem.pk]),
        reverse("fleet"),
        reverse("admin:index"),
    ]
    for url in shown:
        answer = browser.get(url)
        assert answer.status_code == 200, url
        assert "Golem of Ben" not in answer.content.decode()
    assert browser.get(page("archetypes_app.golem", "change", other.pk)).status_code == 404
    assert 'href="../halt/"' not in browser.get(shown[0]).content.decode()
    assert browser.get(page("archetypes_app.golem", "halt", golem.pk)).status_code == 403
    assert browser.get(page("archetypes_app.golem", "add")).status_code == 403


def test_an_operator_of_a_golem_stops_it_and_asks_and_decides_nothing(golem: Golem) -> None:
    operator = make_member(golem, Role.OPERATOR, name="olga")
    give_device(operator)
    browser = log_in(operator)
    answer = browser.post(page("archetypes_app.golem", "halt", golem.pk), {"reason": "odd prices"})
    golem.refresh_from_db()
    assert (answer.status_code, golem.is_halted) == (302, True)
    browser.post(page("archetypes_app.golem", "resume", golem.pk), {"reason": "fine again"})
    request = ChangeRequest.objects.get(kind="resume")
    assert request.asked_by == operator
    decided = {"verdict": "APPROVE", "digest": request.digest, "code": "123456"}
    assert browser.post(page("permits_app.changerequest", "decide", request.pk), decided).status_code == 403
    with pytest.raises(NotAnOwner):
        approve(request, operator)
    for name in ("retire", "warden", "people", "owners"):
        url = page("archetypes_app.golem", name, golem.pk)
        assert browser.post(url, {"reason": "x", "do": "invite", "invite-label": "x"}).status_code == 403, name
    assert not Invitation.objects.exists()


def test_an_approver_decides_with_a_second_factor_and_changes_nothing_by_itself(golem: Golem) -> None:
    approver = make_member(golem, Role.APPROVER, name="abe")
    give_device(approver)
    browser = log_in(approver)
    assert browser.post(page("archetypes_app.golem", "halt", golem.pk), {"reason": "x"}).status_code == 403
    assert (
        browser.post(page("archetypes_app.apikey", "add"), {"golem": str(golem.pk), "scopes": "read"}).status_code
        != 302
    )
    assert ApiKey.objects.filter(golem=golem).count() == 1
    request = request_operation(
        golem=golem, name="live", arguments={}, owner=golem.owner, reason="it is ready", now=clock.now()
    )
    # With an approver beside its owner, who asked does not approve it.
    with pytest.raises(OwnRequest):
        approve(request, golem.owner)
    assert approve(request, approver).state == "APPROVED"
    with pytest.raises(NotAnOwner):
        request_operation(golem=golem, name="live", arguments={}, owner=approver, reason="x", now=clock.now())


def test_an_invitation_is_shown_once_and_makes_one_viewer(golem: Golem) -> None:
    owner, people = log_in(golem.owner), page("archetypes_app.golem", "people", golem.pk)
    answer = owner.post(people, {"do": "invite", "invite-label": "Vera of accounting"}, follow=True).content.decode()
    found = re.search(r"/join/#([\w-]+)", answer)
    assert found is not None
    secret = found[1]
    assert secret not in owner.get(people).content.decode()
    assert not Invitation.objects.filter(token_hash__contains=secret).exists()
    account = {
        "invitation": secret,
        "username": "vera",
        "password1": "wide open sesame 7",
        "password2": "wide open sesame 7",
    }
    guest = Client()
    joined = guest.post("/join/", account)
    assert (joined.status_code, joined["Location"]) == (302, reverse("cockpit", args=[golem.pk]))
    vera = GolemMember.objects.get(golem=golem).person
    assert (vera.username, find_role(golem, vera), vera.is_superuser) == ("vera", Role.VIEWER, False)
    assert guest.get(joined["Location"]).status_code == 200
    taken = Client().post("/join/", account)
    assert (taken.status_code, "already exists" in taken.content.decode()) == (410, False)
    again = Client().post("/join/", account | {"username": "eve"})
    assert (again.status_code, "golem of ana" in again.content.decode().lower()) == (410, False)
    assert not type(vera).objects.filter(username="eve").exists()
    events = AuditEntry.objects.filter(golem_id=golem.pk, event__in=("PersonInvited", "PersonJoined"))
    assert events.count() == 2
    assert secret not in str(list(AuditEntry.objects.values_list("data", flat=True)))


@pytest.mark.parametrize("ended", ["taken back", "old"])
def test_an_invitation_that_is_over_lets_nobody_in(golem: Golem, ended: str) -> None:
    owner, people = log_in(golem.owner), page("archetypes_app.golem", "people", golem.pk)
    found = re.search(
        r"/join/#([\w-]+)", owner.post(people, {"do": "invite", "invite-label": "V"}, follow=True).content.decode()
    )
    assert found is not None
    if ended == "old":
        let_pass_until(Invitation.objects.get().expires_at)
    else:
        owner.post(people, {"do": "take_back", "invitation": str(Invitation.objects.get().pk)})
    person = factories.make_owner(name="vera")
    assert log_in(person).post("/join/", {"invitation": found[1]}).status_code == 410
    assert find_role(golem, person) is None


def test_a_higher_role_waits_for_the_owners_and_one_that_decides_nothing_is_taken_at_once(golem: Golem) -> None:
    viewer = make_member(golem, Role.VIEWER, name="vera")
    owner, people = log_in(golem.owner), page("archetypes_app.golem", "people", golem.pk)
    change = {"do": "role", "role-person": "vera", "role-reason": "she knows it"}
    owner.post(people, change | {"role-role": "APPROVER"})
    request = ChangeRequest.objects.get()
    assert (request.kind, request.risk_tier, request.needs_second_factor) == ("role", "CRITICAL", True)
    assert find_role(golem, viewer) is Role.VIEWER
    approve(request, golem.owner)
    carry_out(request)
    assert find_role(golem, viewer) is Role.APPROVER
    assert {person.username for person in list_deciders(golem)} == {"ana", "vera"}
    # Losing one who decides would make decisions easier: that waits too, and the other decides it.
    owner.post(people, change | {"role-role": "NONE"})
    assert find_role(golem, viewer) is Role.APPROVER
    assert ChangeRequest.objects.filter(kind="role", state="OPEN").count() == 1
    GolemMember.objects.update(role="OPERATOR")
    owner.post(people, change | {"role-role": "NONE"})
    assert find_role(golem, viewer) is None
    assert log_in(viewer).get(page("archetypes_app.golem", "change", golem.pk)).status_code == 404


def test_who_lost_their_role_decides_nothing_any_more(golem: Golem) -> None:
    approver = make_member(golem, Role.APPROVER, name="abe")
    give_device(approver)
    request = request_operation(golem=golem, name="live", arguments={}, owner=golem.owner, reason="go", now=clock.now())
    GolemMember.objects.all().delete()
    with pytest.raises(NotAnOwner):
        decide_change(
            request_id=request.pk,
            owner=approver,
            verdict=Verdict.REJECT,
            reason="no",
            code="",
            seen_digest=request.digest,
            now=clock.now(),
        )


@pytest.mark.parametrize("wrong", ["", "x", "1e9", "9" * 30])
def test_a_row_that_is_none_is_no_fault_of_the_server(golem: Golem, wrong: str) -> None:
    owner = log_in(golem.owner)
    people = page("archetypes_app.golem", "people", golem.pk)
    make_member(golem, Role.VIEWER, name="vera")
    invite_person(golem=golem, label="guest", invited_by=golem.owner, now=clock.now())
    before = read_database()
    forms = [
        (reverse("sign_ins"), {"sign_in": wrong}),
        (people, {"do": "take_back", "invitation": wrong}),
        (people, {"do": "role", "role-person": wrong, "role-role": "VIEWER", "role-reason": "a test"}),
        (page("archetypes_app.golem", "changelist"), {"action": "delete_selected", "_selected_action": [wrong]}),
    ]
    for url, body in forms:
        assert owner.post(url, body).status_code < 500, body
    assert read_database() == before


def test_sign_ins_are_listed_and_ended_from_another_browser() -> None:
    person = factories.make_owner(name="ana")
    person.set_password(PASSWORD)
    person.save()
    here, there = Client(headers={"user-agent": "Here/1"}), Client(headers={"user-agent": "There/2"})
    for browser in (here, there):
        browser.force_login(person)
    for browser in (here, there):
        # `login` of the test client asks no view; the login page does.
        browser.logout()
        browser.post(reverse("admin:login"), {"username": "ana", "password": PASSWORD})
    shown = here.get(reverse("sign_ins")).content.decode()
    assert "Here/1" in shown and "There/2" in shown and "this one" in shown
    other = SignIn.objects.get(browser="There/2")
    stranger = log_in(factories.make_owner(name="eve"))
    stranger.post(reverse("sign_ins"), {"sign_in": other.pk})
    assert Session.objects.filter(session_key=other.session_key).exists()
    here.post(reverse("sign_ins"), {"sign_in": other.pk})
    assert there.get(reverse("sign_ins")).status_code == 302
    assert here.get(reverse("sign_ins")).status_code == 200


def test_an_invitation_lives_for_a_week_to_the_second(golem: Golem) -> None:
    now = clock.now()
    for late, person in ((timedelta(days=7, seconds=-1), "vera"), (timedelta(days=7), "eve")):
        _, secret = invite_person(golem=golem, label=person, invited_by=golem.owner, now=now)
        guest = factories.make_owner(name=person)
        if person == "vera":
            join_golem(secret=secret.reveal(), person=guest, now=now + late)
            assert find_role(golem, guest) == Role.VIEWER
        else:
            with pytest.raises(InvitationOver):
                join_golem(secret=secret.reveal(), person=guest, now=now + late)
            assert find_role(golem, guest) is None


def test_who_has_a_role_keeps_that_one_and_gets_no_second(golem: Golem) -> None:
    approver = factories.make_owner(name="approver")
    GolemMember.objects.create(golem=golem, person=approver, role=Role.APPROVER.value, since=clock.now())
    for person, role in ((approver, Role.APPROVER), (golem.owner, find_role(golem, golem.owner))):
        _, secret = invite_person(golem=golem, label="again", invited_by=golem.owner, now=clock.now())
        join_golem(secret=secret.reveal(), person=person, now=clock.now())
        assert find_role(golem, person) == role
        assert GolemMember.objects.filter(golem=golem, person=person).count() == (person != golem.owner)
