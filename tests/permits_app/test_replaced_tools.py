"""A text in the place of a built-in read that money never reads: for its owner's golems, and only after their word."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from archetypes_app.models import DefinitionApproval, ToolOverride
from archetypes_app.toolset import resolve, resolve_toolset
from golem_project.pi.schema_lines import name_home
from permits_app.actions.approve_definition import approve_definition
from permits_app.actions.bring_definition import bring_definition
from permits_app.actions.pin_builtin_tools import pin_definitions
from permits_app.actions.revoke_definition import revoke_definition
from permits_app.limits.policy import load_golem
from tests import factories
from tests.batches import in_batches
from tests.coding_agent import CodingAgent, Refused, make_coding_agent
from tests.permits_app.test_written_tools import Index, index
from tests.tools_app.subsystems.coding.test_six_tools import put
from tools_app.core import clock
from tools_app.models import ToolDefinition
from tools_app.sandbox.built_in_replacement import BuiltInNotReplaceable, find_narrower, is_replaceable
from tools_app.sandbox.definition import DefinitionRefused
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool, ToolDef

__all__ = ["index"]

GREP = """
name = "coding_grep"
summary = "Searches an index of the code"
description = "Asks an index for lines that match. Does not look into the folder."
category = "coding"
budget = "slow"

[parameters.pattern]
kind = "text"
longest = 1000
description = "What to look for."
[parameters.path]
kind = "text"
longest = 1000
required = false
description = "Below which folder."
[parameters.include]
kind = "text"
longest = 255
required = false
description = "Only files of such a name."
[parameters.result_shape]
kind = "choice"
values = ["blocks", "legacy"]
required = false
description = "How it is told."

