"""What a page of an owner's day costs the database: a bounded number of questions, however much there is to show."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from archetypes_app.models import Heartbeat
from archetypes_app.owner_group import ensure_owner_group
from tests import factories
from tests.admin.owner_day import MOST, Fill, add_rows, name_rows


@pytest.mark.django_db
def test_no_page_of_an_owner_s_day_asks_more_where_there_is_more_to_show() -> None:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    golem = factories.make_golem(owner=owner, name="First")
    factories.make_limits(golem=golem)
    factories.make_cage_mirror(golem=golem)
    Heartbeat.objects.create(golem=golem, is_on=False)
    fill = name_rows(golem)
    client = Client()
    client.force_login(owner)
    add_rows(owner, golem, 2)
    few = count_all(client, fill)
    add_rows(owner, golem, 10)
    lots = count_all(client, fill)
    assert {path: (few[path], lots[path]) for path in MOST if lots[path] > few[path]} == {}
    assert {path: asked for path, asked in lots.items() if asked > MOST[path]} == {}


def count_all(client: Client, fill: Fill) -> dict[str, int]:
    """How many questions each page asks."""
    found = {}
    for path in MOST:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(fill(path)).status_code == 200, path
        found[path] = len(asked)
    return found
