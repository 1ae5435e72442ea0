"""A pinned golem: no definition, of whatever kind, newer than its owner saw is used without their word.

Reads go over REST; writes in a test that is rolled back are called where REST calls them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.toolset import resolve
from permits_app.actions.bring_definition import bring_definition
from permits_app.actions.pin_builtin_tools import pin_definitions
from permits_app.actions.preview import preview_action
from tests.coding_agent import CodingAgent
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.permits_app.test_replaced_tools import GREP
from tests.permits_app.test_written_tools import COIN, Index
from tests.permits_app.test_written_tools import WORDS as LOOKUP
from tests.permits_app.test_written_tools import index as index
from tests.tools_app.sandbox.wat import answering
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.models import ToolDefinition
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool, ToolDef, WriteTool

MOON = 'name = "moon_gauge"\nsummary = "%s"\ndescription = "Tells how full the moon is."\ncategory = "data"\n'


def of_protocol(kind: type[ToolDef], pi_tool: PiTool) -> ToolDef:
    found = [
        tool
        for tool in REGISTRY
        if isinstance(tool, kind)
        and tool.pi_tool is pi_tool
        and tool.handler.__module__.startswith("tools_app.protocols.")
    ]
    return next(tool for tool in found if tool.venue == "uniswap")


BUILT_IN = {
    "a protocol's read": of_protocol(ReadTool, PiTool.QUERY_STATE),
    "a protocol's write": of_protocol(WriteTool, PiTool.PREVIEW_ACTION),
    "a read of no protocol": REGISTRY.get("data_get_token_price"),
}


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Replaces a built-in as a release would: `released(tool, summary="...")`."""

    def release(tool: ToolDef, **changes: Any) -> ToolDef:
        newer = replace(tool, **changes)
        monkeypatch.setitem(REGISTRY._tools, tool.name, newer)
        resolve.cache_clear()
        return newer

    yield release
    monkeypatch.undo()
    resolve.cache_clear()


def call(agent: Agent, tool: ToolDef) -> dict[str, Any]:
    """What it is answered, without parameters: refused for that, or before."""
    if isinstance(tool, ReadTool):
        told: dict[str, Any] = agent.post("query_state", {"query": tool.key, "venue": tool.venue}).json()
        return told
    body = {"action_type": tool.key, "venue": tool.venue}
    with pytest.raises(GolemError) as refused:
        preview_action(golem_id=agent.golem.pk, api_key_id=agent.key.key.pk, body=body, now=clock.now())
    return refused.value.as_problem()


def log_in(owner: Any) -> Client:
    owner.is_staff = True
    owner.save()
    owner.groups.add(ensure_owner_group())
    browser = Client()
    browser.force_login(owner)
    return browser


@pytest.mark.parametrize("kind", BUILT_IN)
@pytest.mark.parametrize(
    "change", [{"summary": "It reads otherwise"}, {"schema_version": 99}, {"guidelines": ("Always send all of it.",)}]
)
def test_a_built_in_that_a_release_changed_is_refused_until_its_owner_agrees(
    make_agent: MakeAgent, released: Any, kind: str, change: dict[str, Any]
) -> None:
    agent, tool = make_agent(categories=("data", "trading", "lp", "intelligence", "fees")), BUILT_IN[kind]
    free = make_agent(categories=("data", "trading", "lp", "intelligence", "fees"))
    pin_definitions(golem=agent.golem, is_pinned=True, owner=agent.golem.owner, now=clock.now())
    assert call(agent, tool).get("code") != "DEFINITION_NOT_SEEN"
    newer = released(tool, **change)
    refused = call(agent, tool)
    assert (refused["status"], refused["code"], refused["recovery"]) == (409, "DEFINITION_NOT_SEEN", "ASK_OWNER")
    assert call(free, tool).get("code") != "DEFINITION_NOT_SEEN"
    browser = log_in(agent.golem.owner)
    page = reverse("admin:archetypes_app_golem_definitions", args=[agent.golem.pk])
    browser.post(page, {"do": "see", "seen": [f"{tool.name} {tool.definition_hash}"]})
    assert call(agent, tool)["code"] == "DEFINITION_NOT_SEEN", "they agreed to the old one"
    browser.post(page, {"do": "see", "seen": [f"{tool.name} {newer.definition_hash}"]})
    assert call(agent, tool).get("code") != "DEFINITION_NOT_SEEN"


def check_asks_again(golem: Golem, ask: Any, texts: tuple[str, str], module: bytes | None = None) -> None:
    """The golem goes on with what its owner approved, and uses what is newer only after they approved that."""
    browser = log_in(golem.owner)
    rows: list[ToolDefinition] = []
    for number, text in enumerate(texts):
        row = bring_definition(owner=golem.owner, definition_text=text, module=module, now=clock.now())
        rows.append(row)
        if number == 0:
            agree(browser, golem, row, seen=row.definition_hash)
            pin_definitions(golem=golem, is_pinned=True, owner=golem.owner, now=clock.now())
    assert ask() == rows[0].definition_hash
    agree(browser, golem, rows[1], seen=rows[0].definition_hash)
    assert ask() == rows[0].definition_hash, "they agreed to the old one"
    agree(browser, golem, rows[1], seen=rows[1].definition_hash)
    assert ask() == rows[1].definition_hash


def agree(browser: Client, golem: Golem, row: ToolDefinition, *, seen: str) -> None:
    url = reverse("admin:tools_app_tooldefinition_approve", args=[row.pk])
    browser.post(url, {"seen_hash": seen, "golems": [str(golem.pk)]})


def test_a_newer_module_is_not_used_before_its_owner_agrees(make_agent: MakeAgent) -> None:
    agent = make_agent(categories=("data",))
    check_asks_again(
        agent.golem,
        lambda: agent.post("query_state", {"query": "moon_gauge"}).json()["data"]["definition_hash"],
        (MOON % "How full the moon is", MOON % "How round the moon is"),
        module=answering('{"data": 1}'),
    )


def test_a_newer_text_is_not_used_before_its_owner_agrees(make_agent: MakeAgent, index: Index) -> None:
    agent = make_agent(categories=("data",))
    text = LOOKUP + COIN + f'[http]\nurl = "{index.url}/%s/{{coin}}"\n'
    check_asks_again(
        agent.golem,
        lambda: agent.post("query_state", {"query": "coin_lookup", "coin": "x"}).json()["data"]["definition_hash"],
        (text % "v1", text % "v2"),
    )
    assert index.paths == ["/v1/x", "/v1/x", "/v2/x"]


def test_a_newer_text_in_the_place_of_a_built_in_is_not_used_before_its_owner_agrees(
    coder: CodingAgent, index: Index
) -> None:
    body = {"query": "grep", "venue": "coding", "pattern": "x"}
    check_asks_again(
        coder.golem,
        lambda: coder._post("query_state", body)["data"]["definition_hash"],
        (GREP % index.url, GREP % f"{index.url}/newer"),
    )


def test_a_newer_program_is_not_used_before_its_owner_agrees(coder: CodingAgent) -> None:
    text = 'name = "say_words"\nsummary = "Says"\ndescription = "Says a word."\ncategory = "coding"\n[command]\n'

    def ask() -> str:
        (route,) = [each for each in coder.get("manifest")["actions"] if each["tool"] == "say_words"]
        told = coder.do("say_words", venue="command")["content"][0]["text"]
        assert told == {1: "one", 2: "two"}[route["schema_version"]]
        return str(route["definition_hash"])

    check_asks_again(coder.golem, ask, (text + 'argv = ["echo", "one"]\n', text + 'argv = ["echo", "two"]\n'))
