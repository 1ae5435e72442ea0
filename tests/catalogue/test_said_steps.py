"""A step that a tool declares and never says is found with the last of the tool's cases, whichever that is."""

from __future__ import annotations

import pytest

from archetypes_app.toolset import view_golem
from tests.catalogue.said_steps import SaidSteps, find_wrong_steps, read_said
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.runner import run_read
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

TOOL = "data_get_token_price"
CASES = ("first", "second")


def ask(live: LiveGolem) -> None:
    tool = REGISTRY.get(TOOL)
    assert isinstance(tool, ReadTool) and tool.progress_steps
    run_read(tool=tool, params={"token": "WETH"}, golem=view_golem(live.golem), now=clock.now())


@pytest.mark.parametrize("order", [CASES, CASES[::-1]])
def test_a_step_that_no_case_has_said_is_found_with_the_last_of_them(
    order: tuple[str, str], live_golem: LiveGolem
) -> None:
    steps = SaidSteps(dict.fromkeys(CASES, (TOOL,)))
    with steps.heard(order[0]):
        """Nothing is called, and the other case may call it yet."""
    with pytest.raises(AssertionError, match=f"{TOOL} declares the step"), steps.heard(order[1]):
        """Nothing is called here either."""


@pytest.mark.parametrize("asking", CASES)
def test_a_step_that_one_case_of_several_has_said_is_said(asking: str, live_golem: LiveGolem) -> None:
    steps = SaidSteps(dict.fromkeys(CASES, (TOOL,)))
    for case in CASES:
        with steps.heard(case):
            if case == asking:
                ask(live_golem)
    assert read_said()[TOOL] == {*REGISTRY.get(TOOL).progress_steps}


def test_what_another_tool_says_is_not_said_by_this_one(live_golem: LiveGolem) -> None:
    other = "bridge_get_quote"
    ask(live_golem)
    assert SaidSteps({"only": (TOOL,)}).end("only") == []
    assert len(SaidSteps({"only": (other,)}).end("only")) == len(REGISTRY.get(other).progress_steps) == 1


def test_a_case_that_fails_ends_no_tool(live_golem: LiveGolem) -> None:
    steps = SaidSteps({"only": (TOOL,)})
    with pytest.raises(ZeroDivisionError), steps.heard("only"):
        raise ZeroDivisionError
    ask(live_golem)
    assert steps.end("only") == []


def test_a_step_that_is_said_and_not_declared_is_found() -> None:
    tool = REGISTRY.get(TOOL)
    assert find_wrong_steps(tool, {*tool.progress_steps}) == []
    assert find_wrong_steps(tool, {*tool.progress_steps, "Looking elsewhere"}) == [
        f"{TOOL} says the step 'Looking elsewhere', which it does not declare"
    ]
