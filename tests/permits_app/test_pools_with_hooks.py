"""Pools that a manager keeps under 32 bytes, with strangers' code in them: from the question to the signed outcome.

The protocol is dropped into the folder for these tests, and no other file knows it.
"""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.approvals.approval_statement import describe_permit
from permits_app.limits.suggested_allowlist import AllowlistChoice, suggest_allowlist
from permits_app.models.allowlist import AllowlistKind
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_pools.on_the_shelf import NAME, Pools
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.toolkit.registry import REGISTRY

USDC = 10**6


@pytest.fixture
def trader(db: None, hook_pools: Pools) -> LiveGolem:
    """A golem with the pools' tool, whose owner took the allowlist as it is suggested."""
    golem = make_live_golem(hook_pools.world)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=golem.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow(golem, *suggest_allowlist(CHAIN_ID))
    return golem


def allow(golem: LiveGolem, *choices: AllowlistChoice) -> None:
    allow_addresses(golem=golem.golem, choices=choices, actor="system:test", now=clock.now())


def list_hook(golem: LiveGolem, pools: Pools) -> None:
    allow(golem, AllowlistChoice(CHAIN_ID, AllowlistKind.HOOK, pools.hook, "its owner read it"))


def ask(golem: LiveGolem, pool: str, amount: int = 100 * USDC) -> dict[str, Any]:
    return golem.preview(
        action_type="pools_trade", venue=NAME, pool=pool, token_in="USDC", amount=str(amount), token_out=None
    )


def test_a_pool_without_a_hook_is_traded_in_like_any_other(trader: LiveGolem, hook_pools: Pools) -> None:
    permit = ask(trader, hook_pools.plain)
    assert (permit["status"], permit["risk_tier"]) == ("CREATED", "STANDARD")
    before = trader.balance("WETH")
    assert trader.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert trader.balance("WETH") > before


def test_a_hook_that_no_owner_listed_is_refused_with_its_name_and_the_next_step(
    trader: LiveGolem, hook_pools: Pools
) -> None:
    with pytest.raises(GolemError) as refused:
        ask(trader, hook_pools.hooked)
    assert (refused.value.code, refused.value.data["rule"]) == ("SAFETY_HOOK_NOT_ALLOWED", "allowlist_guard.hook")
    assert refused.value.data["not_listed"] == [{"kind": "HOOK", "address": hook_pools.hook}]
    assert "a pool without a hook" in refused.value.data["would_pass"]
    assert hook_pools.hook in refused.value.detail


def test_a_listed_hook_that_could_take_something_waits_for_the_owners_who_read_what_it_could(
    trader: LiveGolem, hook_pools: Pools
) -> None:
    list_hook(trader, hook_pools)
    permit = ask(trader, hook_pools.hooked)
    assert (permit["status"], permit["risk_tier"]) == ("AWAITING_APPROVAL", "HIGH")
    told = describe_permit(trader.permit(permit["permit_id"]))
    [said] = [line for line in told["bounds"]["promises"] if hook_pools.hook in line]
    assert "stranger's code" in said and "change what goes in or comes out" in said


def test_the_permit_is_bound_to_the_hooks_code(trader: LiveGolem, hook_pools: Pools) -> None:
    list_hook(trader, hook_pools)
    permit = ask(trader, hook_pools.hooked)
    assert hook_pools.hook in trader.permit(permit["permit_id"]).code["roots"]


def test_a_tool_that_hides_the_hook_of_a_pool_is_refused_by_the_bytes(trader: LiveGolem, hook_pools: Pools) -> None:
    hook_pools.modules["tools"].SLIPS.add("hooks")
    try:
        with pytest.raises(GolemError) as refused:
            ask(trader, hook_pools.hooked)
    finally:
        hook_pools.modules["tools"].SLIPS.clear()
    assert refused.value.data["rule"] == "hallucination_detector.pool_hook"
    assert refused.value.data["observed"] == f"hook {hook_pools.hook}"
    assert "the calls reach it and the plan does not say so" in refused.value.detail


def test_a_hook_that_takes_more_than_the_slippage_is_refused_by_balances(trader: LiveGolem, hook_pools: Pools) -> None:
    list_hook(trader, hook_pools)
    hook_pools.keep(3_000)
    with pytest.raises(GolemError) as refused:
        ask(trader, hook_pools.hooked)
    assert "TooLittle" in str(refused.value.data.get("revert_reason", refused.value.detail))
