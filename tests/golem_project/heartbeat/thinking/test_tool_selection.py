"""At most twelve tools a tick, those that bear on what is the matter; nothing a golem does not have."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.toolset import ArchetypeRule, ProfileRule, ToolsetInputs, resolve
from golem_project.heartbeat.thinking.tool_selection import MOST_TOOLS, TickTask, classify_task, select_tools
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.tooldef import ReadTool
from tools_app.toolkit.toolset import Toolset


def toolset_of(*profiles: str) -> Toolset:
    rules = tuple(
        ProfileRule(p.name, p.categories, p.is_read_only, p.is_conservative)
        for p in BUILTIN_PROFILES
        if p.name in profiles
    )
    return resolve(ToolsetInputs(ArchetypeRule("kind"), profiles=rules))


def classify(**changes: Any) -> TickTask:
    values: dict[str, Any] = {
        "phase": Phase.THRIVING,
        "regime": "NORMAL",
        "probes": {},
        "anomalies": (),
        "interventions": (),
        **changes,
    }
    return classify_task(**values)


@pytest.mark.parametrize(
    ("changes", "task"),
    [
        ({}, TickTask.ENTER),
        ({"phase": Phase.SURVIVAL}, TickTask.EXIT),
        ({"phase": Phase.TERMINAL, "probes": {"fees_owed": "5"}}, TickTask.EXIT),
        ({"phase": Phase.DEFENSIVE}, TickTask.DEFEND),
        ({"regime": "CRISIS"}, TickTask.DEFEND),
        ({"regime": "VOLATILE"}, TickTask.OBSERVE),
        ({"anomalies": ("health factor fell below 1.2",)}, TickTask.DEFEND),
        ({"probes": {"position_in_range": False}}, TickTask.REBALANCE),
        ({"probes": {"position_in_range": True}}, TickTask.ENTER),
        ({"probes": {"fees_owed": "1200"}}, TickTask.HARVEST),
        ({"probes": {"fees_owed": "0"}}, TickTask.ENTER),
        ({"probes": {"lp": {"fees_owed": 7}}}, TickTask.HARVEST),
        ({"interventions": ("please rebalance now",)}, TickTask.REBALANCE),
        ({"regime": "CALM", "anomalies": ("USDe depeg 3%",), "probes": {"fees_owed": "9"}}, TickTask.DEFEND),
    ],
)
def test_the_task_is_read_off_the_gravest_sign(changes: dict[str, Any], task: TickTask) -> None:
    assert classify(**changes) is task


@pytest.mark.parametrize("task", TickTask)
@pytest.mark.parametrize("profile", ["full", "lp", "trader", "data", "minimal", "dev"])
def test_at_most_twelve_of_the_golems_own_and_the_same_every_time(task: TickTask, profile: str) -> None:
    own = toolset_of(profile)
    shown = select_tools(toolset=own, task=task)
    assert len(shown) <= MOST_TOOLS
    assert len(shown) >= min(MOST_TOOLS, len(own)) // 2
    assert set(shown.tools) <= set(own.tools)
    assert shown.names() == select_tools(toolset=own, task=task).names()


@pytest.mark.parametrize("task", TickTask)
def test_a_third_is_reads_so_that_a_model_can_look_before_it_acts(task: TickTask) -> None:
    shown = select_tools(toolset=toolset_of("full"), task=task)
    reads = [tool for tool in shown if isinstance(tool, ReadTool)]
    assert MOST_TOOLS // 3 <= len(reads) < MOST_TOOLS


def keys(task: TickTask, **more: Any) -> set[str]:
    return {tool.key for tool in select_tools(toolset=toolset_of("full"), task=task, **more)}


def test_a_position_out_of_range_brings_the_tools_that_move_it() -> None:
    assert {"remove_liquidity", "add_liquidity", "swap"} <= keys(TickTask.REBALANCE)


def test_an_exit_brings_what_closes() -> None:
    shown = keys(TickTask.EXIT)
    assert {"remove_liquidity", "swap"} <= shown
    assert "add_liquidity" not in shown


def test_a_tool_the_owner_names_is_there_whatever_the_tick_is_about() -> None:
    own = toolset_of("full")
    shown = {t.key for t in select_tools(toolset=own, task=TickTask.EXIT)}
    rare = next(tool for tool in own if tool.key not in shown and isinstance(tool, ReadTool))
    assert "transfer" not in shown and "transfer" in keys(TickTask.ENTER, interventions=("transfer 5 USDC home",))
    assert rare.key in keys(TickTask.EXIT, interventions=(f"use {rare.key.replace('_', ' ')} at {rare.venue}",))


def test_what_is_left_out_says_why_and_a_small_toolset_is_left_alone() -> None:
    own = toolset_of("full")
    shown = select_tools(toolset=own, task=TickTask.ENTER)
    left_out = [name for name in own.tools if name not in shown]
    assert left_out and all("12 tools that serve enter best" in shown.reasons[name] for name in left_out)
    assert select_tools(toolset=shown, task=TickTask.ENTER) is shown


@given(
    probes=st.dictionaries(
        st.text(max_size=20),
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=30), st.dictionaries(st.text(), st.text())),
        max_size=8,
    ),
    regime=st.text(max_size=12),
    words=st.lists(st.text(max_size=40), max_size=4),
)
def test_any_probes_are_some_task(probes: dict[str, Any], regime: str, words: list[str]) -> None:
    assert classify(probes=probes, regime=regime, anomalies=tuple(words)) in TickTask
