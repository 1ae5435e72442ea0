"""Trades of V4 pools, which one manager keeps: counted by the index as the chain moved them, to the base unit."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

import tools_app.protocols.uniswap.tools.swaps  # noqa: F401  declares the tools
from golem_project.embedded.world.protocols.uniswap_v4 import POOLS
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.world.test_uniswap_v4_world import key_of
from tests.tools_app.factories import answer_of, make_context, run_plan
from tests.tools_app.history.conftest import followed as followed
from tests.tools_app.history.followed import Followed
from tests.tools_app.protocols.uniswap.test_swaps import ETH, plan_swap, rich_account
from tests.tools_app.protocols.uniswap.v4_hooks import contracts
from tests.tools_app.subsystems.stream.test_streams import Follower
from tests.tools_app.subsystems.stream.test_streams import follower as follower
from tools_app.history import chain_following, followed_contracts
from tools_app.history.index_reads import Bars, KeptTrade, find_kept, read_bars, read_trades
from tools_app.models.history import BarSpan, LogSource, SourceKind
from tools_app.portfolio.pool_history import OF_INDEX
from tools_app.protocols.uniswap.v4.keys import PoolKey
from tools_app.toolkit.views import NATIVE

pytestmark = [pytest.mark.protocols("uniswap_v4"), pytest.mark.django_db(transaction=True)]

TRADES = 12
WAYS = {"tokens": (0, "DAI", 1_000 * ETH, "v4:100"), "coin": (2, "ETH", ETH // 2, "v4:500")}


def pool_of(chain: World, way: str) -> str:
    return PoolKey(*key_of(chain, POOLS[WAYS[way][0]])).pool_id


def trade(chain: World, trader: LocalAccount, sold: str, bought: str, amount: int, route: str) -> dict[str, int]:
    """One trade, and base units that left and came by token, the coin as its wrapped form."""
    plan = plan_swap(chain, trader, token_in=sold, token_out=bought, amount=str(amount), route=route, slippage_bps=500)
    deltas = run_plan(chain, trader, plan).deltas
    wrapped = chain.tokens["WETH"].address
    return {wrapped if token == NATIVE else token: change for token, change in deltas.items() if change}


@pytest.mark.parametrize("way", list(WAYS))
def test_what_the_index_counts_of_a_v4_pool_is_what_traders_paid_into_it(followed: Followed, way: str) -> None:
    chain, manager = followed.world, contracts().manager
    _, symbol, amount, route = WAYS[way]
    pool = pool_of(chain, way)
    assert chain_following.begin_chain(followed.network, now=followed.now) is not None
    wish = followed_contracts.FollowWish(CHAIN_ID, pool, SourceKind.POOL, str(followed.golem_id), "a test", manager)
    assert followed_contracts.take_up(CHAIN_ID, [wish], now=followed.now) == 1
    trader, paid = rich_account(chain), dict.fromkeys((t.address for t in chain.tokens.values()), 0)
    for number in range(TRADES):
        sold, bought, size = (symbol, "USDC", amount) if number % 3 else ("USDC", symbol, 900 * 10**6)
        for token, change in trade(chain, trader, sold, bought, size, route).items():
            paid[token] = paid.get(token, 0) + max(0, -change)
    followed.mine(2)
    while followed.follow() or followed.fill():
        pass
    told = answer_of(make_context(chain), "data_get_pool_volume_history", pool_address=pool)
    assert told["reason"] is None and told["sample"] == TRADES
    for side in ("0", "1"):
        token = told[f"token{side}"]["address"]
        assert sum(int(bar[f"paid_in{side}"]) for bar in told["bars"]) == paid[token] > 0
    usd = 3_000 if way == "coin" else 1
    base, other = ("token0", "token1") if told["token0"]["symbol"] != "USDC" else ("token1", "token0")
    close = float(told["bars"][-1]["close"])
    assert (close if (base, other) == ("token0", "token1") else 1 / close) == pytest.approx(usd, rel=0.05)

    flow = answer_of(make_context(chain), "intel_get_order_flow_metrics", pool=pool, lookback="1h")
    assert flow["basis"]["source"] == OF_INDEX and flow["basis"]["sample"] == TRADES
    assert flow["jit_liquidity"]["found"] is None and "whose liquidity" in flow["jit_liquidity"]["reason"]
    assert [each["blocks"] for each in flow["markout"]] == [5, 20, 100]
    vpin = answer_of(make_context(chain), "intel_compute_vpin", pool=pool, lookback="1h", buckets=5)
    followed_rows = LogSource.objects.filter(address=pool)
    assert followed_rows.count() == 1
    followed_rows.delete()
    # The node alone, block by block, says the same.
    assert (
        answer_of(make_context(chain), "intel_compute_vpin", pool=pool, lookback="1h", buckets=5)["vpin"]
        == (vpin["vpin"])
    )


def test_the_trades_and_events_of_a_v4_pool_are_streamed_with_amounts_into_the_pool(follower: Follower) -> None:
    chain, pool = follower.world, pool_of(follower.world, "tokens")
    trader = rich_account(chain)
    follower.call("stream_trades", wallet_address=trader.address)
    follower.call("stream_pool_events", pool_address=pool, chain_id=CHAIN_ID)
    follower.poll()
    moved = trade(chain, trader, "DAI", "USDC", 500 * ETH, "v4:100")
    for _ in range(2):
        follower.poll()
    dai, usdc = (chain.tokens[symbol].address for symbol in ("DAI", "USDC"))
    [told] = follower.events("trade:executed")
    assert (told["token_in"]["address"], told["amount_in"]) == (dai, str(500 * ETH)) == (dai, str(-moved[dai]))
    assert (told["token_out"]["address"], told["amount_out"]) == (usdc, str(moved[usdc]))
    assert (told["pool_address"], told["venue"]) == (pool, "uniswap v4")
    [event] = follower.events("pool:event")
    sides = {event[f"token{side}"]["address"]: int(event[f"amount{side}"]) for side in "01"}
    assert sides == {dai: 500 * ETH, usdc: -moved[usdc]}


def test_what_is_kept_the_other_way_round_is_told_turned(followed: Followed) -> None:
    """Whichever way the local coin stands: a kept pool read turned has prices inverted, and high for low."""
    followed.watch(followed.pool.address)
    for amount in (10**9, 10**12, 10**10):
        followed.swap(amount)
    followed.mine(2)
    while followed.follow() or followed.fill():
        pass
    plain = find_kept(CHAIN_ID, [followed.pool.address])[followed.pool.address]
    turned = replace(plain, is_turned=True)
    since, until = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
    bars: list[Bars] = [read_bars(each, BarSpan.HOUR, since=since, until=until) for each in (plain, turned)]
    for one, other in zip(*bars, strict=True):
        assert other.paid_in == one.paid_in[::-1] and other.trades == one.trades
        opened, high, low, close = one.prices
        assert None not in one.prices
        assert other.prices == tuple(each.inverse() if each else None for each in (opened, low, high, close))
    wanted: dict[str, Any] = {"since": plain.known_until - timedelta(days=1), "until_block": 10**9, "most": 10}
    for first, second in zip(*(read_trades(each, **wanted) for each in (plain, turned)), strict=True):
        price = first.price.inverse() if first.price is not None else None
        assert second == KeptTrade(first.block, first.time, price, first.in1, first.in0)
