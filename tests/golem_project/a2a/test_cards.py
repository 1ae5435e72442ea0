"""A golem's card: at both paths, for both versions, signed, and made from its toolset."""

from __future__ import annotations

import json
from typing import Any

import httpx
import jwt
import pytest
from a2a.client import A2ACardResolver
from a2a.client.card_resolver import parse_agent_card
from a2a.compat.v0_3.types import AgentCard as LegacyCard
from a2a.types import a2a_pb2 as wire
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from django.test import Client

from golem_project.a2a.models import OpenedRead
from tests.golem_project.a2a.conftest import JSON_RPC, REST, Line, run
from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tools_app.core import clock

PATHS = ("agent-card.json", "agent.json")


def _card(agent: Agent, name: str = PATHS[0]) -> Any:
    return agent.client.get(f"/a2a/{agent.golem.pk}/.well-known/{name}")


def _verify(card: wire.AgentCard, client: Client) -> None:
    def find_key(kid: str | None, jku: str | None) -> jwt.PyJWK:
        assert jku == "http://testserver/a2a/keys.json"
        (found,) = [key for key in client.get("/a2a/keys.json").json()["keys"] if key["kid"] == kid]
        assert "d" not in found
        return jwt.PyJWK(found)

    create_signature_verifier(find_key, ["EdDSA"])(card)


@pytest.mark.parametrize("name", PATHS)
def test_the_card_is_the_same_at_both_paths_and_reads_in_both_versions(agent: Agent, name: str) -> None:
    shown = _card(agent, name).json()
    card = parse_agent_card(json.loads(json.dumps(shown)))
    assert card.name == agent.golem.name
    assert {(each.protocol_binding, each.protocol_version) for each in card.supported_interfaces} == {
        (JSON_RPC, "1.0"),
        (REST, "1.0"),
        (JSON_RPC, "0.3"),
        (REST, "0.3"),
    }
    legacy = LegacyCard.model_validate(shown)
    assert legacy.url == f"http://testserver/a2a/{agent.golem.pk}"
    assert str(legacy.protocol_version).startswith("0.3")


def test_the_signature_is_the_servers_and_covers_every_word(agent: Agent) -> None:
    card = parse_agent_card(_card(agent).json())
    _verify(card, agent.client)
    card.supported_interfaces[0].url = "http://elsewhere.example/"
    with pytest.raises(InvalidSignaturesError):
        _verify(card, agent.client)


def test_its_skills_are_the_tools_the_golem_has(make_agent: MakeAgent) -> None:
    trader, watcher = make_agent(), make_agent(categories=["data"], address="")
    names = {skill["id"] for skill in _card(trader).json()["skills"]}
    assert {"preview_action", "commit_action", "query_state"} <= names
    assert "preview_action" not in {skill["id"] for skill in _card(watcher).json()["skills"]}


def test_it_says_what_strangers_may_read_and_nothing_else_of_the_golem(agent: Agent) -> None:
    assert "opened_reads" not in {skill["id"] for skill in _card(agent).json()["skills"]}
    OpenedRead.objects.create(golem=agent.golem, query="limits", venue="golem", created_at=clock.now())
    shown = _card(agent).json()
    (opened,) = [skill for skill in shown["skills"] if skill["id"] == "opened_reads"]
    assert "limits@golem" in opened["description"]
    text = json.dumps(shown)
    for hidden in (agent.golem.address, agent.golem.owner.username, agent.key.key.prefix):
        assert hidden not in text


def test_an_unchanged_card_costs_nothing_and_a_changed_one_is_sent(agent: Agent) -> None:
    first = _card(agent)
    path = f"/a2a/{agent.golem.pk}/.well-known/agent-card.json"
    assert first.headers["Last-Modified"] and "max-age" in first.headers["Cache-Control"]
    assert agent.client.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    agent.golem.name = "Renamed"
    agent.golem.save()
    assert agent.client.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


def test_the_root_is_one_golems_only_where_the_operator_says_so(agent: Agent, settings: Any) -> None:
    for name in PATHS:
        assert_problem(agent.client.get(f"/.well-known/{name}"), 404, "A2A_AGENT_UNKNOWN")
    settings.GOLEM_A2A_ROOT_GOLEM = str(agent.golem.pk)
    for name in PATHS:
        assert agent.client.get(f"/.well-known/{name}").json()["name"] == agent.golem.name


def test_a_golem_that_is_not_there_has_no_card(agent: Agent) -> None:
    path = "/a2a/00000000-0000-0000-0000-000000000000"
    assert_problem(agent.client.get(f"{path}/.well-known/agent-card.json"), 404, "A2A_AGENT_UNKNOWN")


def test_the_extended_card_is_for_who_holds_a_key_and_has_each_action(line: Line) -> None:
    async def play() -> wire.AgentCard:
        async with line.open() as client:
            return await client.get_extended_agent_card(wire.GetExtendedAgentCardRequest())

    skills = {skill.id: skill for skill in run(play()).skills}
    assert "token_in" in skills["preview_action/swap@uniswap"].description
    refused = httpx.get(f"{line.url}/rest/extendedAgentCard", headers={"A2A-Version": "1.0"})
    assert refused.status_code == 401


def test_the_official_resolver_finds_it(line: Line) -> None:
    async def play() -> wire.AgentCard:
        async with httpx.AsyncClient(timeout=60) as http:
            return await A2ACardResolver(http, line.url).get_agent_card()

    assert run(play()).name == line.golem.name
