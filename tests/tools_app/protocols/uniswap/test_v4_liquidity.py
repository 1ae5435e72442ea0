"""V4 positions are opened, grown, harvested and burned by their plans on the real position manager, to the base unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from eth_abi.abi import encode

import tools_app.protocols.uniswap.tools.liquidity
import tools_app.protocols.uniswap.tools.swaps
import tools_app.protocols.uniswap.tools.withdrawals  # noqa: F401  declares the tools
from golem_project.embedded.world.protocols.uniswap_v4 import POOLS, NewPool
from permits_app.safety.decoding import read_calls
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.world.test_uniswap_v4_world import key_of
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tests.tools_app.protocols.uniswap.test_liquidity import check_promises
from tests.tools_app.protocols.uniswap.test_swaps import ETH, plan_swap, rich_account
from tests.tools_app.protocols.uniswap.v4_hooks import EXIT_TAXER, contracts, open_hooked_pool
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.protocols.uniswap.protocol import PROTOCOL
from tools_app.protocols.uniswap.v4 import liquidity_plans
from tools_app.protocols.uniswap.v4.keys import PoolKey
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.leaving import There
from tools_app.toolkit.markets import PositionNotFound
from tools_app.toolkit.plan import Call, PlanOutcome, TxPlan
from tools_app.toolkit.positions import Act, Position, PositionRef, drive
from tools_app.toolkit.views import NATIVE

pytestmark = pytest.mark.protocols("uniswap_v4")

USD = 10**6
TOKENS = NewPool(("DAI", "USDC"), 100, 1, 0)
COIN = NewPool(("ETH", "USDC"), 500, 10, 0)
WAYS = {
    "tokens": (0, {"token0": "DAI", "token1": "USDC", "price_lower": "0.9", "price_upper": "1.1"}, 1_000 * ETH),
    "coin": (2, {"token0": "ETH", "token1": "USDC", "price_lower": "2700", "price_upper": "3300"}, ETH),
}


def key(chain: World, index: int) -> PoolKey:
    return PoolKey(*key_of(chain, POOLS[index]))


def plan_of(chain: World, account: Any, tool: str, **params: Any) -> TxPlan:
    plan: TxPlan = call_tool(make_context(chain, address=account.address), tool, **params)
    return plan


def open_plan(chain: World, account: Any, way: str = "tokens", **params: Any) -> TxPlan:
    index, wanted, amount = WAYS[way]
    params = {**wanted, "pool": key(chain, index).pool_id, "amount0": str(amount), **params}
    return plan_of(chain, account, "uniswap_lp_add_liquidity", **params)


def open_position(chain: World, account: Any, way: str = "tokens", **params: Any) -> str:
    outcome = run_plan(chain, account, open_plan(chain, account, way, **params))
    position_id: str = report_of("uniswap_lp_add_liquidity", outcome)["position_id"]
    return position_id


def trade_back_and_forth(chain: World, way: str) -> None:
    """A stranger sells and buys back in the pool, which pays fees to its positions and hardly moves its price."""
    trader = rich_account(chain)
    symbol, other, route, amount = {
        "tokens": ("DAI", "USDC", "v4:100", 20_000 * ETH),
        "coin": ("ETH", "USDC", "v4:500", ETH),
    }[way]
    sold = plan_swap(chain, trader, token_in=symbol, token_out=other, amount=str(amount), route=route, slippage_bps=500)
    brought = run_plan(chain, trader, sold).deltas[sold.receives[0].token.address]
    back = plan_swap(
        chain, trader, token_in=other, token_out=symbol, amount=str(brought), route=route, slippage_bps=500
    )
    run_plan(chain, trader, back)


def held_of(chain: World, account: Any, *ids: str) -> tuple[Position, ...]:
    reader = make_context(chain, address=account.address).chain()
    assert PROTOCOL.positions is not None
    hints = [PositionRef("uniswap", "nft", CHAIN_ID, each) for each in ids]
    return drive(PROTOCOL.positions.list(CHAIN_ID, account.address, hints), reader.call_many)


def rights_left(chain: World, account: Any, symbols: Sequence[str]) -> list[int]:
    """What anybody may still take: of the token itself, and through Permit2."""
    found = []
    for symbol in symbols:
        token = chain.tokens[symbol].address
        (left,) = chain.rpc.read(token, "allowance(address,address)", account.address, PERMIT2, returns="(uint256)")
        through = chain.rpc.read(
            PERMIT2,
            "allowance(address,address,address)",
            *(account.address, token, contracts().positions),
            returns="(uint160,uint48,uint48)",
        )
        found += [left, through[0]]
    return found


def check_read(chain: World, account: Any, plan: TxPlan) -> None:
    """Who reads the bytes finds the plan's bounds, its recipient, its deadline and its positions."""
    read = read_calls(plan.calls, account=account.address, chain=make_context(chain).chain())
    assert {k: v for k, v in read.spends.items() if v} == {
        each.token.address: each.bound for each in plan.spends if each.bound
    }
    # What grows pays whoever calls: its fees, and nobody else.
    assert set(read.recipients) <= {account.address}
    assert tuple(read.items) == plan.items
    assert set(read.deadlines) == {plan.deadline}
    assert {(each.token, each.ref) for each in read.changes} == {(each.token, each.ref) for each in plan.changes}
    assert tuple(read.hooks) == plan.hooks


