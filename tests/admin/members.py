"""People with a role in a golem, and their browsers."""

from __future__ import annotations

from typing import Any

from django.test import Client

from archetypes_app.models import Golem, GolemMember
from archetypes_app.owner_group import ensure_member_group
from archetypes_app.roles import Role
from tests import factories
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