[http]
url = "%s/search"
query = { q = "$pattern", below = "$path", names = "$include", shape = "$result_shape" }
"""
NAMES = ("pattern", "path", "include", "result_shape")


def bring(owner: Any, text: str) -> ToolDefinition:
    return bring_definition(owner=owner, definition_text=text, module=None, now=clock.now())


def give(agent: CodingAgent, text: str) -> ToolDefinition:
    row = bring(agent.owner, text)
    approve_definition(
        definition=row, seen_hash=row.definition_hash, golem_ids=[agent.golem.pk], owner=agent.owner, now=clock.now()
    )
    return row


def grep(agent: CodingAgent) -> dict[str, Any]:
    data: dict[str, Any] = agent._post("query_state", {"query": "grep", "venue": "coding", "pattern": "def one"})[
        "data"
    ]
    return data


def test_a_text_answers_in_the_place_of_the_built_in_for_this_golem_alone(
    coder: CodingAgent, index: Index, coding_folder: Any
) -> None:
    other = make_coding_agent(coding_folder, name="Other")
    put(coder, "a.py", "def one(): ...\n")
    put(other, "a.py", "def one(): ...\n")
    row = bring(coder.owner, GREP % index.url)
    assert "a.py" in str(grep(coder)), "brought is not approved"
    give(coder, GREP % index.url)
    told = grep(coder)
    assert told["definition_hash"] == row.definition_hash and told["answer"]["untrusted"] is True
    assert index.paths == ["/search?q=def+one"]
    (route,) = [each for each in coder.get("manifest")["queries"] if each.get("tool") == "coding_grep"]
    assert "in the place of coding_grep" in route["summary"] and route["definition_hash"] == row.definition_hash
    assert "a.py" in str(grep(other))
    approval = DefinitionApproval.objects.get()
    revoke_definition(approval=approval, reason="no", owner=coder.owner, now=clock.now())
    assert "a.py" in str(grep(coder)) and len(index.paths) == 1


def test_the_owner_is_shown_the_old_and_the_new_before_they_agree(coder: CodingAgent) -> None:
    row = bring(coder.owner, GREP % "https://index.example.com")
    browser = Client()
    browser.force_login(coder.owner)
    page = browser.get(reverse("admin:tools_app_tooldefinition_approve", args=[row.pk])).content.decode()
    assert "It takes the place of the built-in coding_grep" in page
    assert "Search the text of files for a regular expression." in page
    assert "parameters.properties.pattern.description" in page and "What to look for." in page
    page = browser.get(reverse("admin:tools_app_tooldefinition_change", args=[row.pk])).content.decode()
    assert "parameters.properties.pattern.description" in page
    assert "coding_grep" in resolve_toolset(coder.golem) and not DefinitionApproval.objects.exists()
    stranger = factories.make_owner(name="ben")
    browser.force_login(stranger)
    assert browser.get(reverse("admin:tools_app_tooldefinition_approve", args=[row.pk])).status_code == 404


def test_an_include_and_an_exclude_hold_for_what_stands_in_its_place(coder: CodingAgent) -> None:
    give(coder, GREP % "https://index.example.com")
    override = ToolOverride.objects.get(golem=coder.golem, tool_name="coding_grep")
    override.delete()
    assert "coding_grep" not in resolve_toolset(load_golem(coder.golem.pk))
    ToolOverride.objects.create(golem=coder.golem, tool_name="coding_grep", mode="EXCLUDE")
    assert "coding_grep" not in resolve_toolset(load_golem(coder.golem.pk))


def test_a_built_in_that_takes_more_than_it_did_stands_in_its_own_place_again(
    coder: CodingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(coder, GREP % "https://index.example.com")
    tool = REGISTRY.get("coding_grep")
    # As a release would: the built-in takes a parameter more.
    wider = replace(tool, params_model=REGISTRY.get("coding_read").params_model)
    monkeypatch.setitem(REGISTRY._tools, "coding_grep", wider)
    from tools_app.sandbox import owner_tool

    owner_tool._make.cache_clear()
    resolve.cache_clear()
    try:
        assert resolve_toolset(load_golem(coder.golem.pk)).tools["coding_grep"] is wider
    finally:
        owner_tool._make.cache_clear()
        resolve.cache_clear()


def test_a_pinned_golem_has_the_text_its_owner_approved_and_no_other(coder: CodingAgent) -> None:
    row = give(coder, GREP % "https://index.example.com")
    pin_definitions(golem=coder.golem, is_pinned=True, owner=coder.owner, now=clock.now())
    bring(coder.owner, GREP.replace("an index of", "my index of") % "https://index.example.com")
    (held,) = [tool for tool in resolve_toolset(load_golem(coder.golem.pk)) if tool.name == "coding_grep"]
    assert held.source == f"definition:{row.definition_hash}"


READ = """
name = "coding_read"
summary = "Reads by searching"
description = "Shows what an index says of a file. Does not look into the folder."
category = "coding"
budget = "slow"
[parameters.path]
kind = "text"
longest = 1000
description = "Which file."
[parameters.offset]
kind = "integer"
required = false
description = "First line."
[parameters.limit]
kind = "integer"
required = false
description = "Most lines."
[parameters.result_shape]
kind = "choice"
values = ["blocks", "legacy"]
required = false
description = "How it is told."
[[compose]]
id = "found"
query = "grep"
params = { pattern = "$path", path = "$offset", include = "$limit", result_shape = "$result_shape" }
"""


def test_what_takes_a_place_reads_neither_itself_nor_another_that_did(coder: CodingAgent) -> None:
    with pytest.raises(BuiltInNotReplaceable, match="does not read it"):
        bring(coder.owner, READ.replace('query = "grep"', 'query = "read"'))
    give(coder, READ)
    give(coder, GREP % "https://index.example.com")
    with pytest.raises(Refused, match="UNKNOWN_ACTION"):
        coder.ask("read", path="a.py")


@pytest.fixture
def ana(db: None) -> User:
    return factories.make_owner(name="ana")


@in_batches(
    "tool", [tool for tool in REGISTRY if not is_replaceable(tool)], name=lambda tool: tool.name, batch=name_home
)
def test_no_other_built_in_is_replaced(tool: ToolDef, ana: User) -> None:
    text = (GREP % "https://index.example.com").replace("coding_grep", tool.name)
    text = text.replace('category = "coding"', f'category = "{tool.category}"')
    with pytest.raises(DefinitionRefused) as refused:
        bring(ana, text)
    assert refused.value.as_problem()["recovery"] == "FIX_PARAMS"
    if "two words" not in refused.value.detail:
        assert refused.value.code == "BUILT_IN_NOT_REPLACEABLE"
    assert not ToolDefinition.objects.exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('longest = 1000\ndescription = "What', 'longest = 999\ndescription = "What'),
        ('"blocks", "legacy"', '"blocks"'),
        ("longest = 255\nrequired = false", "longest = 255"),
        ('category = "coding"', 'category = "data"'),
        ("[http]", '[parameters.extra]\nkind = "flag"\ndescription = "More."\n[http]'),
        ('kind = "text"\nlongest = 255', 'kind = "integer"'),
        ('[http]\nurl = "%s/search"\nquery = {', '[command]\nargv = ["grep", "--", "$pattern"]\n#'),
    ],
)
def test_a_text_that_takes_less_or_is_no_read_is_refused(before: str, after: str, db: None) -> None:
    text = GREP.replace(before, after)
    assert text != GREP
    with pytest.raises(DefinitionRefused):
        bring(factories.make_owner(name="ana"), text.replace("%s", "https://index.example.com"))


def test_what_takes_as_much_or_more_takes_less_nowhere() -> None:
    before = REGISTRY.get("coding_grep").schema
    assert find_narrower(before, before) == ""
    looser = json.loads(json.dumps(before))
    looser["properties"]["pattern"].pop("maxLength")
    looser["properties"]["more"] = {"type": "boolean"}
    assert find_narrower(before, looser) == ""
    assert "maxLength" in find_narrower(looser, before)
    assert set(NAMES) == set(before["properties"])


def test_what_may_be_replaced_are_reads_of_a_golems_folder() -> None:
    found = [tool for tool in REGISTRY if is_replaceable(tool)]
    assert {tool.name for tool in found} == {"coding_read", "coding_grep"}
    assert all(isinstance(tool, ReadTool) for tool in found)
