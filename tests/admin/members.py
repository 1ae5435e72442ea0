"""People with a role in a golem, and their browsers."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, GolemMember
from archetypes_app.owner_group import ensure_member_group, ensure_owner_group
from archetypes_app.roles import Role
from tests import factories
from tests.permits_app.approvals.people import give_device
from tools_app.core import clock


def log_in(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def make_member(golem: Golem, role: Role, *, name: str) -> Any:
    person = factories.make_owner(name=name)
    person.groups.set([ensure_member_group()])
    person.user_permissions.clear()
    GolemMember.objects.create(golem=golem, person=person, role=role.value, since=clock.now())
    return person


@pytest.fixture
def golem(db: None) -> Golem:
    """A golem of an owner with a second factor."""
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    give_device(owner)
    golem = factories.make_golem(owner=owner, name="Golem of Ana")
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    factories.make_api_key(golem=golem)
    return golem
