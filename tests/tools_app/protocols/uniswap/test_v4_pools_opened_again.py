"""A V4 pool is opened once; one that a reorganisation undid and somebody opened at another price takes nothing."""

from __future__ import annotations

from math import isqrt
from typing import Any

import pytest

import tools_app.protocols.uniswap.tools.liquidity
import tools_app.protocols.uniswap.tools.swaps  # noqa: F401  declares the tools
from golem_project.embedded.world.protocols.uniswap_v4 import HIGHEST_TICK, POOL_KEY
from golem_project.embedded.world.rpc import call_data
from golem_project.embedded.world.seed_data import sqrt_price_x96, worth
from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context, run_plan
from tests.tools_app.protocols.uniswap.more_pools import make_maker, open_v4
from tests.tools_app.protocols.uniswap.test_swaps import ETH, plan_swap, rich_account
from tests.tools_app.protocols.uniswap.v4_hooks import contracts
from tools_app.protocols.uniswap.v4.keys import make_key
from tools_app.toolkit.plan import TxPlan

pytestmark = pytest.mark.protocols("uniswap_v4")

SYMBOLS = ("DAI", "USDC")
INITIALIZE = f"initialize({POOL_KEY},uint160)"


def open_at(chain: World, maker: Any, *, moved_bps: int = 0) -> str:
    """A pool of DAI and USDC at a fee that no other has, its price so far from the feeds'; its id."""
    first, second = sorted(SYMBOLS, key=lambda symbol: int(chain.tokens[symbol].address, 16))
    key = make_key(chain.tokens[first].address, chain.tokens[second].address, 500, 10)
    price = sqrt_price_x96(first, second)
    moved = isqrt(price * price * (10_000 + moved_bps) // 10_000)
    amounts = [worth(symbol, 1_000_000) for symbol in (first, second)]
    open_v4(chain, maker, contracts().positions, key.as_tuple, moved, HIGHEST_TICK // 10 * 10, amounts)
    again = chain.send(maker, contracts().manager, call_data(INITIALIZE, key.as_tuple, price))
    assert again["status"] == "0x0", "nobody opens it a second time"
    return key.pool_id


@pytest.mark.parametrize("moved_bps", [-1_000, 1_000])
@pytest.mark.parametrize("action", ["swap", "add"])
def test_a_pool_that_was_undone_and_opened_at_another_price_reverts_what_was_planned_in_it(
    chain: World, action: str, moved_bps: int
) -> None:
    maker, account = make_maker(chain, SYMBOLS), rich_account(chain)
    before = chain.rpc.call("evm_snapshot")
    pool_id = open_at(chain, maker)
    plan = plan_in(chain, account, action)
    chain.rpc.call("evm_revert", before)
    assert open_at(chain, maker, moved_bps=moved_bps) == pool_id, "its name is the same"
    held = [balance_of(chain, account, symbol) for symbol in SYMBOLS]
    # A price that is better for who sells takes no more than was planned; any other is refused.
    sells_dearer = action == "swap" and (moved_bps > 0) == (SYMBOLS[0] == first_symbol(chain))
    if sells_dearer:
        outcome = run_plan(chain, account, plan)
        assert outcome.deltas[plan.receives[0].token.address] >= plan.receives[0].bound
    else:
        with pytest.raises(AssertionError):
            run_plan(chain, account, plan)
        assert [balance_of(chain, account, symbol) for symbol in SYMBOLS] == held


def plan_in(chain: World, account: Any, action: str) -> TxPlan:
    if action == "swap":
        route = {"route": "v4:500", "slippage_bps": 100}
        return plan_swap(chain, account, token_in="DAI", token_out="USDC", amount=str(100 * ETH), **route)
    ctx = make_context(chain, address=account.address)
    wanted = {"token0": "DAI", "token1": "USDC", "price_lower": "0.9", "price_upper": "1.1", "fee": 500}
    plan: TxPlan = call_tool(
        ctx, "uniswap_lp_add_liquidity", **wanted, pool=pool_name(chain), amount0=str(100 * ETH), slippage_bps=100
    )
    return plan


def pool_name(chain: World) -> str:
    return make_key(chain.tokens["DAI"].address, chain.tokens["USDC"].address, 500, 10).pool_id


def first_symbol(chain: World) -> str:
    return min(SYMBOLS, key=lambda symbol: int(chain.tokens[symbol].address, 16))


def balance_of(chain: World, account: Any, symbol: str) -> int:
    token = chain.tokens[symbol].address
    return int(chain.rpc.read(token, "balanceOf(address)", account.address, returns="(uint256)")[0])
