"""One owner, and one address, have only so many event streams, with however many tokens."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.models.api_key import Scope
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.stream.conftest import EventSource
from tools_app.core import clock

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_owner_has_only_so_many_streams_with_however_many_tokens_and_another_still_gets_one(
    web_port: int, make_agent: MakeAgent, settings: Any
) -> None:
    settings.GOLEM_STREAM_MOST_CLIENTS_PER_OWNER = 3
    agent, other = make_agent(), make_agent()
    keys = [
        create_api_key(golem=agent.golem, scopes=Scope.values, label=f"{n}", created_by=None, now=clock.now())
        for n in range(4)
    ]
    sources = [EventSource(web_port, token=key.token) for key in keys[:3]]
    for source in sources:
        source.wait_until_live()
    refused = EventSource(web_port, token=keys[3].token)
    problem = refused.problem()
    assert (refused.status, problem["code"], problem["limit"]) == (429, "STREAM_LIMIT_REACHED", 3)
    client = Client()
    client.force_login(agent.golem.owner)
    type(agent.golem.owner).objects.filter(pk=agent.golem.owner_id).update(is_staff=True)
    page = EventSource(web_port, Cookie=f"sessionid={client.cookies['sessionid'].value}")
    assert (page.status, page.problem()["code"]) == (429, "STREAM_LIMIT_REACHED")
    someone_else = EventSource(web_port, token=other.key.token)
    assert someone_else.status == 200
    for source in (*sources, someone_else):
        source.close()


def test_one_address_behind_a_proxy_has_only_so_many_streams(
    web_port: int, make_agent: MakeAgent, settings: Any
) -> None:
    settings.GOLEM_STREAM_MOST_PER_ADDRESS = 2
    agents = [make_agent() for _ in range(3)]
    there = {"X-Forwarded-For": "203.0.113.8"}
    sources = [EventSource(web_port, token=agent.key.token, **there) for agent in agents[:2]]
    for source in sources:
        source.wait_until_live()
    refused = EventSource(web_port, token=agents[2].key.token, **there)
    assert (refused.status, refused.problem()["code"]) == (429, "STREAM_LIMIT_REACHED")
    elsewhere = EventSource(web_port, token=agents[2].key.token)
    assert elsewhere.status == 200
    for source in (*sources, elsewhere):
        source.close()
