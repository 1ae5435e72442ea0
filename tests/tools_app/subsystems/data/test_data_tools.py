"""The data reads against the local world: every figure is checked with what the chain itself says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import tools_app.subsystems.data.health_tools
import tools_app.subsystems.data.pool_tools
import tools_app.subsystems.data.position_tools
import tools_app.subsystems.data.price_tools
import tools_app.subsystems.data.tick_tools
import tools_app.subsystems.testnet.chains  # noqa: F401  declares the tools
from golem_project.embedded.world.rpc import checksum
from tests.evm.world import World
from tests.strangers import send_ranges
from tests.tools_app.factories import answer_of, make_context
from tools_app.chain.abi import event_topic
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.errors import GolemError
from tools_app.portfolio.holdings import measure_holdings
from tools_app.protocols.uniswap.history import SWAP_V3
from tools_app.subsystems.data import pool_tools, position_tools

pytestmark = pytest.mark.django_db

ETH = 10**18


def swap_v3(chain: World, symbol_in: str, symbol_out: str, fee: int, amount: int) -> None:
    token_in, token_out = chain.tokens[symbol_in].address, chain.tokens[symbol_out].address
    router = chain.contracts["uniswap_v3_swap_router_02"]
    trader = chain.new_account(ETH, {symbol_in: amount})
    chain.transact(trader, token_in, "approve(address,uint256)", router, amount)
    swap = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
    chain.transact(trader, router, swap, (token_in, token_out, fee, trader.address, amount, 0, 0))


def read(chain: World, name: str, **params: Any) -> Any:
    return answer_of(make_context(chain, address=chain.actors.makers[0].address), name, **params)


def test_pool_info_shows_the_state_the_pool_reports(world: World) -> None:
    pool = world.pool("v3", "USDC", "WETH", 500)
    slot0 = world.rpc.read(pool.address, "slot0()", returns="(uint160,int24,uint16,uint16,uint16,uint8,bool)")
    info = read(world, "data_get_pool_info", pool_address=pool.address)
    assert (int(info["sqrt_price_x96"]), info["tick"]) == slot0[:2]
    assert info["liquidity"] == str(world.rpc.read(pool.address, "liquidity()", returns="(uint128)")[0])
    assert info["balance0"] == str(world.rpc.balance_of(pool.token0, pool.address))
    assert info["balance1"] == str(world.rpc.balance_of(pool.token1, pool.address))
    assert (info["version"], info["fee_tier"]) == ("v3", 500)
    product = Fraction(info["price_token0_in_token1"]) * Fraction(info["price_token1_in_token0"])
    assert 1 - Fraction(1, 10**15) < product <= 1
    eth, usd = sorted((int(info["balance0"]), int(info["balance1"])), reverse=True)
    assert int(Fraction(info["tvl_usd"]) * 10**6) == eth * 3_000 * 10**6 // ETH + usd


def test_24_hour_volume_is_the_sum_of_the_pools_own_swaps(chain: World) -> None:
    pool = chain.pool("v3", "USDC", "WETH", 3_000)
    swap_v3(chain, "USDC", "WETH", 3_000, 12_345 * 10**6)
    swap_v3(chain, "WETH", "USDC", 3_000, 2 * ETH)
    info = read(chain, "data_get_pool_info", pool_address=pool.address)
    since = chain.timestamp() - 86_400
    logs = chain.rpc.call(
        "eth_getLogs", {"address": pool.address, "topics": [event_topic(SWAP_V3)], "fromBlock": "0x0"}
    )
    paid = {pool.token0: 0, pool.token1: 0}
    counted = 0
    for log in logs:
        block = chain.rpc.call("eth_getBlockByNumber", log["blockNumber"], False)
        if int(block["timestamp"], 16) < since:
            continue
        counted += 1
        words = [
            int.from_bytes(bytes.fromhex(log["data"][2 + 64 * i : 66 + 64 * i]), "big", signed=True) for i in (0, 1)
        ]
        for token, amount in zip((pool.token0, pool.token1), words, strict=True):
            paid[token] += max(0, amount)
    weth, usdc = chain.tokens["WETH"].address, chain.tokens["USDC"].address
    volume = paid[weth] * 3_000 * 10**6 // ETH + paid[usdc]
    assert counted == info["swaps_24h"] >= 2
    assert int(Fraction(info["volume_24h_usd"]) * 10**6) == volume
    fees = (paid[weth] * 3_000 // 10**6) * 3_000 * 10**6 // ETH + paid[usdc] * 3_000 // 10**6
    assert int(Fraction(info["fees_24h_usd"]) * 10**6) == fees
    assert info["history_reason"] is None


def test_v2_volume_is_counted_from_its_swaps(chain: World) -> None:
    pool = chain.pool("v2", "USDT", "WETH")
    before = read(chain, "data_get_pool_info", pool_address=pool.address)
    trader = chain.new_account(2 * ETH)
    weth, usdt = chain.tokens["WETH"].address, chain.tokens["USDT"].address
    chain.transact(
        trader,
        chain.contracts["uniswap_v2_router"],
        "swapExactETHForTokens(uint256,address[],address,uint256)",
        0,
        [weth, usdt],
        trader.address,
        2**32,
        value=ETH,
    )
    after = read(chain, "data_get_pool_info", pool_address=pool.address)
    assert after["swaps_24h"] == before["swaps_24h"] + 1
    assert Fraction(after["volume_24h_usd"]) - Fraction(before["volume_24h_usd"]) == 3_000
    assert Fraction(after["fees_24h_usd"]) - Fraction(before["fees_24h_usd"]) == 9
    assert (after["sqrt_price_x96"], after["tick"], after["liquidity"]) == (None, None, None)


def test_a_pool_younger_than_a_day_has_no_figures_but_a_reason(world: World) -> None:
    young = world.pool("v3", "WBTC", "USDC", 3_000)
    info = read(world, "data_get_pool_info", pool_address=young.address)
    assert info["volume_24h_usd"] is info["fee_apy_24h"] is info["swaps_24h"] is None
    assert info["history_reason"] == "the pool is younger than 24 hours"
    assert info["tvl_usd"] is not None


def test_pools_of_a_pair_come_deepest_first_in_either_order(world: World) -> None:
    rows = read(world, "data_get_pools_by_token_pair", token0="USDC", token1="WETH")["pools"]
    assert {row["pool_address"] for row in rows} == {
        pool.address
        for pool in world.pools
        if {pool.token0, pool.token1} == {world.tokens["USDC"].address, world.tokens["WETH"].address}
    }
    values = [Fraction(row["tvl_usd"]) for row in rows]
    assert values == sorted(values, reverse=True)
    assert rows == read(world, "data_get_pools_by_token_pair", token0="ETH", token1="USDC")["pools"]
    assert read(world, "data_get_pools_by_token_pair", token0="USDT", token1="WBTC")["pools"] == []


def test_pools_of_a_token_are_all_of_its_pools_up_to_the_limit(world: World) -> None:
    usdc = world.tokens["USDC"].address
    rows = read(world, "data_get_pools_by_token", token="USDC", limit=100)["pools"]
    assert {row["pool_address"] for row in rows} == {p.address for p in world.pools if usdc in (p.token0, p.token1)}
    assert len(read(world, "data_get_pools_by_token", token="USDC", limit=2)["pools"]) == 2


def test_a_pool_of_the_newest_block_is_found_also_where_a_look_ends_right_before_it(
    chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = chain.new_account(10 * ETH)
    token = chain.deploy(maker, "SimulatedToken", "(string,string,uint8)", "New", "NEW", 18)
    chain.transact(
        maker,
        chain.contracts["uniswap_v2_factory"],
        "createPair(address,address)",
        token,
        chain.tokens["DAI"].address,
        gas=8_000_000,
    )
    reader = make_context(chain).chain()
    first = reader.first_block_since(reader.block.timestamp - 3_600).number
    monkeypatch.setattr(pool_tools, "SCAN_BLOCKS", reader.block.number - first)
    newest = read(chain, "data_get_new_pools", hours=1)["pools"][0]
    assert token in (newest["token0"]["address"], newest["token1"]["address"])


def test_a_token_price_is_the_pools_and_stands_beside_its_feed(chain: World) -> None:
    calm = read(chain, "data_get_token_price", token="WETH")
    assert calm["source"] == "slot0"
    assert calm["feed_price_usd"] == "3000"
    assert calm["deviation_from_feed_bps"] < 20
    swap_v3(chain, "USDC", "WETH", 500, 1_500_000 * 10**6)
    moved = read(chain, "data_get_token_price", token="WETH")
    assert Fraction(moved["price"]) > Fraction(calm["price"])
    assert moved["deviation_from_feed_bps"] > 100
    assert Fraction(moved["price_change_24h"]) > 1
    pool = read(chain, "data_get_pool_info", pool_address=moved["pool_address"])
    assert moved["price"] in (pool["price_token0_in_token1"], pool["price_token1_in_token0"])
    assert moved["volume_24h_usd"] == pool["volume_24h_usd"]


@pytest.mark.parametrize("given", [{"token": "WETH"}, {"token": "WBTC"}, {"token": "ETH", "quote_currency": "WBTC"}])
def test_a_token_price_takes_three_round_trips_after_the_head(
    world: World, monkeypatch: pytest.MonkeyPatch, given: dict[str, str]
) -> None:
    asked: list[list[str]] = []
    original = RpcPool._ask

    def count(self: Any, node: Any, requests: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append([request.method for request in requests])
        return original(self, node, requests, *args, **kwargs)

    monkeypatch.setattr(RpcPool, "_ask", count)
    answer = read(world, "data_get_token_price", **given)
    assert answer["pool_address"]
    head, *others = asked
    assert head == ["eth_getBlockByNumber"] and len(others) <= 3, asked


def test_a_price_in_another_currency_is_the_ratio_of_two_prices(world: World) -> None:
    answer = read(world, "data_get_token_price", token="ETH", quote_currency="WBTC")
    assert abs(Fraction(answer["price"]) - Fraction(1, 20)) < Fraction(1, 1_000)
    assert answer["quote_currency"] == "WBTC"


def test_a_token_without_pool_and_feed_has_no_price(chain: World) -> None:
    maker = chain.new_account(ETH)
    lonely = chain.deploy(maker, "SimulatedToken", "(string,string,uint8)", "Lonely", "LONE", 18)
    with pytest.raises(GolemError) as refused:
        read(chain, "data_get_token_price", token=lonely)
    assert refused.value.code == "PRICE_UNAVAILABLE"


def test_positions_of_an_owner_are_those_the_manager_lists(world: World) -> None:
    manager = world.contracts["uniswap_v3_position_manager"]
    owner = world.actors.makers[0].address
    answer = read(world, "data_get_positions_by_owner")
    held = world.rpc.read(manager, "balanceOf(address)", owner, returns="(uint256)")[0]
    assert answer["held"] == held == len(answer["positions"]) + answer["empty"]
    assert Fraction(answer["total_value_usd"]) == sum(Fraction(row["value_usd"]) for row in answer["positions"])
    one = read(world, "data_get_position", token_id=answer["positions"][0]["token_id"])
    assert one == answer["positions"][0]
    stored = world.rpc.read(
        manager,
        "positions(uint256)",
        int(one["token_id"]),
        returns="(uint96,address,address,address,uint24,int24,int24,uint128,uint256,uint256,uint128,uint128)",
    )
    assert (one["tick_lower"], one["tick_upper"], int(one["liquidity"])) == (stored[5], stored[6], stored[7])
    assert one["in_range"] == (one["tick_lower"] <= one["current_tick"] < one["tick_upper"])
    assert one["owner"] == owner
    assert checksum(stored[2]) == one["token0"]["address"]


@pytest.mark.django_db
def test_positions_are_worth_what_they_add_to_the_net_asset_value_and_a_pushed_pool_adds_nothing(chain: World) -> None:
    owner = chain.actors.makers[0].address

    def look() -> tuple[Any, dict[str, int]]:
        told = read(chain, "data_get_positions_by_owner")
        holdings = measure_holdings(chain=make_context(chain).chain(), account=owner)
        assert holdings.is_complete
        return told, {each.ref.id: each.micro_usd or 0 for each in holdings.positions if each.ref.kind == "nft"}

    before, counted = look()
    assert counted
    for row in before["positions"]:
        told = Fraction(row["value_usd"]) + Fraction(row["unclaimed_fees_usd"])
        assert told * 10**6 == counted[row["token_id"]]
    told = Fraction(before["total_value_usd"]) + Fraction(before["total_unclaimed_fees_usd"])
    assert told * 10**6 == sum(counted.values())
    swap_v3(chain, "USDC", "WETH", 3_000, 1_500_000 * 10**6)
    after, _ = look()
    gained = Fraction(after["total_value_usd"]) - Fraction(before["total_value_usd"])
    assert before["positions"] != after["positions"]
    # Fees are told apart; what liquidity is worth does not follow the pool's own price.
    assert abs(gained) < Fraction(1, 1_000)


def test_a_part_of_the_positions_is_no_total(chain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position_tools, "MOST_POSITIONS", 3)
    answer = read(chain, "data_get_positions_by_owner")
    assert len(answer["positions"]) + answer["empty"] == 3 < answer["held"]
    assert (answer["total_value_usd"], answer["total_unclaimed_fees_usd"]) == (None, None)
    assert answer["value_reason"] == f"only 3 of {answer['held']} positions are shown"


def test_positions_worth_most_are_shown_behind_whatever_strangers_sent(
    chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(position_tools, "MOST_POSITIONS", 2)
    account = chain.new_account().address
    send_ranges(chain, account, 1, in_range=True, cents=50_000)
    (own,) = (row["token_id"] for row in read(chain, "data_get_positions_by_owner", owner=account)["positions"])
    send_ranges(chain, account, 3, in_range=True)
    answer = read(chain, "data_get_positions_by_owner", owner=account)
    assert own in {row["token_id"] for row in answer["positions"]} and answer["held"] == 4


def test_an_owner_without_positions_has_an_empty_list(chain: World) -> None:
    answer = read(chain, "data_get_positions_by_owner", owner=chain.new_account().address)
    assert (answer["positions"], answer["held"], answer["total_value_usd"]) == ([], 0, "0.000000")


def test_tick_data_sums_to_the_liquidity_in_range(world: World) -> None:
    pool = world.pool("v3", "USDC", "WETH", 500)
    answer = read(world, "data_get_tick_data", pool=pool.address, range=10_000)
    below = [int(row["liquidity_net"]) for row in answer["ticks"] if row["tick"] <= answer["current_tick"]]
    assert sum(below) == int(answer["liquidity"])
    assert sum(int(row["liquidity_net"]) for row in answer["ticks"]) == 0
    near = read(world, "data_get_tick_data", pool=pool.address, range=30)["ticks"]
    assert [row for row in answer["ticks"] if row in near] == near
    assert len(near) < len(answer["ticks"])


def test_the_health_score_of_a_deep_pool_beats_that_of_a_thin_one(world: World) -> None:
    deep = read(world, "data_get_pool_health_score", pool=world.pool("v3", "USDC", "WETH", 500).address)
    thin = read(world, "data_get_pool_health_score", pool=world.pool("v2", "FEE", "WETH").address)
    assert deep["health_score"] > thin["health_score"]
    for answer in (deep, thin):
        assert all(0 <= score <= 100 for score in answer["breakdown"].values())
    young = read(world, "data_get_pool_health_score", pool=world.pool("v3", "WBTC", "USDC", 3_000).address)
    assert young["breakdown"]["volume_score"] is young["breakdown"]["il_risk"] is None
    assert young["missing_reason"] == "the pool is younger than 24 hours"
    assert young["health_score"] is not None


@pytest.mark.parametrize(
    ("name", "params", "code"),
    [
        ("data_get_pool_info", {"pool_address": "0x00000000000000000000000000000000000000aa"}, "POOL_NOT_FOUND"),
        ("data_get_pool_info", {"pool_address": "0x0000000000000000000000000000000000000000"}, "POOL_NOT_FOUND"),
        ("data_get_pool_info", {"pool_address": "0x12"}, "INVALID_PARAMS"),
        (
            "data_get_pool_info",
            {"pool_address": "0x00000000000000000000000000000000000000aa", "chain_id": 5},
            "CHAIN_NOT_SUPPORTED",
        ),
        ("data_get_pools_by_token_pair", {"token0": "ETH", "token1": "WETH"}, "INVALID_PARAMS"),
        ("data_get_pools_by_token", {"token": "NOPE"}, "TOKEN_NOT_FOUND"),
        ("data_get_pools_by_token", {"token": "WETH", "limit": 0}, "INVALID_PARAMS"),
        ("data_get_new_pools", {"hours": 0}, "INVALID_PARAMS"),
        ("data_get_new_pools", {"min_tvl": "-1"}, "INVALID_PARAMS"),
        ("data_get_position", {"token_id": "999999"}, "POSITION_NOT_FOUND"),
        ("data_get_tick_data", {"pool": "0x00000000000000000000000000000000000000aa"}, "POOL_NOT_FOUND"),
    ],
)
def test_a_bad_data_call_is_refused_with_its_code(world: World, name: str, params: dict[str, Any], code: str) -> None:
    with pytest.raises(GolemError) as refused:
        read(world, name, **params)
    assert refused.value.code == code


def test_a_contract_that_only_looks_like_a_pool_is_not_one(chain: World) -> None:
    for address in (chain.contracts["uniswap_v3_position_manager"], chain.tokens["USDC"].address):
        with pytest.raises(GolemError) as refused:
            read(chain, "data_get_pool_info", pool_address=address)
        assert refused.value.code == "POOL_NOT_FOUND"


def test_a_v2_pool_has_no_ticks(world: World) -> None:
    with pytest.raises(GolemError) as refused:
        read(world, "data_get_tick_data", pool=world.pool("v2", "USDC", "WETH").address)
    assert refused.value.code == "POOL_NOT_FOUND"


def test_without_a_wallet_the_owner_must_be_named(world: World) -> None:
    with pytest.raises(GolemError) as refused:
        answer_of(make_context(world), "data_get_positions_by_owner")
    assert refused.value.code == "WALLET_NOT_CONFIGURED"
