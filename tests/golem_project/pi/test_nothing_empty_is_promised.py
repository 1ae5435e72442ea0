"""What is not on the shelf is refused by name, and neither an agent nor an owner is promised it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES
from archetypes_app.models import Archetype
from golem_project.heartbeat.thinking.prompt import write_instructions
from tests import factories
from tests.admin.rows import page
from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tools_app.toolkit.enums import Category, Phase
from tools_app.toolkit.family import FAMILIES
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY

STOCKED = {tool.category for tool in REGISTRY}
EMPTY = [category for category in Category if category not in STOCKED]


@pytest.fixture
def everything(make_agent: MakeAgent) -> Agent:
    """An agent whose owner ticked every category."""
    return make_agent(categories=[category.value for category in Category])


def test_some_categories_are_empty_here() -> None:
    """When none is any more, this file is done with."""
    assert EMPTY


@pytest.mark.parametrize("category", EMPTY, ids=lambda each: each.value)
def test_an_empty_category_is_no_shelf_of_an_agent(everything: Agent, category: Category) -> None:
    listed = everything.post("query_state", {"query": "browse_tools"}).json()["data"]["categories"]
    assert {each["name"] for each in listed} <= {each.value for each in STOCKED}
    assert all(each["tool_count"] for each in listed)
    answer = everything.post("query_state", {"query": "browse_tools", "category": category.value})
    problem = assert_problem(answer, 422, "CATEGORY_UNKNOWN", "FIX_PARAMS")
    assert category.value not in problem["available"]
    text = Client().get("/llms.txt").content.decode()
    assert f"- {category.value}:" not in text.split("## Categories")[1].split("## Skills")[0]


def test_no_prefix_is_declared_without_a_tool() -> None:
    assert [family.prefix for family in FAMILIES if not family.tools] == []


def test_every_archetype_that_waits_for_tools_says_so_where_models_read_of_it() -> None:
    text = Client().get("/llms.txt").content.decode()
    for archetype in BUILTIN_ARCHETYPES:
        line = re.search(rf"^- \[{archetype.name}\].*$", text, re.MULTILINE)
        waits = sorted(each.value for each in archetype.tool_categories if each in EMPTY)
        said = f"no tools here yet: {', '.join(waits)}"
        skill = Client().get(f"/skills/{archetype.name}.md").content.decode()
        assert line is not None
        assert (said in line[0], said in skill) == (bool(waits), bool(waits)), archetype.name


@pytest.mark.django_db
def test_an_owner_sees_what_is_empty_as_empty() -> None:
    sync_builtins()
    browser = Client()
    browser.force_login(factories.make_owner())
    matrix = browser.get(page("archetypes_app.toolprofile", "matrix")).content.decode()
    heads = re.findall(r"<th[^>]*>(.*?)</th>", matrix.split("</thead>")[0], re.DOTALL)
    shown = {re.sub(r"<[^>]*>", "", head).strip() for head in heads}
    assert {each.value.replace("_", " ") for each in STOCKED} <= shown
    assert shown & {each.value.replace("_", " ") for each in EMPTY} == set()
    form = browser.get(page("archetypes_app.toolprofile", "add")).content.decode()
    for category in Category:
        says_so = re.search(rf"\b{category.value} \(no tools here yet\)", form) is not None
        assert says_so is (category in EMPTY)
    wizard = browser.get(page("archetypes_app.golem", "add")).content.decode()
    assert "no tools here yet: fees" not in wizard and "no tools here yet: intelligence" not in wizard


def has(name: str) -> bool:
    return any(name in (tool.name, *tool.aliases) for tool in REGISTRY)


@pytest.mark.django_db
def test_what_a_role_asks_for_and_no_tool_does_is_told_to_models_owners_and_the_archetype_itself() -> None:
    sync_builtins()
    browser = Client()
    browser.force_login(factories.make_owner())
    wizard = browser.get(page("archetypes_app.golem", "add")).content.decode()
    asked = {each: each.stands_on for each in BUILTIN_ARCHETYPES if each.stands_on}
    assert {"vault-creator", "vault-executor", "cross-chain-executor"} <= {each.name for each in asked}
    for archetype, needs in asked.items():
        skill = unescape(Client().get(f"/skills/{archetype.name}.md").content.decode())
        prompt = write_instructions(
            archetype=Archetype.objects.get(name=archetype.name),
            golem_name="A",
            phase=Phase.THRIVING,
            is_live=True,
            tools=(),
            toolset=Toolset.of(REGISTRY, "all"),
        )
        for words, names in needs:
            is_missing = not all(map(has, names))
            told = f"no tool here yet to {words}"
            assert [told in each for each in (skill, prompt, unescape(wizard))] == [is_missing] * 3, archetype.name
    assert "no tool here yet to move tokens between chains" not in wizard


def test_who_walks_an_owner_to_a_wallet_can_look_at_one() -> None:
    (provisioner,) = (each for each in BUILTIN_ARCHETYPES if each.name == "wallet-provisioner")
    skill = Client().get(f"/skills/{provisioner.name}.md").content.decode()
    assert all(has(name) for name in provisioner.includes) and "wallet_get_status" in provisioner.includes
    assert "no tool here yet" not in skill
