"""Delegations, allowances and payments are asked what is asked of a protocol that is done: what a look and a tick cost,
what they add to `make test`, and that everything that is written of the shelf says them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from golem_project.pi.guides import build_support, write_full
from permits_app.actions.check_received_rights import check_received_rights
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.watch_safes import watch_safes
from permits_app.limits.received_rights import LOOK_EVERY
from permits_app.models import SignedPromise
from tests.catalogue.circumstances import CIRCUMSTANCES
from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tests.catalogue.shelf import load_cases
from tests.catalogue.test_uniswap_folders import MOST_SECONDS, seconds_of
from tests.catalogue.test_yield_folders import count_look
from tests.evm.world import CHAIN_ID
from tests.golem_project.heartbeat.pulses import turn_on
from tests.permits_app.tools.allowing import Allowing
from tests.permits_app.tools.allowing import allowing as allowing
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core import clock
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY

ROOT: Final = Path(__file__).parents[2]
CASES: Final = load_cases()
TESTS: Final[dict[str, tuple[str, ...]]] = {
    "metamask": (
        "tests/tools_app/protocols/metamask/*",
        "tests/permits_app/test_runway.py",
        "tests/permits_app/test_grants_that_say_otherwise.py",
        "tests/permits_app/tools/test_delegated_keys.py",
        "tests/permits_app/tools/test_code_wallets.py",
        "tests/browser/test_grant_page.py",
    ),
    "safe_allowance": (
        "tests/tools_app/protocols/safe_allowance/*",
        "tests/permits_app/tools/test_allowance_keys.py",
        "tests/permits_app/tools/test_mistakes_with_allowances.py",
    ),
    "x402": ("tests/tools_app/protocols/x402/*",),
}
"""The folders of the shelf that are no place for money, and the tests that each adds."""
BESIDE: Final[dict[str, tuple[str, ...]]] = {
    "session keys": (
        "tests/permits_app/tools/test_session_keys.py",
        "tests/permits_app/tools/test_session_keys_that_fail.py",
        "tests/permits_app/tools/test_mistakes_with_session_keys.py",
        "tests/permits_app/test_sessions.py",
        "tests/contracts/test_session.py",
    ),
    "charging": (
        "tests/golem_project/a2a/test_x402_endpoint.py",
        "tests/golem_project/a2a/test_who_is_told_again.py",
        "tests/golem_project/a2a/test_a_sale_on_another_chain.py",
        "tests/golem_project/a2a/test_sales_while_something_fails.py",
        "tests/golem_project/a2a/test_sold_publications.py",
    ),
}
"""What is no folder of the shelf, and its tests."""
NAMES: Final = {"metamask": "MetaMask delegations", "safe_allowance": "allowances of a Safe", "x402": "x402"}
"""What README calls them."""
HELD: Final = {
    "metamask": (None, "an owner lets it draw 25 USDC a day"),
    "x402": ("x402_approve", "it signed a payment of two dollars"),
}
"""The case before it, and the circumstance in which an agent has something there that a tick could ask about."""


def come_to_hold(door: Door, folder: str) -> None:
    """Something is there."""
    case, circumstance = HELD[folder]
    if case is not None:
        door.do(case)
    CIRCUMSTANCES[circumstance](door.stage)


def count_asked(work: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """In how many exchanges with a node something is done."""
    asked, original = list[int](), RpcPool._ask

    def count(self: Any, node: Any, requests: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(len(requests))
        return original(self, node, requests, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(RpcPool, "_ask", count)
        work()
    return len(asked)


def test_what_they_hold_is_no_position_so_that_nobody_is_asked_about_one() -> None:
    for name in TESTS:
        protocol = SHELF.get(name)
        assert protocol is not None and protocol.positions is None, name


@pytest.mark.protocols("metamask", "x402", "uniswap_x")
@pytest.mark.parametrize("folder", HELD)
def test_a_quiet_tick_asks_one_batch_more_at_most_where_something_is_there(
    door: Door, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = door.stage.live.golem
    turn_on(golem, is_live=False, rule={})
    before = count_look(golem, monkeypatch)
    come_to_hold(door, folder)
    assert count_look(golem, monkeypatch) <= before + 1


@pytest.mark.protocols("safe_allowance")
def test_a_quiet_tick_asks_nothing_more_where_a_key_may_take_an_allowance(
    allowing: Allowing, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = allowing.live.golem
    turn_on(golem, is_live=False, rule={})
    before = count_look(golem, monkeypatch)
    allowing.give()
    assert count_look(golem, monkeypatch) <= before
    assert count_asked(lambda: watch_safes(now=clock.now()), monkeypatch) <= 6


@pytest.mark.protocols("metamask", "x402", "uniswap_x")
def test_a_right_and_a_payment_cost_a_round_one_batch_each_and_nothing_where_there_is_none(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    def follow_both() -> int:
        now = clock.now()
        SignedPromise.objects.update(next_check_at=now)
        rights = count_asked(lambda: check_received_rights(now=now + LOOK_EVERY), monkeypatch)
        return rights + count_asked(lambda: check_signed_promises(now=now), monkeypatch)

    assert follow_both() == 0
    opened = count_asked(lambda: door.stage.reader().block, monkeypatch)
    for folder in HELD:
        come_to_hold(door, folder)
    assert follow_both() <= 2 * (opened + 1)


def test_what_stands_for_real_contracts_is_called_simulated_and_the_real_ones_are_not() -> None:
    told = {folder: SHELF.label_on(folder, CHAIN_ID).endswith("(simulated contract)") for folder in TESTS}
    assert told == {"metamask": False, "safe_allowance": True, "x402": True}


@pytest.mark.parametrize("folder", [*TESTS, *BESIDE])
def test_a_folder_adds_no_more_to_make_test_than_a_protocol_may(folder: str) -> None:
    assert seconds_of(folder, {**TESTS, **BESIDE}[folder]) < MOST_SECONDS


@pytest.mark.parametrize("folder", sorted(TESTS))
def test_what_is_written_of_the_shelf_says_it(folder: str) -> None:
    assert NAMES[folder] in (ROOT / "README.md").read_text(), "README's list"
    tools = {tool.name for tool in REGISTRY if tool.handler.__module__.startswith(f"tools_app.protocols.{folder}.")}
    if folder == "safe_allowance":
        # Owners give and end it; agents ask by the names of session keys.
        tools = {"session_provision_key", "session_get_keys", "session_revoke_key"}
    assert tools
    assert tools <= {row["tool"] for row in build_support()["tools"]}, "the support matrix"
    told = write_full()
    assert [each for each in tools if f"`{each}`" not in told and f"### {each}" not in told] == [], "llms-full.txt"
    categories = {tool.category for tool in REGISTRY if tool.name in tools}
    assert any(categories & set(each.categories) for each in BUILTIN_PROFILES), "a profile"
