"""Figures of pools on the local chain, against what its contracts and its node say themselves."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from golem_project.embedded.world.pools import MINT
from golem_project.embedded.world.rpc import call_data
from tests.evm.world import World
from tests.tools_app.factories import answer_of, call_tool, make_context
from tests.tools_app.history.conftest import followed as followed
from tests.tools_app.history.followed import SINGLE, Followed
from tools_app.portfolio import pool_history
from tools_app.portfolio.markets import markets_on
from tools_app.portfolio.pool_depths import read_depths
from tools_app.portfolio.pool_history import ESTIMATED, OF_NODE, InsufficientHistory, PoolPast, read_past
from tools_app.standards.pool_maths import BeyondKnownTicks, swap
from tools_app.subsystems.intel.sandwich import find_sandwich

pytestmark = pytest.mark.django_db
QUOTE = (
    "function quoteExactInputSingle((address tokenIn, address tokenOut, uint256 amountIn, uint24 fee,"
    " uint160 sqrtPriceLimitX96) params) returns (uint256,uint160,uint32,uint256)"
)
AMOUNTS_OUT = "function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[])"


def each_pool(world: World) -> Iterator[tuple[Any, str]]:
    for pool in world.pools:
        yield pool, pool.token0
        yield pool, pool.token1


def test_what_a_trade_of_any_size_gives_is_what_the_chains_own_quoters_say(chain: World) -> None:
    ctx = make_context(chain)
    reader, markets = ctx.chain(), markets_on(ctx.chain().chain_id)
    compared = crossed = 0
    for known, token_in in each_pool(chain):
        pool = markets.read(reader, known.address)
        if not pool.is_usable:
            continue
        depths = read_depths(reader, markets.of_pool(pool), pool)
        held = markets.depth(reader, [pool])[pool.id][0 if token_in == pool.token0 else 1]
        for part in (10**6, 1_000, 10, 2):
            amount = max(1, held // part)
            try:
                found = swap(depths, token_in, amount)
            except BeyondKnownTicks:
                continue
            if pool.version == "v3":
                order = (token_in, pool.other(token_in), amount, pool.fee, 0)
                told = reader.call(chain.contracts["uniswap_v3_quoter_v2"], QUOTE, order)
                assert (found.amount_out, found.after.pool.sqrt_price) == (told[0], told[1]), (known, amount)
            else:
                path = [token_in, pool.other(token_in)]
                told = reader.call(chain.contracts["uniswap_v2_router"], AMOUNTS_OUT, amount, path)
                assert found.amount_out == told[0][1], (known, amount)
            compared += 1
            crossed += found.crossed
    assert compared > 20
    assert crossed > 0, "no trade went through a tick"


def test_a_sandwich_that_is_told_is_what_happens_on_the_chain(followed: Followed) -> None:
    world, pool = followed.world, followed.pool
    ctx = make_context(world)
    usdc, weth = world.tokens["USDC"].address, world.tokens["WETH"].address
    markets = markets_on(ctx.chain().chain_id)
    found = markets.read(ctx.chain(), pool.address)
    depths = read_depths(ctx.chain(), markets.of_pool(found), found)
    victim = 1_500_000 * 10**6
    least = swap(depths, usdc, victim).amount_out * 99 // 100
    plan = find_sandwich(depths, usdc, victim, least)
    assert plan.front > 0

    def held(token: str) -> int:
        return world.rpc.balance_of(token, followed.trader.address)

    before = held(usdc)
    followed.swap(plan.front)
    bought = held(weth)
    followed.swap(victim)
    assert held(weth) - bought >= least
    world.transact(
        followed.trader, weth, "approve(address,uint256)", world.contracts["uniswap_v3_swap_router_02"], 2**256 - 1
    )
    single = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
    order = (weth, usdc, 500, followed.trader.address, bought, 0, 0)
    world.transact(followed.trader, world.contracts["uniswap_v3_swap_router_02"], single, order)
    assert held(usdc) - before + victim == plan.profit
    assert find_sandwich(depths, usdc, victim, swap(depths, usdc, victim).amount_out).profit == 0, (
        "no slippage, no prey"
    )


def test_the_impact_of_sizes_and_the_largest_under_a_percent_are_told(chain: World) -> None:
    pool = chain.pool("v3", "USDC", "WETH", 500)
    told = answer_of(
        make_context(chain), "intel_simulate_price_impact", pool=pool.address, trade_sizes_usd=["1000", "100000"]
    )
    small, large = told["impacts"]
    assert 0 <= small["price_impact_bps"] <= large["price_impact_bps"]
    most = told["max_acceptable_size_usd"]
    again = answer_of(
        make_context(chain),
        "intel_simulate_price_impact",
        pool=pool.address,
        trade_sizes_usd=[
            str(int(Decimal(most) * 99 // 100)),
            str(int(Decimal(most) * 105 // 100)),
        ],
    )
    assert again["impacts"][0]["price_impact_bps"] <= 100
    assert (again["impacts"][1]["price_impact_bps"] or 10_000) >= 100
    assert told["basis"]["confidence"] == "high"


def test_mev_and_revert_risk_say_what_they_cannot_know(chain: World) -> None:
    told = answer_of(
        make_context(chain), "intel_assess_mev_risk", token_in="USDC", token_out="WETH", amount_usd="50000"
    )
    assert told["sandwich_probability"] is None and told["sandwich_probability_reason"]
    assert told["risk_level"] in {"LOW", "MEDIUM", "HIGH", "CRITICAL"}
    assert Decimal(told["mitigations"][0]["estimated_savings_usd"]) >= 0
    pool = chain.pool("v2", "USDC", "WETH").address
    risk = answer_of(make_context(chain), "intel_estimate_revert_risk", pool=pool, trade_size_usd="100")
    assert risk["revert_probability"] is None and risk["reason"]


def test_the_flow_of_a_followed_pool_is_that_of_the_node(followed: Followed) -> None:
    for amount in (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8):
        followed.swap(amount * 10**11)
        followed.mine()
    ctx = make_context(followed.world)
    told = answer_of(ctx, "intel_compute_vpin", pool=followed.pool.address, lookback="1h", buckets=5)
    assert told["basis"]["source"] == OF_NODE
    assert (told["classification"], told["vpin"]) == ("TOXIC", "1"), "all of it was bought"
    followed.watch(followed.pool.address)
    while followed.fill():
        pass
    followed.swap(10**11)
    followed.mine(2)
    followed.follow()
    followed.swap(10**11)
    kept = answer_of(make_context(followed.world), "intel_get_order_flow_metrics", pool=followed.pool.address)
    assert kept["basis"]["source"] == "this server's index"
    assert kept["basis"]["sample"] >= 14
    assert kept["lvr"]["fee_lvr_ratio"] is not None and Decimal(kept["lvr"]["lvr_period_usd"]) > 0
    assert [each["blocks"] for each in kept["markout"]] == [5, 20, 100]
    assert kept["jit_liquidity"]["found"] == 0
    followed.source().delete()
    again = answer_of(make_context(followed.world), "intel_get_order_flow_metrics", pool=followed.pool.address)
    assert again["vpin"] == kept["vpin"]
    assert again["lvr"]["lvr_period_usd"] == kept["lvr"]["lvr_period_usd"]


def trade_unevenly(followed: Followed) -> dict[int, int]:
    """Twelve trades, each after a longer pause, in a pool that nobody follows: the times of their blocks by number."""
    times = {}
    for pause in range(12):
        followed.world.rpc.call("evm_increaseTime", 10 * 2**pause)
        number = followed.swap(10**11)["blockNumber"]
        times[int(number, 16)] = int(followed.world.rpc.call("eth_getBlockByNumber", number, False)["timestamp"], 16)
    return times


def past_of(followed: Followed) -> PoolPast:
    reader = make_context(followed.world).chain()
    markets = markets_on(reader.chain_id)
    pool = markets.read(reader, followed.pool.address)
    return read_past(reader, markets.of_pool(pool), pool, hours=24)


def test_trades_of_a_pool_that_nobody_follows_have_the_times_of_their_blocks(followed: Followed) -> None:
    times = trade_unevenly(followed)
    past = past_of(followed)
    assert {each.block: each.time for each in past.trades if each.block in times} == times
    assert past.source == OF_NODE and ESTIMATED not in past.source


def test_of_more_blocks_than_are_asked_for_some_times_are_estimated_between_those_read_and_it_is_said(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed.world.rpc.call("evm_increaseTime", 2 * 86_400)
    times = trade_unevenly(followed)
    numbers = list(times)
    monkeypatch.setattr(pool_history, "MOST_TIMES", 4)
    past = past_of(followed)
    assert past.source == OF_NODE + ESTIMATED
    told = {each.block: each.time for each in past.trades}
    assert list(told) == numbers and sorted(told.values()) == list(told.values())
    read = [numbers[place] for place in (0, 3, 7, 11)]
    assert {number: told[number] for number in read} == {number: times[number] for number in read}
    middle = times[read[1]] + (times[read[2]] - times[read[1]]) * (numbers[5] - read[1]) // (read[2] - read[1])
    assert told[numbers[5]] == middle


def test_liquidity_that_stands_for_one_block_of_trades_is_counted_and_what_stays_is_not(followed: Followed) -> None:
    """A range is put in, traded in and taken out within one block; another is put in beside a trade, and stays."""
    world, rpc = followed.world, followed.world.rpc
    manager, router = world.contracts["uniswap_v3_position_manager"], world.contracts["uniswap_v3_swap_router_02"]
    maker = world.new_account(10**18, {"USDC": 10**12, "WETH": 10**21})
    pair = [world.tokens[symbol].address for symbol in ("USDC", "WETH")]
    for token in pair:
        for spender in (manager, router):
            world.transact(maker, token, "approve(address,uint256)", spender, 2**256 - 1)
    for _ in range(12):
        followed.swap(10**9)
    tick = int(rpc.read(followed.pool.address, "slot0()", returns="(uint160,int24)")[1])

    def put_in(spacings: int) -> str:
        low, high = ((tick // 10 + side) * 10 for side in (-spacings, spacings))
        tokens = sorted(pair, key=lambda address: int(address, 16))
        return call_data(MINT, (*tokens, 500, low, high, 10**9, 10**9, 0, 0, maker.address, 2**40))

    asked = {"from": maker.address, "to": manager, "data": put_in(5)}
    told = rpc.call("eth_call", asked, "latest")
    number, liquidity = int(told[2:66], 16), int(told[66:130], 16)
    trade = (router, call_data(SINGLE, (*pair, 500, maker.address, 10**9, 0, 0)))
    take_out = (manager, call_data(DECREASE, (number, liquidity, 0, 0, 2**40)))
    mine_together(world, maker.address, [(manager, put_in(5)), trade, take_out])
    mine_together(world, maker.address, [(manager, put_in(9)), trade])
    flow = answer_of(make_context(world), "intel_get_order_flow_metrics", pool=followed.pool.address, lookback="1h")
    assert flow["jit_liquidity"]["found"] == 1
    # Twelve trades before, a block each, and the two blocks of these.
    assert flow["jit_liquidity"]["blocks_with_trades"] == flow["basis"]["sample"] >= 14


DECREASE = "decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))"


def mine_together(world: World, account: str, calls: list[tuple[str, str]]) -> None:
    """Calls of one account in one block, in this order; each succeeds."""
    world.rpc.call("evm_setAutomine", False)
    try:
        world.rpc.call("anvil_impersonateAccount", account)
        sent = [
            world.rpc.call("eth_sendTransaction", {"from": account, "to": to, "data": data, "gas": hex(2_000_000)})
            for to, data in calls
        ]
        world.rpc.call("evm_mine")
    finally:
        world.rpc.call("evm_setAutomine", True)
    receipts = [world.rpc.call("eth_getTransactionReceipt", each) for each in sent]
    assert [each["status"] for each in receipts] == ["0x1"] * len(calls)
    assert len({each["blockNumber"] for each in receipts}) == 1


def test_a_pool_without_trades_is_refused_with_what_it_takes(chain: World) -> None:
    quiet = chain.pool("v3", "USDC", "WETH", 10_000) if _has(chain) else chain.pool("v2", "USDC", "WETH")
    with pytest.raises(InsufficientHistory) as refused:
        call_tool(make_context(chain), "intel_compute_lvr", pool=quiet.address, lookback="1h")
    assert refused.value.as_problem()["code"] == "INSUFFICIENT_HISTORY"
    assert refused.value.as_problem()["recovery"] == "WAIT"


def _has(world: World) -> bool:
    return any(pool.fee_tier == 10_000 and pool.version == "v3" for pool in world.pools)
