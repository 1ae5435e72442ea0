"""A golem that is pinned to what its owner saw: what reads otherwise is refused with its code until they agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem, SeenDefinition
from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.toolset import resolve_toolset
from permits_app.actions.pin_builtin_tools import list_unseen, pin_definitions, see_definitions
from permits_app.actions.query import query_state
from permits_app.errors import DefinitionNotShown
from permits_app.limits.policy import load_golem
from tests import factories
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.core.required_value import require
from tools_app.select_tool_for_venue import DefinitionNotSeen
from tools_app.toolkit.registry import REGISTRY

NAME = "data_get_token_price"


@pytest.fixture
def golem(db: None) -> Golem:
    golem = factories.make_golem(owner=factories.make_owner(name="ana"))
    pin_definitions(golem=golem, is_pinned=True, owner=golem.owner, now=clock.now())
    return golem


def age(golem: Golem, name: str = NAME, **as_it_was: Any) -> None:
    """Let what the owner saw of a tool be another definition than today's."""
    tool = next(tool for tool in REGISTRY if tool.name == name)
    before = replace(tool, **as_it_was)
    SeenDefinition.objects.create(definition_hash=before.definition_hash, body=before.definition_body)
    golem.seen_definitions = {**require(golem.seen_definitions), name: before.definition_hash}
    golem.save()


def now_of(name: str = NAME) -> str:
    return next(tool.definition_hash for tool in REGISTRY if tool.name == name)


def test_a_tool_its_owner_did_not_see_is_refused_with_its_code_and_others_are_not(golem: Golem) -> None:
    age(golem, summary="As it was")
    with pytest.raises(DefinitionNotSeen) as refused:
        query_state(golem=load_golem(golem.pk), query="token_price", venue=None, params={}, now=clock.now())
    assert refused.value.as_problem()["tools"] == [NAME]
    assert refused.value.as_problem()["recovery"] == "ASK_OWNER"
    assert NAME not in resolve_toolset(golem) and len(resolve_toolset(golem)) > 5
    query_state(golem=load_golem(golem.pk), query="limits", venue=None, params={}, now=clock.now())


def test_a_preview_of_an_action_that_reads_otherwise_is_refused_over_the_agents_door(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    pin_definitions(golem=golem, is_pinned=True, owner=live_golem.owner, now=clock.now())
    swaps = [tool.name for tool in REGISTRY if tool.key == "swap"]
    golem.seen_definitions = {name: seen for name, seen in require(golem.seen_definitions).items() if name not in swaps}
    golem.save()
    with pytest.raises(DefinitionNotSeen):
        live_golem.preview()
    see_definitions(golem=golem, shown={name: now_of(name) for name in swaps}, owner=live_golem.owner, now=clock.now())
    assert live_golem.preview()["status"] == "CREATED"


def test_what_the_owner_never_had_stays_unknown(golem: Golem) -> None:
    bare = factories.make_golem(owner=golem.owner, name="Bare")
    excluded = bare.tool_overrides.create(golem=bare, tool_name=NAME, mode="EXCLUDE")
    pin_definitions(golem=bare, is_pinned=True, owner=bare.owner, now=clock.now())
    age(bare, summary="As it was once")
    assert excluded.tool_name not in resolve_toolset(bare).unseen


def test_the_owner_is_shown_what_differs_and_agrees_to_exactly_that(golem: Golem) -> None:
    age(golem, summary="As it was", guidelines=())
    (unseen,) = list_unseen(golem)
    told = {each["where"]: each["before"] for each in unseen.changes}
    assert (unseen.name, unseen.is_new, told) == (NAME, False, {"summary": "As it was", "guidelines": []})
    golem.owner.groups.add(ensure_owner_group())
    client = Client()
    client.force_login(golem.owner)
    page = reverse("admin:archetypes_app_golem_definitions", args=[golem.pk])
    text = client.get(page).content.decode()
    assert "Refused until you agree" in text and "As it was" in text and f"{NAME} {now_of()}" in text
    client.post(page, {"do": "see", "seen": [f"{NAME} 0x{'00' * 32}"]})
    golem.refresh_from_db()
    assert NAME not in resolve_toolset(golem)
    client.post(page, {"do": "see", "seen": [f"{NAME} {now_of()}"]})
    golem.refresh_from_db()
    assert NAME in resolve_toolset(golem) and list_unseen(golem) == []
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="DefinitionsSeen").count() == 1
    assert "Refused until you agree" not in client.get(page).content.decode()


def test_a_tool_that_is_new_is_shown_whole(golem: Golem) -> None:
    golem.seen_definitions = {name: seen for name, seen in require(golem.seen_definitions).items() if name != NAME}
    golem.save()
    (unseen,) = list_unseen(golem)
    assert unseen.is_new
    assert {"name", "summary", "description", "capability"} <= {each["where"] for each in unseen.changes}


@pytest.mark.parametrize("shown", [{}, {"no_such_tool": "0x00"}, {NAME: "0x00"}])
def test_nothing_is_agreed_to_that_was_not_shown(golem: Golem, shown: dict[str, str]) -> None:
    age(golem, summary="As it was")
    before = dict(require(golem.seen_definitions))
    with pytest.raises(DefinitionNotShown):
        see_definitions(golem=golem, shown=shown, owner=golem.owner, now=clock.now())
    golem.refresh_from_db()
    assert golem.seen_definitions == before


def test_a_stranger_neither_sees_nor_agrees(golem: Golem) -> None:
    age(golem, summary="As it was")
    ben = factories.make_owner(name="ben")
    ben.groups.add(ensure_owner_group())
    client = Client()
    client.force_login(ben)
    page = reverse("admin:archetypes_app_golem_definitions", args=[golem.pk])
    assert client.get(page).status_code == 404
    assert client.post(page, {"do": "see", "seen": [f"{NAME} {now_of()}"]}).status_code == 404
