"""What ends with a role: approvals that were given, keys that were made, links that were sent."""

from __future__ import annotations

import pytest
from django.test import Client

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.actions.invite_person import invite_person
from archetypes_app.models import ApiKey, Golem, GolemMember
from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.ownership import find_role, list_deciders
from archetypes_app.roles import Role
from permits_app.actions.request_change import request_operation
from permits_app.approval_pages.views import page_of
from permits_app.models import ChangeRequest
from tests import factories
from tests.admin.members import golem as golem
from tests.admin.members import log_in, make_member
from tests.admin.rows import page
from tests.permits_app.approvals.people import approve, carry_out, give_device
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db


def ask_for_an_approver(golem: Golem, name: str) -> ChangeRequest:
    """What every one of the others decides: with three deciders both who did not ask."""
    make_member(golem, Role.VIEWER, name=name)
    arguments = {"person": name, "role": "APPROVER"}
    return request_operation(
        golem=golem, name="role", arguments=arguments, owner=golem.owner, reason="x", now=clock.now()
    )


def test_what_was_approved_by_somebody_who_left_meanwhile_does_not_happen(golem: Golem) -> None:
    abe, ben = (make_member(golem, Role.APPROVER, name=name) for name in ("abe", "ben"))
    request = ask_for_an_approver(golem, "carl")
    for person in (abe, ben):
        give_device(person)
        request = approve(request, person)
    assert request.state == "APPROVED"
    GolemMember.objects.filter(person=abe).delete()
    request = carry_out(request)
    assert (request.state, request.state_reason) == ("STALE", "who approved it decides for this golem no longer")
    assert {person.username for person in list_deciders(golem)} == {"ana", "ben"}


def test_an_approval_of_somebody_who_left_does_not_count(golem: Golem) -> None:
    abe, ben = (make_member(golem, Role.APPROVER, name=name) for name in ("abe", "ben"))
    request = ask_for_an_approver(golem, "carl")
    for person in (abe, ben):
        give_device(person)
    assert approve(request, abe).state == "OPEN"
    decision = page_of(request.pk)
    assert "1 approved" in log_in(golem.owner).get(decision).content.decode()
    GolemMember.objects.filter(person=abe).delete()
    assert "0 approved" in log_in(golem.owner).get(decision).content.decode()
    assert approve(request, ben).state == "OPEN"


def test_keys_that_an_operator_made_end_with_their_role(golem: Golem) -> None:
    operator = make_member(golem, Role.OPERATOR, name="olga")
    kept = ApiKey.objects.get(golem=golem)
    made = create_api_key(golem=golem, scopes=["read"], label="hers", created_by=operator, now=clock.now())
    asked = {"Authorization": f"Bearer {made.token}"}
    assert Client().get("/api/v1/pi/manifest", headers=asked).status_code == 200
    owner, people = log_in(golem.owner), page("archetypes_app.golem", "people", golem.pk)
    change = {"do": "role", "role-person": "olga", "role-reason": "she left", "role-role": "VIEWER"}
    told = owner.post(people, change, follow=True).content.decode()
    assert "1 API keys that olga made are revoked" in told
    assert Client().get("/api/v1/pi/manifest", headers=asked).status_code == 401
    kept.refresh_from_db()
    assert kept.revoked_at is None
    events = list(AuditEntry.objects.filter(golem_id=golem.pk).values_list("event", flat=True))
    assert {"ApiKeyRevoked", "RoleChanged"} <= set(events)


def test_a_link_of_who_administers_no_longer_lets_nobody_in(golem: Golem) -> None:
    co_owner = factories.make_owner(name="cora")
    co_owner.groups.add(ensure_owner_group())
    golem.co_owners.add(co_owner)
    _, secret = invite_person(golem=golem, label="a friend", invited_by=co_owner, now=clock.now())
    golem.co_owners.remove(co_owner)
    assert log_in(co_owner).post("/join/", {"invitation": secret.reveal()}).status_code == 410
    assert find_role(golem, co_owner) is None
