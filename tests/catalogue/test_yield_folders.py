"""Each folder that earns a yield is asked what is asked of a protocol that is done: two engines, what a look costs, and
that everything that is written of the shelf says it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES
from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.models import Golem
from golem_project.pi.guides import build_support, write_full, write_skill
from permits_app.safety.hooks.simulator import choose_setting
from tests.catalogue.door import Door
from tests.catalogue.shelf import Filed, load_cases
from tests.catalogue.stage import open_stage
from tests.catalogue.test_simulated_is_said import opening
from tests.catalogue.test_uniswap_folders import MOST_SECONDS, count_batches, seconds_of
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.chain.rpc_pool import RpcPool
from tools_app.toolkit.case import About, Amount
from tools_app.toolkit.enums import EngineSetting
from tools_app.toolkit.protocol import SHELF, Trait
from tools_app.toolkit.registry import REGISTRY

ROOT: Final = Path(__file__).parents[2]
CASES: Final = load_cases()
FOLDERS: Final = {
    "pendle": "Pendle V2",
    "yearn": "Yearn V3",
    "ethena": "Ethena",
    "maker": "Maker",
    "spark": "SparkLend",
    "curve": "Convex",
    "eigenlayer": "EigenLayer",
    "liquid_restaking": "liquid restaking (ether.fi, Kelp and Renzo)",
    "erc4626": "ERC-4626 vaults",
    "compound_v3": "Compound V3",
    "moonwell": "Moonwell",
}
"""By the protocol, what README calls what is served."""


of_each_folder = pytest.mark.parametrize(
    "folder", [pytest.param(each, marks=[pytest.mark.protocols(each), pytest.mark.one_of_many]) for each in FOLDERS]
)


def list_risky() -> Iterator[tuple[str, Filed]]:
    """The cases after which less is held there, or more is owed."""
    for name, filed in CASES.items():
        less = any(_raw(each) < 0 for each in filed.case.holds.values())
        more = any(_raw(each) > 0 for each in filed.case.owes.values())
        if filed.protocol in FOLDERS and (less or more):
            yield name, filed


def _raw(amount: Amount) -> int:
    return amount.raw if isinstance(amount, About) else amount


TOLD_BY_TWO: Final = frozenset({Trait.LEVERAGE, Trait.POOLED})
RISKY: Final = dict(list_risky())
MODULES: Final = {name: f"tools_app.protocols.{'maker_sky' if name == 'maker' else name}" for name in FOLDERS}


AT_A_RATE: Final = ("yearn", "ethena", "eigenlayer", "liquid_restaking", "erc4626")
"""Folders that pay at a rate that their own contract tells: one engine is enough there (decision 0551)."""


def tools_of(folder: str) -> set[str]:
    return {tool.name for tool in REGISTRY if tool.handler.__module__.startswith(f"{MODULES[folder]}.")}


def test_what_a_pool_or_a_lender_keeps_is_told_by_two_engines_and_what_is_paid_at_a_rate_is_named() -> None:
    found = {name for name in FOLDERS if (each := SHELF.get(name)) is not None and each.traits & TOLD_BY_TWO}
    assert found == set(FOLDERS) - set(AT_A_RATE)


def test_something_leaves_each_of_them() -> None:
    assert {filed.protocol for filed in RISKY.values()} == set(FOLDERS)


@of_each_folder
def test_two_engines_are_asked_where_something_leaves_or_a_debt_grows(folder: str, live_golem: LiveGolem) -> None:
    for name, filed in RISKY.items():
        if filed.protocol != folder or folder in AT_A_RATE or name.startswith("lending_"):
            continue
        stage = open_stage(live_golem, CASES)
        with stage.apart():
            stage.prepare(filed.case)
            assert choose_setting(stage.call(filed.case)) is EngineSetting.BOTH, name


@pytest.mark.protocols(*FOLDERS)
def test_who_holds_nothing_at_any_of_them_is_asked_one_batch_by_each(live_golem: LiveGolem) -> None:
    for name in FOLDERS:
        # What a lender lists is remembered, and asked ahead from then on.
        count_batches(live_golem, name)
    asked = {name: count_batches(live_golem, name) for name in FOLDERS}
    assert asked == dict.fromkeys(FOLDERS, 1)


def count_look(golem: Golem, monkeypatch: pytest.MonkeyPatch) -> int:
    """In how many exchanges with the node a quiet tick looks, once it knows what it will ask."""
    asked, original = list[int](), RpcPool._ask

    def count(self: Any, node: Any, requests: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(len(requests))
        return original(self, node, requests, *args, **kwargs)

    tick(golem)
    tick(golem)
    with monkeypatch.context() as patched:
        patched.setattr(RpcPool, "_ask", count)
        tick(golem)
    return len(asked)


@of_each_folder
def test_a_quiet_tick_asks_one_batch_more_at_most_where_something_is_held(
    door: Door, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = door.stage.live.golem
    turn_on(golem, is_live=False, rule={})
    before = count_look(golem, monkeypatch)
    door.do(opening(folder))
    assert any(each.ref.protocol == folder for each in door.stage.positions())
    assert count_look(golem, monkeypatch) <= before + 1


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_adds_no_more_to_make_test_than_a_protocol_may(folder: str) -> None:
    assert seconds_of(folder, (f"tests/tools_app/protocols/{folder}/test_*.py",)) < MOST_SECONDS


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_written_of_the_shelf_says_it(folder: str) -> None:
    tools = tools_of(folder)
    assert tools
    assert FOLDERS[folder] in (ROOT / "README.md").read_text(), "README's list"
    support = {row["tool"] for row in build_support()["tools"]}
    assert tools <= support, "the support matrix"
    told = write_full()
    assert [each for each in tools if f"`{each}`" not in told and f"### {each}" not in told] == [], "llms-full.txt"
    categories = {tool.category for tool in REGISTRY if tool.name in tools}
    assert any(categories & set(each.categories) for each in BUILTIN_PROFILES), "a profile"
    served = [each for each in BUILTIN_ARCHETYPES if categories & set(each.tool_categories)]
    assert served and all(write_skill(each.name) for each in served), "an archetype with its skill file"
    protocol = SHELF.get(folder)
    assert protocol is not None and protocol.positions is not None and protocol.exits is not None
