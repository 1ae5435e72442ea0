"""Names that nothing on a chain can answer: an agent is told so at every door, why, and what to read instead."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tools_app.toolkit.enums import Category
from tools_app.toolkit.refused_names import REFUSED_NAMES, RefusedName
from tools_app.toolkit.registry import REGISTRY

EACH = pytest.mark.parametrize("refused", REFUSED_NAMES, ids=lambda each: each.name)


@pytest.fixture
def everything(make_agent: MakeAgent) -> Agent:
    """An agent whose owner ticked every category, shown twelve tools at a time as keys are made."""
    return make_agent(categories=[category.value for category in Category], most_tools=12)


def check_refusal(agent: Agent, answer: Any, refused: RefusedName) -> None:
    """The answer says why, what tells what can be known, and a next call that is accepted."""
    problem = assert_problem(answer, 404, "NAME_REFUSED", "GIVE_UP")
    assert (problem["name"], problem["why"]) == (refused.name, refused.why)
    assert refused.why in problem["detail"]
    assert problem["use_instead"] == list(refused.instead)
    following = problem["next_call"]
    assert agent.post(following["tool"], following["arguments"]).status_code == 200
    described = agent.post("query_state", {"query": "describe_tool", "tools": problem["use_instead"]})
    assert described.status_code == 200, described.content


@EACH
def test_a_name_that_never_answers_is_refused_with_its_reason_and_what_to_read_instead(
    everything: Agent, refused: RefusedName
) -> None:
    check_refusal(everything, everything.post(refused.name, {"account": "me"}), refused)
    check_refusal(everything, everything.get(refused.name), refused)


@EACH
def test_it_is_refused_alike_however_it_is_asked_for(everything: Agent, refused: RefusedName) -> None:
    for word in (refused.name, refused.key, refused.name.upper().replace("_", "-")):
        check_refusal(everything, everything.post("query_state", {"query": word}), refused)
        check_refusal(everything, everything.post("preview_action", {"action_type": word}), refused)


@EACH
def test_it_is_refused_alike_where_tools_are_loaded_and_described(everything: Agent, refused: RefusedName) -> None:
    for query in ("load_tools", "describe_tool"):
        check_refusal(everything, everything.post("query_state", {"query": query, "tools": [refused.name]}), refused)


def test_a_name_beside_it_is_unknown_as_ever(everything: Agent) -> None:
    assert_problem(everything.post("lrt_get_restaking_point"), 404, "UNKNOWN_TOOL", "FIX_PARAMS")
    assert_problem(everything.post("query_state", {"query": "points"}), 404, "UNKNOWN_ACTION", "FIX_PARAMS")


@EACH
def test_what_is_refused_is_no_tool_and_what_is_named_instead_is_one(refused: RefusedName) -> None:
    names = {name for tool in REGISTRY for name in (tool.name, tool.key, *tool.aliases)}
    assert not {refused.name, refused.key} & names
    assert set(refused.instead) <= {tool.name for tool in REGISTRY}
