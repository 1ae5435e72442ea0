"""At most twelve tools a tick, those that bear on what is the matter; nothing a golem does not have."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.tool_loadout import MOST_TOOLS
from archetypes_app.toolset import ArchetypeRule, ProfileRule, ToolsetInputs, resolve
from golem_project.heartbeat.thinking.tool_selection import TickTask, classify_task, select_tools
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.tooldef import ReadTool


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


def probes(
    *, in_range: bool = True, liquidity: str = "77", fees: str | None = "0", health_bps: int | None = None
) -> dict[str, Any]:
    """One position and one debt as a tick records them; that ticks do is a test below."""
    return {
        "positions": [{"in_range": in_range, "liquidity": liquidity, "fees_micro_usd": fees}],
        "held_elsewhere": [{"health_bps": health_bps}],
    }


@pytest.mark.parametrize(
    ("changes", "task"),
    [
        ({}, TickTask.ENTER),
        ({"phase": Phase.SURVIVAL}, TickTask.EXIT),
        ({"phase": Phase.TERMINAL, "probes": probes(fees="5000000")}, TickTask.EXIT),
        ({"phase": Phase.DEFENSIVE}, TickTask.DEFEND),
        ({"regime": "CRISIS"}, TickTask.DEFEND),
        ({"regime": "VOLATILE"}, TickTask.OBSERVE),
        ({"anomalies": ("health factor fell below 1.2",)}, TickTask.DEFEND),
        ({"probes": probes(in_range=False)}, TickTask.REBALANCE),
        ({"probes": probes(in_range=False, liquidity="0")}, TickTask.ENTER),
        ({"probes": probes()}, TickTask.ENTER),
        ({"probes": probes(fees="1000000")}, TickTask.HARVEST),
        ({"probes": probes(fees="999999")}, TickTask.ENTER),
        ({"probes": probes(fees=None)}, TickTask.ENTER),
        ({"probes": probes(in_range=False, fees="9000000")}, TickTask.REBALANCE),
        ({"probes": probes(in_range=False, health_bps=12_999)}, TickTask.DEFEND),
        ({"probes": probes(health_bps=13_000)}, TickTask.ENTER),
        ({"interventions": ("please rebalance now",)}, TickTask.REBALANCE),
        ({"regime": "CALM", "anomalies": ("USDe depeg 3%",), "probes": probes(fees="9000000")}, TickTask.DEFEND),
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
    assert {"remove_liquidity", "rebalance_position", "swap"} <= keys(TickTask.REBALANCE)


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


def test_what_pays_a_debt_comes_first_and_what_leaves_nothing_is_not_shown() -> None:
    seen = {
        "block_number": 7,
        "held_elsewhere": [
            {
                "position": "spark/account/31337/0x11",
                "debt_micro_usd": "5000000",
                "health_bps": 11_000,
                "free_at": None,
            }
        ],
    }
    task = classify(probes=seen)
    assert task is TickTask.DEFEND
    shown = list(select_tools(toolset=toolset_of("full"), task=task, probes=seen).tools)
    assert set(shown[:3]) == {"spark_repay", "lending_auto_deleverage", "lending_unwind_loop"}
    assert not {"aave_repay", "lido_unstake", "lido_claim_withdrawal", "vault_withdraw"} & set(shown)


def test_what_nobody_could_read_hides_no_way_out() -> None:
    shown = select_tools(toolset=toolset_of("full"), task=TickTask.EXIT, probes={"block_number": None})
    assert {"uniswap_lp_remove_liquidity", "uniswap_execute_swap"} <= set(shown.tools)


@given(
    seen=st.fixed_dictionaries(
        {
            "positions": st.lists(
                st.fixed_dictionaries(
                    {
                        "in_range": st.booleans(),
                        "liquidity": st.integers(0, 2**128).map(str),
                        "fees_micro_usd": st.none() | st.integers(0, 2**63).map(str),
                    }
                ),
                max_size=4,
            ),
            "held_elsewhere": st.lists(
                st.fixed_dictionaries({"health_bps": st.none() | st.integers(0, 10**9)}), max_size=4
            ),
        }
    )
    | st.just({}),
    regime=st.text(max_size=12),
    words=st.lists(st.text(max_size=40), max_size=4),
)
def test_any_probes_are_some_task(seen: dict[str, Any], regime: str, words: list[str]) -> None:
    assert classify(probes=seen, regime=regime, anomalies=tuple(words)) in TickTask


def test_the_signs_are_read_from_probes_that_ticks_record(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    tick(golem)
    recorded = tick(golem).probes
    [position] = recorded["positions"]
    shape = probes()
    assert set(shape["positions"][0]) <= set(position)
    assert position["in_range"] is True and int(position["liquidity"]) > 0
    assert classify(probes=recorded) is TickTask.ENTER
    moved = {**recorded, "positions": [{**position, "in_range": False}]}
    assert classify(probes=moved) is TickTask.REBALANCE
    earned = {**recorded, "positions": [{**position, "fees_micro_usd": "5000000"}]}
    assert classify(probes=earned) is TickTask.HARVEST
