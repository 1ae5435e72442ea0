"""What a page of an owner's day costs the database: a bounded number of questions, however much there is to show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from archetypes_app.models import Golem, Heartbeat
from archetypes_app.owner_group import ensure_owner_group
from tests import factories

OWN = "/admin/archetypes_app/golem/{golem}"
MOST = {
    "/admin/": 45,
    "/admin/cockpit/": 20,
    "/admin/cockpit/{golem}/": 32,
    f"{OWN}/change/": 47,
    f"{OWN}/people/": 15,
    f"{OWN}/statement/": 15,
    f"{OWN}/policy/": 18,
    f"{OWN}/cage/": 17,
    f"{OWN}/halt/": 26,
    f"{OWN}/live/": 15,
    f"{OWN}/retire/": 15,
    f"{OWN}/strategy/": 15,
    "/admin/cage/{golem}/": 15,
    "/admin/archetypes_app/heartbeat/{golem}/change/": 18,
    "/admin/archetypes_app/golem/": 15,
    "/admin/archetypes_app/golem/add/": 15,
    "/admin/permits_app/actionpermit/": 15,
    "/admin/permits_app/actionpermit/{permit}/change/": 24,
    "/admin/permits_app/changerequest/inbox/": 17,
    "/admin/permits_app/changerequest/": 15,
    "/admin/permits_app/changerequest/{request}/change/": 28,
    "/admin/memory_app/episode/": 15,
    "/admin/memory_app/episode/memory/": 15,
    "/admin/memory_app/insight/": 15,
    "/admin/tools_app/auditentry/": 15,
    "/admin/permits_app/haltrecord/": 15,
    "/admin/permits_app/allowlistentry/": 15,
    "/admin/permits_app/spendinglimits/": 15,
    "/admin/permits_app/wallet/": 15,
    "/admin/archetypes_app/apikey/": 15,
    "/admin/find/?q=swap": 15,
}
"""A page and the questions it may ask."""


def add_rows(owner: Any, golem: Golem, many: int) -> None:
    """`many` more golems, each with what is set and what happened, and as much again of `golem`."""
    for number in range(many):
        each = factories.make_golem(owner=owner, name=f"one of {many}, {number}")
        factories.make_limits(golem=each)
        factories.make_cage(golem=each)
        factories.make_allowlist_entry(golem=each)
        factories.make_halt(golem=each)
        Heartbeat.objects.create(golem=each, is_on=False)
        for one in (golem, each):
            permit = factories.make_permit(golem=one)
            factories.make_signed_promise(permit=permit)
            factories.make_change_request(golem=one)
            factories.make_episode(golem=one)
            factories.make_insight(golem=one)
            factories.make_audit_entry(golem=one)
            factories.make_event(golem=one)
            factories.make_api_key(golem=one)


@pytest.mark.django_db
def test_no_page_of_an_owner_s_day_asks_more_where_there_is_more_to_show() -> None:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    golem = factories.make_golem(owner=owner, name="First")
    factories.make_limits(golem=golem)
    factories.make_cage_mirror(golem=golem)
    Heartbeat.objects.create(golem=golem, is_on=False)
    names = {
        "golem": golem.pk,
        "permit": factories.make_committed_permit(golem=golem).pk,
        "request": factories.make_change_request(golem=golem).pk,
    }
    client = Client()
    client.force_login(owner)
    add_rows(owner, golem, 2)
    few = count_all(client, lambda path: path.format(**names))
    add_rows(owner, golem, 10)
    lots = count_all(client, lambda path: path.format(**names))
    assert {path: (few[path], lots[path]) for path in MOST if lots[path] > few[path]} == {}
    assert {path: asked for path, asked in lots.items() if asked > MOST[path]} == {}


def count_all(client: Client, fill: Callable[[str], str]) -> dict[str, int]:
    """How many questions each page asks."""
    found = {}
    for path in MOST:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(fill(path)).status_code == 200, path
        found[path] = len(asked)
    return found
