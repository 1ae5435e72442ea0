"""What venues are said to give is what their contracts give, and the order of venues is what is left after gas."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, call_tool, make_context, run_plan
from tools_app.apps import load_registry
from tools_app.core.errors import GolemError
from tools_app.protocols.curve.protocol import PROTOCOL
from tools_app.toolkit.markets import PoolNotFound

pytestmark = pytest.mark.protocols("curve")
WAD, USD = 10**18, 10**6
POOL = str(PROTOCOL.address(CHAIN_ID, "pool_3pool"))


@pytest.fixture(autouse=True)
def every_tool() -> None:
    load_registry()


def compare(chain: World, token_in: str, token_out: str, amount: int) -> Any:
    return answer_of(
        make_context(chain), "intel_compare_venues", token_in=token_in, token_out=token_out, amount=str(amount)
    )


def find(told: Any, venue: str) -> Any:
    return next(each for each in told["venues"] if each["venue"] == venue)


def test_a_stable_pool_is_told_by_what_an_exchange_there_pays(chain: World) -> None:
    told = compare(chain, "DAI", "USDC", 5_000 * WAD)
    account = chain.new_account(WAD, {"DAI": 5_000 * WAD})
    dai, usdc = (chain.tokens[symbol].address for symbol in ("DAI", "USDC"))
    chain.transact(account, dai, "approve(address,uint256)", POOL, 5_000 * WAD)
    chain.transact(account, POOL, "exchange(int128,int128,uint256,uint256)", 0, 1, 5_000 * WAD, 0)
    row = find(told, "curve")
    assert int(row["output_amount"]) == chain.rpc.balance_of(usdc, account.address) > 0
    assert row["is_simulated"] and row["tool"] is None and row["source"]


def test_the_recommended_venue_is_one_where_a_tool_trades_and_pays_just_that(chain: World) -> None:
    told = compare(chain, "DAI", "USDC", 5_000 * WAD)
    account = chain.new_account(WAD, {"DAI": 5_000 * WAD})
    ctx = make_context(chain, address=account.address)
    row = find(told, told["recommended"])
    assert row["tool"] == "uniswap_execute_swap"
    plan = call_tool(ctx, row["tool"], token_in="DAI", token_out="USDC", amount=str(5_000 * WAD), route=row["route"])
    run_plan(chain, account, plan)
    assert chain.rpc.balance_of(chain.tokens["USDC"].address, account.address) == int(row["output_amount"])


def test_pools_of_constant_product_are_told_by_their_reserves(chain: World) -> None:
    row = find(compare(chain, "WETH", "USDT", 10 * WAD), "uniswap v2")
    pool = chain.pool("v2", "WETH", "USDT")
    weth, usdt = (chain.tokens[symbol].address for symbol in ("WETH", "USDT"))
    had, other = (chain.rpc.balance_of(token, pool.address) for token in (weth, usdt))
    paid = 10 * WAD * 997
    assert row["route"] == "v2" and int(row["output_amount"]) == paid * other // (had * 1_000 + paid)


def test_venues_stand_in_the_order_of_what_is_left_after_gas(chain: World) -> None:
    for amount in (WAD // 1_000, 10 * WAD, 300 * WAD):
        told = compare(chain, "WETH", "USDC", amount)
        nets = [round(float(each["net_output_usd"]) * USD) for each in told["venues"]]
        assert len(nets) > 1 and nets == sorted(nets, reverse=True)
        assert told["savings_vs_worst_usd"] == f"{(nets[0] - nets[-1]) / USD:.6f}"
        for each in told["venues"]:
            paid, gas = int(each["output_amount"]), round(float(each["gas_estimate_usd"]) * USD)
            # USDC is a dollar by its feed.
            assert round(float(each["net_output_usd"]) * USD) == pytest.approx(paid - gas, abs=2)
    assert told["ranked_by"].startswith("what is left after gas")


def test_a_trade_that_costs_more_gas_than_it_gives_is_below_zero(chain: World) -> None:
    told = compare(chain, "USDT", "USDC", 10)
    assert all(float(each["net_output_usd"]) < 0 for each in told["venues"])


def test_a_coin_without_a_price_leaves_the_order_by_what_arrives(chain: World) -> None:
    feed = chain.tokens["WETH"].feed
    chain.transact(chain.actors.deployer, feed, "setUpdatedAt(uint256)", 1)
    told = compare(chain, "DAI", "USDC", 5_000 * WAD)
    paid = [int(each["output_amount"]) for each in told["venues"]]
    assert paid == sorted(paid, reverse=True) and told["savings_vs_worst_usd"] is None
    assert {each["net_output_usd"] for each in told["venues"]} == {None}
    assert told["ranked_by"].startswith("what arrives")


def test_where_nobody_trades_it_is_said_by_whom_and_why(chain: World) -> None:
    with pytest.raises(PoolNotFound) as found:
        compare(chain, "WETH", "ETH", WAD)
    assert [each.partition(":")[0] for each in found.value.data["reasons"]] == ["curve", "uniswap"]
    assert isinstance(found.value, GolemError)


def test_a_venue_above_the_recommended_one_is_named_where_no_tool_trades(chain: World) -> None:
    # The only pool of these two is Curve's; everybody else goes through another token.
    told = compare(chain, "USDT", "USDC", 5_000 * USD)
    assert told["better_without_tool"] == "curve" == told["venues"][0]["venue"]
    assert told["recommended"] not in (None, "curve") and find(told, "curve")["behind_best_bps"] == 0
