"""Hooks of pools are found, judged by their address and by what they do when tried, and a text to begin with."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.protocols.uniswap_v4 import HOOK
from tests.evm.world import World
from tests.golem_project.world.test_uniswap_v4_world import key_of
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.uniswap.v4_hooks import EXIT_BLOCKER, HOOKS, THIEF, open_hooked_pool
from tools_app.core.errors import GolemError
from tools_app.protocols.uniswap.v4.keys import PoolKey
from tools_app.subsystems.hook.pool_exit_trial import WaysTried, WayTried
from tools_app.subsystems.hook.tools import HookSwap, list_findings

pytestmark = pytest.mark.protocols("uniswap_v4")


def evaluate(chain: World, pool: str, **params: Any) -> Any:
    return answer_of(make_context(chain), "hook_evaluate", pool=pool, **params)


@pytest.mark.parametrize(
    ("name", "danger", "finds"),
    [
        ("benign", "LOW", ()),
        ("fee changer", "HIGH", ()),
        ("thief", "TAKES", ("brings 123 bps less", "brings 123 bps less")),
        ("exit blocker", "TAKES", ("leaving the pool reverts",)),
        ("exit taxer", "TAKES", ("leaving the pool costs 543 bps", "leaving again the pool costs")),
        ("teller", "HIGH", ()),
    ],
)
def test_a_hook_is_judged_by_what_it_does_to_who_trades_enters_and_leaves(
    local_chain: World, name: str, danger: str, finds: tuple[str, ...]
) -> None:
    hook = HOOKS[name]
    key = open_hooked_pool(local_chain, hook)
    found = evaluate(local_chain, key.pool_id)
    assert (found["hook"], found["danger"], found["has_code"]) == (hook.address, danger, True), found
    assert len(found["findings"]) == len(finds), found["findings"]
    assert all(words in line for words, line in zip(finds, found["findings"], strict=True)), found["findings"]
    assert found["position_tried"] is not None and len(found["swaps"]) == 2
    if danger != "TAKES":
        ways = [found[way] for way in ("leaving", "entering", "leaving_again")]
        assert [(way["succeeds"], way["taken_bps"]) for way in ways] == [(True, 0)] * 3


def test_an_exit_that_is_blocked_is_told_before_anybody_enters_and_so_is_what_comes_after_it(
    local_chain: World,
) -> None:
    key = open_hooked_pool(local_chain, EXIT_BLOCKER)
    found = evaluate(local_chain, key.pool_id)
    assert found["leaving"]["succeeds"] is False and found["leaving"]["reason"]
    assert found["entering"] == {"succeeds": None, "taken_bps": None, "reason": "who is in it does not get out"}
    assert "EXITS" in found["powers"]


def test_a_pool_without_a_hook_and_one_of_the_coin_are_tried_as_well(local_chain: World) -> None:
    from golem_project.embedded.world.protocols.uniswap_v4 import POOLS

    for pool in POOLS:
        if pool.hooks == HOOK:
            continue
        found = evaluate(local_chain, PoolKey(*key_of(local_chain, pool)).pool_id)
        assert (found["hook"], found["danger"], found["findings"]) == (None, "NO_HOOK", []), found
        assert found["leaving_again"]["succeeds"] is True


def test_a_code_that_can_be_replaced_is_told(local_chain: World) -> None:
    key = open_hooked_pool(local_chain, HOOKS["benign"])
    slot = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
    assert evaluate(local_chain, key.pool_id)["may_be_replaced"] is False
    local_chain.rpc.call("anvil_setStorageAt", HOOKS["benign"].address, slot, "0x" + "11".rjust(64, "0"))
    assert evaluate(local_chain, key.pool_id)["may_be_replaced"] is True


def test_what_is_no_pool_is_refused(local_chain: World) -> None:
    with pytest.raises(GolemError) as refused:
        evaluate(local_chain, "0x" + "ab" * 32)
    assert refused.value.code == "POOL_NOT_FOUND"


def test_pools_with_hooks_are_found_newest_first_of_any_pair_or_of_one(local_chain: World) -> None:
    key = open_hooked_pool(local_chain, THIEF)
    ctx = make_context(local_chain)
    every = answer_of(ctx, "hook_discover")
    assert [each["hook"] for each in every["pools"]] == [THIEF.address, HOOK]
    assert (every["total"], every["pools"][0]["pool"], every["pools"][0]["needs_owners"]) == (2, key.pool_id, True)
    assert every["pools"][1]["fee_tier"] is None
    assert answer_of(ctx, "hook_discover", token_a="USDC", token_b="DAI") == every
    assert answer_of(ctx, "hook_discover", token_a="WETH", token_b="USDC")["pools"] == []


@pytest.mark.parametrize(("kind", "bits"), [("counter", 0x40), ("dynamic_fee", 0x80)])
def test_a_template_says_its_licence_that_nobody_audited_it_and_the_bits_of_its_address(
    local_chain: World, kind: str, bits: int
) -> None:
    found = answer_of(make_context(local_chain), "hook_get_template", kind=kind)
    assert int(found["address_bits"], 16) == bits
    assert (found["license"], found["is_audited"]) == ("MIT", False)
    assert "SPDX-License-Identifier: MIT" in found["source"] and f"function {found['callbacks'][0]}" in found["source"]


@pytest.mark.parametrize(("lost", "found"), [(10, 0), (11, 2)])
def test_ten_basis_points_less_are_rounding_and_more_are_a_finding(lost: int, found: int) -> None:
    way, nothing = WayTried(True, lost, None), WayTried(True, 0, None)
    swap = HookSwap("A", "B", "10000", "10000", str(10_000 - lost), lost, None)
    assert len(list_findings((swap,), WaysTried(way, nothing, nothing))) == found