@pytest.mark.parametrize("way", WAYS)
def test_a_v4_position_lives_from_mint_to_burn_exactly_as_planned(chain: World, way: str) -> None:
    account = rich_account(chain)
    symbols = [each for each in WAYS[way][1].values() if each in chain.tokens]

    def run(plan: TxPlan) -> PlanOutcome:
        check_read(chain, account, plan)
        outcome = run_plan(chain, account, plan)
        check_promises(outcome)
        assert not any(rights_left(chain, account, symbols))
        assert int(chain.rpc.call("eth_getBalance", contracts().positions, "latest"), 16) == 0
        return outcome

    minted = run(open_plan(chain, account, way))
    assert minted.plan.action_class is ActionClass.NEW_POSITION
    report = report_of("uniswap_lp_add_liquidity", minted)
    position_id = report["position_id"]
    assert position_id.startswith("v4:") and report["liquidity"] == minted.plan.details["liquidity"]
    (held,) = held_of(chain, account, position_id)
    opened = int(held.facts["liquidity"])
    assert opened == int(report["liquidity"]) and held.facts["version"] == "v4"

    trade_back_and_forth(chain, way)
    # The first token of the pool, by V4's own order: USDC or the coin.
    more = {"tokens": 300 * USD, "coin": ETH // 2}[way]
    params = {"position_id": position_id, "amount0": str(more)}
    grown = run(plan_of(chain, account, "uniswap_lp_increase_liquidity", **params))
    assert grown.plan.action_class is ActionClass.INCREASE_POSITION
    added = int(report_of("uniswap_lp_increase_liquidity", grown)["liquidity_added"])
    assert int(held_of(chain, account, position_id)[0].facts["liquidity"]) == opened + added

    trade_back_and_forth(chain, way)
    (held,) = held_of(chain, account, position_id)
    collected = run(plan_of(chain, account, "uniswap_lp_collect_fees", position_id=position_id))
    fees = report_of("uniswap_lp_collect_fees", collected)
    assert (fees["fees_collected0"], fees["fees_collected1"]) == (held.facts["fees0"], held.facts["fees1"])
    assert int(fees["fees_collected0"]) > 0 and int(fees["fees_collected1"]) > 0

    half = run(plan_of(chain, account, "uniswap_lp_remove_liquidity", position_id=position_id, percent_to_remove=50))
    assert half.plan.action_class is ActionClass.DECREASE_POSITION
    assert int(held_of(chain, account, position_id)[0].facts["liquidity"]) == -(-(opened + added) // 2)

    trade_back_and_forth(chain, way)
    (held,) = held_of(chain, account, position_id)
    assert PROTOCOL.exits is not None
    step = PROTOCOL.exits.next_step(held, {}, 0)
    assert isinstance(step, Act)
    rest = run(plan_of(chain, account, step.tool, **step.params))
    assert rest.plan.action_class is ActionClass.CLOSE_POSITION
    assert report_of("uniswap_lp_remove_liquidity", rest)["fees_collected0"] == held.facts["fees0"]
    assert held_of(chain, account, position_id) == ()
    with pytest.raises(PositionNotFound):
        plan_of(chain, account, "uniswap_lp_collect_fees", position_id=position_id)
