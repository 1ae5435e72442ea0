"""Rocket Pool read from a chain that has rETH and no network: what is held there, at the network's rate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import tools_app.protocols.rocketpool.tools.figures  # noqa: F401  declares the tools
from tests.evm.world import World
from tests.second_chain import SECOND_ID, both_chains, put_token, second_chain, second_world
from tests.tools_app.factories import answer_of, make_context
from tools_app.apps import load_registry
from tools_app.core.errors import GolemError
from tools_app.protocols.rocketpool.addresses import BRIDGED

__all__ = ["both_chains", "second_chain", "second_world"]
pytestmark = [pytest.mark.django_db, pytest.mark.protocols("rocketpool")]
ETH = 10**18
HELD = 3 * ETH


def ask(chain: World, who: Any, tool: str) -> Any:
    load_registry()
    ctx = make_context(chain, address=who.address)
    return answer_of(replace(ctx, golem=replace(ctx.golem, home_chain_id=SECOND_ID)), tool)


def test_what_is_held_on_a_rollup_is_told_at_the_networks_rate(both_chains: tuple[World, World]) -> None:
    first, second = both_chains
    account = first.new_account(ETH)
    with pytest.raises(GolemError) as absent:
        ask(first, account, "rocketpool_get_position")
    assert absent.value.code == "CHAIN_NOT_SUPPORTED"
    put_token(second, BRIDGED[SECOND_ID])
    second.transact(second.actors.deployer, BRIDGED[SECOND_ID], "mint(address,uint256)", account.address, HELD)
    told = ask(first, account, "rocketpool_get_position")
    rate = first.rpc.read(BRIDGED[SECOND_ID], "getExchangeRate()", returns="(uint256)")[0]
    assert told["r_eth_balance"] == str(HELD) and abs(int(told["eth_equivalent"]) - HELD * rate // ETH) < 10
    # Times of two chains are not one order: what it earned is nobody's to say.
    assert (told["yield_earned_eth"], told["pool_chain_id"]) == (None, 31337)


def test_rates_and_operators_are_told_of_the_network_wherever_a_golem_lives(both_chains: tuple[World, World]) -> None:
    account = both_chains[0].new_account(ETH)
    rates = ask(both_chains[0], account, "rocketpool_get_rates")
    assert float(rates["exchange_rate"]) > 1 and rates["pool_chain_id"] == 31337
    assert ask(both_chains[0], account, "rocketpool_get_operators")["total_operators"] > 0
