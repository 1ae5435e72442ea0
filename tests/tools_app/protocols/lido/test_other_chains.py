"""Lido read from a chain that has wstETH and no pool: what is held there, and the pool's figures from where it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import tools_app.protocols.lido.tools.figures
import tools_app.protocols.lido.tools.stake
import tools_app.protocols.uniswap.tools.quotes  # noqa: F401  declares the tools
from tests.evm.world import World
from tests.second_chain import SECOND_ID, both_chains, put_token, second_chain, second_world
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.lido.staking import ETH, act, at
from tools_app.apps import load_registry
from tools_app.core.errors import GolemError
from tools_app.protocols.lido.addresses import BRIDGED, CHAINS, READ_ON
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

__all__ = ["both_chains", "second_chain", "second_world"]
pytestmark = [pytest.mark.django_db, pytest.mark.protocols("lido")]
MAIN_CHAINS = {1, 8453, 130, 42161, 10, 137, 56, 43114}
HELD = 3 * ETH


@pytest.fixture
def rollup(both_chains: tuple[World, World]) -> Iterator[tuple[World, World]]:
    """Both chains; on the second a token of its own stands where wstETH is there."""
    put_token(both_chains[1], BRIDGED[SECOND_ID])
    yield both_chains


def ask(chain: World, who: Any, tool: str, **params: Any) -> Any:
    load_registry()
    ctx = make_context(chain, address=who.address)
    return answer_of(replace(ctx, golem=replace(ctx.golem, home_chain_id=SECOND_ID)), tool, **params)


def test_what_is_held_on_a_rollup_is_told_at_the_pools_rate(rollup: tuple[World, World]) -> None:
    first, second = rollup
    account = first.new_account(30 * ETH)
    act(first, account, "lido_stake", amount=str(5 * ETH))
    assert ask(first, account, "lido_get_position")["eth_equivalent"] == "0", "what is at home is not here"
    second.transact(second.actors.deployer, BRIDGED[SECOND_ID], "mint(address,uint256)", account.address, HELD)
    told = ask(first, account, "lido_get_position")
    rate = first.rpc.read(at("steth"), "getPooledEthByShares(uint256)", ETH, returns="(uint256)")[0]
    assert told["wst_eth_balance"] == told["shares"] == str(HELD)
    assert abs(int(told["eth_equivalent"]) - HELD * rate // ETH) < 10
    assert told["pool_chain_id"] == 31337 and told["open_withdrawal_requests"] == []
    # Times of two chains are not one order: what it earned since a sale is nobody's to say.
    assert told["yield_earned_since_last_harvest"] is None
    rates = ask(first, account, "lido_get_rates")
    assert (rates["share_rate"], rates["pool_chain_id"]) == (told["current_share_rate"], 31337)
    assert ask(first, account, "lido_get_oracle_status")["quorum_size"] == 2
    leaving = ask(first, account, "lido_exit_decision")
    assert (leaving["decision"], leaving["queue_is_open"], leaving["market_eth"]) == ("hold", False, None)
    assert "the queue is on chain 31337" in leaving["reason"] and leaving["queue_ready_at"] is None


def test_a_rollup_without_the_token_says_so(both_chains: tuple[World, World]) -> None:
    first, _ = both_chains
    with pytest.raises(GolemError) as absent:
        ask(first, first.new_account(ETH), "lido_get_position")
    assert absent.value.code == "CHAIN_NOT_SUPPORTED"


def test_reads_of_lido_are_declared_on_every_main_chain_that_has_anything_of_it_and_writes_where_it_stakes() -> None:
    assert MAIN_CHAINS <= READ_ON and MAIN_CHAINS - {43114} <= set(BRIDGED) | {1}
    for tool in REGISTRY:
        if tool.prefix == "lido" and tool.supported_chains is not None:
            wanted = MAIN_CHAINS - {43114} if isinstance(tool, ReadTool) else {1}
            assert set(tool.supported_chains) & MAIN_CHAINS >= wanted, tool.name
            assert isinstance(tool, ReadTool) or set(tool.supported_chains) == CHAINS, tool.name
