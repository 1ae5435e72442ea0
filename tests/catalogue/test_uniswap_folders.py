"""Each folder of Uniswap is asked what is asked of a protocol that is done: two engines, contagion, what it costs.
The folders are those of the registry's tools, so a new one is missed here until it answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import pytest

from golem_project.heartbeat.duties.position_monitor import PEG_SOURCE
from permits_app.safety.hooks.simulator import choose_setting
from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tests.catalogue.shelf import Filed, load_cases
from tests.catalogue.stage import open_stage
from tests.drawing.families import find_family
from tests.durations import A_SHORT_FILE_SECONDS, read_durations
from tests.evm.world import CHAIN_ID
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.models import OutboxEvent
from tools_app.toolkit.case import About
from tools_app.toolkit.enums import EngineSetting
from tools_app.toolkit.positions import drive
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY

ROOT: Final = Path(__file__).parents[2]
CASES: Final = load_cases()
OWN: Final = ("tools_app.protocols.uniswap", "tools_app.protocols.firepit", "tools_app.subsystems.hook")
TESTS: Final[dict[str, tuple[str, ...]]] = {
    "uniswap": (
        "tests/tools_app/protocols/uniswap/*",
        "tests/permits_app/test_*permits_inside_calls.py",
        "tests/golem_project/test_sdk*",
    ),
    "uniswap.trading_api": (
        "tests/golem_project/outside/test_trading_api*",
        "tests/golem_project/outside/test_foreign_swaps*",
    ),
    "uniswap_x": (
        "tests/tools_app/protocols/uniswap_x/*",
        "tests/concurrency/test_killed_orders.py",
        "tests/concurrency/test_killed_followers_of_orders.py",
        "tests/concurrency/test_killed_halt_of_orders.py",
    ),
    "uniswap_twamm": (
        "tests/tools_app/protocols/uniswap_twamm/*",
        "tests/permits_app/test_orders_over_time*",
        "tests/concurrency/test_killed_orders_over_time.py",
    ),
    "firepit": ("tests/tools_app/protocols/firepit/*",),
    "hook": (
        "tests/tools_app/subsystems/hook/*",
        "tests/permits_app/approvals/test_*hooks_of_v4_pools.py",
        "tests/browser/test_hook_of_a_pool.py",
    ),
}
"""The folders of Uniswap and the tests that each adds. V2, V3, V4, their positions and the Universal Router are one."""
NOTHING_LEAVES: Final = {
    "uniswap.trading_api": "its calls are those of the pools, and its positions theirs",
    "uniswap_x": "what is signed stays in the account until it is filled; nothing is simulated of it",
    "firepit": "nobody holds anything in the jar: it is emptied for a price, whole",
    "hook": "it reads and tries, and writes nothing",
}
"""Folders without a position of their own, and why."""
MOST_SECONDS: Final = 15
MODULE: Final = "test_cases.py"


def folder_of(module: str) -> str:
    """Where a tool lies, by its module."""
    parts = module.split(".")
    return ".".join(parts[2:4]) if parts[2:4] == ["uniswap", "trading_api"] else parts[2]


def list_folders() -> set[str]:
    tools = (tool.handler.__module__ for tool in REGISTRY)
    return {folder_of(module) for module in tools if module.startswith(OWN)}


def list_leaving() -> Iterator[tuple[str, Filed]]:
    """The cases after which less is held in a pool or an order."""
    for name, filed in CASES.items():
        amounts = (each.raw if isinstance(each, About) else each for each in filed.case.holds.values())
        if filed.protocol.startswith("uniswap") and any(isinstance(each, int) and each < 0 for each in amounts):
            yield name, filed


LEAVING: Final = dict(list_leaving())


def test_every_folder_of_uniswap_is_asked() -> None:
    assert list_folders() == set(TESTS)
    places = {name for name in TESTS if (each := SHELF.get(name)) is not None and each.positions is not None}
    assert places | set(NOTHING_LEAVES) == set(TESTS) and not places & set(NOTHING_LEAVES)
    assert {filed.protocol for filed in LEAVING.values()} == places


# ---- two engines agree where something leaves ----------------------------------------------------------------------


def of_each_case(names: Iterable[str]) -> list[Any]:
    """With what the local chain must hold for it."""
    return [pytest.param(each, marks=pytest.mark.protocols(*CASES[each].worlds)) for each in names]


@pytest.mark.parametrize("name", of_each_case(LEAVING))
def test_two_engines_are_asked_where_something_leaves(name: str, live_golem: LiveGolem) -> None:
    stage, case = open_stage(live_golem, CASES), CASES[name].case
    stage.prepare(case)
    assert choose_setting(stage.call(case)) is EngineSetting.BOTH


# What is entered, what leaves it, and the token of it that falls.
HELD: Final = {
    "uniswap_lp_add_liquidity": ("uniswap_lp_remove_all", "USDC"),
    "uniswap_lp_add_v4": ("uniswap_lp_remove_v4", "DAI"),
    "uniswap_lp_submit_twamm_order": ("uniswap_lp_cancel_twamm_order", "DAI"),
}


def of_each_place() -> Any:
    return pytest.mark.parametrize("entering", of_each_case(HELD))


@of_each_place()
def test_two_engines_told_what_left(door: Door, entering: str) -> None:
    leaving, _ = HELD[entering]
    door.do(entering)
    permit = door.preview(leaving)
    assert permit["status"] == "CREATED", permit
    row = door.stage.live.permit(permit["permit_id"])
    assert "pyevm" in str(row.simulation) and "rpc" in str(row.simulation), row.simulation
    assert door.commit(permit)["status"] == "COMMITTED"


# ---- contagion -----------------------------------------------------------------------------------------------------


def told(door: Door) -> list[str]:
    rows = OutboxEvent.objects.filter(
        golem_id=door.stage.live.golem.pk, type="heartbeat:alert", payload__source=PEG_SOURCE
    )
    return [alert["rule"] for row in rows.order_by("sequence") for alert in row.payload["alerts"]]


def set_feed(door: Door, symbol: str, function: str, value: int) -> None:
    world = door.stage.world
    world.transact(world.actors.deployer, world.tokens[symbol].feed, function, value)


@of_each_place()
def test_a_token_inside_that_leaves_its_peg_is_told_within_a_tick_and_nothing_more_goes_in_and_all_may_come_out(
    door: Door, entering: str
) -> None:
    leaving, symbol = HELD[entering]
    door.do(entering)
    turn_on(door.stage.live.golem, is_live=False, rule={})
    tick(door.stage.live.golem)
    assert told(door) == []
    set_feed(door, symbol, "setAnswer(int256)", 93 * 10**6)
    tick(door.stage.live.golem)
    assert told(door) == [f"off its peg: {symbol}"]
    refused = door.preview(entering)
    assert (refused["code"], refused["recovery"]) == ("TOKEN_OFF_PEG", "WAIT"), refused
    assert door.commit(door.preview(leaving))["status"] == "COMMITTED"


@of_each_place()
def test_where_the_price_of_a_token_inside_is_stale_nothing_goes_in_and_all_may_come_out(
    door: Door, entering: str
) -> None:
    leaving, symbol = HELD[entering]
    door.do(entering)
    set_feed(door, symbol, "setUpdatedAt(uint256)", door.stage.world.timestamp() - 100_000)
    refused = door.preview(entering)
    assert refused["http"] == 503 and refused["code"] in ("PRICE_STALE", "VALUE_UNKNOWN"), refused
    left = door.preview(leaving)
    assert left["http"] == 200, left


# ---- what it costs -------------------------------------------------------------------------------------------------


def seconds_of(folder: str, patterns: Iterable[str]) -> float:
    """What its tests, of files that fit, add to `make test`: of a family that is drawn, its share."""
    wanted = tuple(patterns)
    paths = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    own = [path for path in paths if any(fnmatchcase(path, each) for each in wanted)]
    assert own, f"no test of {folder}"
    known = read_durations()
    spent = 0.0
    for path in own:
        family = find_family(path)
        spent += known.get(path, A_SHORT_FILE_SECONDS) / (family.one_in if family is not None else 1)
    of_cases = find_family(f"tests/catalogue/{MODULE}")
    cases = [filed for filed in CASES.values() if filed.protocol == folder]
    share = len(cases) * seconds_of_a_case() / (of_cases.one_in if of_cases is not None else 1)
    return spent + share


def seconds_of_a_case() -> float:
    return read_durations()[f"tests/catalogue/{MODULE}"] / len(CASES)


@pytest.mark.parametrize("folder", sorted(TESTS))
def test_a_folder_adds_no_more_to_make_test_than_a_protocol_may(folder: str) -> None:
    assert seconds_of(folder, TESTS[folder]) < MOST_SECONDS


def count_batches(live: LiveGolem, name: str) -> int:
    """In how many batches a protocol tells what an account has there that has nothing."""
    protocol, asked, reader = SHELF.get(name), list[int](), open_stage(live, CASES).reader()
    assert protocol is not None and protocol.positions is not None
    reading = protocol.positions.list(CHAIN_ID, live.golem.address, ())

    def answer(wanted: Any) -> Any:
        asked.append(len(wanted))
        return reader.call_many(wanted)

    assert drive(reading, answer) == ()
    return len([each for each in asked if each])


@pytest.mark.protocols("uniswap_v4", "uniswap_mining", "uniswap_twamm")
@pytest.mark.parametrize("name", sorted(set(TESTS) - set(NOTHING_LEAVES)))
def test_who_holds_nothing_there_costs_a_look_one_question(live_golem: LiveGolem, name: str) -> None:
    assert count_batches(live_golem, name) == 1


@of_each_place()
def test_a_quiet_tick_asks_one_batch_more_at_most_where_something_is_held(
    door: Door, entering: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem, asked = door.stage.live.golem, list[int]()
    turn_on(golem, is_live=False, rule={})
    original = RpcPool._ask

    def count(self: Any, node: Any, requests: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(len(requests))
        return original(self, node, requests, *args, **kwargs)

    def look() -> int:
        tick(golem)
        tick(golem)
        asked.clear()
        with monkeypatch.context() as patched:
            patched.setattr(RpcPool, "_ask", count)
            tick(golem)
        return len(asked)

    before = look()
    assert door.commit(door.preview(entering))["status"] == "COMMITTED"
    assert look() <= before + 1
