"""Curve's pool of three dollars: what shares count as, who can move that, and that the ways out stay open."""

from __future__ import annotations

import random
from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError
from tools_app.portfolio.holdings import measure_holdings
from tools_app.protocols.curve.addresses import find_places
from tools_app.protocols.curve.protocol import PROTOCOL
from tools_app.protocols.curve.reads import ask_standing
from tools_app.protocols.curve.tools import ADD, MINT, REMOVE, REMOVE_ONE, UNSTAKE
from tools_app.standards.stable_swap import StableSwap, Unsolvable, invariant
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Act, Position, drive

pytestmark = pytest.mark.protocols("curve")
WAD, USD, DAY = 10**18, 10**6, 86_400
POOL, LP, GAUGE, MINTER = (
    str(PROTOCOL.address(CHAIN_ID, key)) for key in ("pool_3pool", "lp_3pool", "gauge_3pool", "minter")
)
PUT = {"pool": POOL, "amounts": [str(10_000 * WAD), str(10_000 * USD), "0"]}
EXCHANGE = "exchange(int128,int128,uint256,uint256)"


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    purse = {"DAI": 50_000 * WAD, "USDC": 50_000 * USD, "USDT": 50_000 * USD}
    return Golem(chain, PROTOCOL, chain.new_account(WAD, purse))


def books(golem: Golem) -> StableSwap:
    (place,) = find_places(CHAIN_ID)
    reader = make_context(golem.chain, address=golem.address).chain()
    return drive(ask_standing(CHAIN_ID, place, golem.address), reader.call_many).books


def held(golem: Golem) -> Position:
    (position,) = golem.positions()
    return position


def worth(golem: Golem) -> int | None:
    return measure_holdings(
        chain=make_context(golem.chain, address=golem.address).chain(), account=golem.address
    ).nav_micro_usd


def price(chain: World, symbol: str, answer: int) -> None:
    chain.transact(chain.actors.deployer, chain.tokens[symbol].feed, "setAnswer(int256)", answer)


def push(chain: World, *, usd: int) -> None:
    """Somebody sells so many USDC for DAI and USDT."""
    trader = chain.new_account(WAD, {"USDC": 2 * usd * USD})
    chain.transact(trader, chain.tokens["USDC"].address, "approve(address,uint256)", POOL, 2**255)
    for bought in (0, 2):
        chain.transact(trader, POOL, EXCHANGE, 1, bought, usd * USD, 0)


def as_deployer(chain: World, to: str, signature: str, *args: Any) -> None:
    chain.transact(derive_account("curve deployer"), to, signature, *args)


def refused(golem: Golem, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        golem.plan(tool, **params)
    return found.value


def step(golem: Golem) -> Any:
    assert PROTOCOL.exits is not None
    return PROTOCOL.exits.next_step(held(golem), {}, golem.chain.timestamp())


def test_the_world_and_the_product_agree_on_the_addresses(chain: World) -> None:
    assert chain.protocols["curve"] == PROTOCOL.deployments(CHAIN_ID)


def test_from_deposit_over_stake_and_reward_to_nothing_left(chain: World, golem: Golem) -> None:
    golem.act("curve_add_liquidity", **PUT)
    golem.act("curve_stake_gauge", pool=POOL)
    chain.rpc.call("evm_increaseTime", 7 * DAY)
    chain.rpc.call("evm_mine")
    assert held(golem).raw_of(chain.tokens["WBTC"].address) > 0
    tools = golem.leave([chain.tokens[symbol].address for symbol in ("DAI", "USDC", "USDT", "WBTC")])
    assert tools == ["curve_stake_gauge", "curve_remove_liquidity", "curve_stake_gauge"]
    assert golem.positions() == ()


def test_mathematics_are_those_of_the_contract_in_a_hundred_states(chain: World, golem: Golem) -> None:
    draw = random.Random(7)
    for _ in range(25):
        sold, bought = draw.sample(range(3), 2)
        trader = chain.new_account(WAD, {"DAI": 10**24, "USDC": 10**12, "USDT": 10**12})
        symbol = ("DAI", "USDC", "USDT")[sold]
        size = draw.randrange(1, 300_000) * 10 ** (18 if sold == 0 else 6)
        chain.transact(trader, chain.tokens[symbol].address, "approve(address,uint256)", POOL, 2**255)
        chain.transact(trader, POOL, EXCHANGE, sold, bought, size, 0)
        now = books(golem)
        assert (now.virtual_price,) == chain.rpc.read(POOL, "get_virtual_price()", returns="(uint256)")
        for _ in range(4):
            shares, index = draw.randrange(1, 10**24), draw.randrange(3)
            given, _ = now.after_removing_one(shares, index)
            told = chain.rpc.read(POOL, "calc_withdraw_one_coin(uint256,int128)", shares, index, returns="(uint256)")
            assert (given,) == told
    # What an uneven deposit gives is told by no call of the pool; it is what comes.
    minted, after = now.after_adding([3_000 * WAD, 0, 7_000 * USD])
    outcome = golem.act(
        "curve_add_liquidity", pool=POOL, amounts=[str(3_000 * WAD), "0", str(7_000 * USD)], slippage_bps=100
    )
    assert chain.rpc.balance_of(LP, golem.address) == minted and outcome.plan.details["lp_expected"] == str(minted)
    assert books(golem) == after


def test_a_pool_without_one_of_its_coins_has_no_answer() -> None:
    with pytest.raises(Unsolvable):
        invariant([10**18, 0, 10**18], 2_000)


@pytest.mark.django_db
def test_pushing_the_pool_makes_nobody_s_shares_worth_more_or_less(chain: World, golem: Golem) -> None:
    golem.act("curve_add_liquidity", **PUT)
    before, rich = held(golem), worth(golem)
    push(chain, usd=1_700_000)
    after = held(golem)
    dai = chain.tokens["DAI"].address
    # Fees of 3.4 million of trades, shared by a pool of six million, and no more.
    assert before.raw_of(dai) <= after.raw_of(dai) <= before.raw_of(dai) * 10_001 // 10_000
    assert rich is not None and abs((worth(golem) or 0) - rich) <= 3 * USD


def test_what_a_pushed_pool_would_keep_of_a_deposit_is_refused_and_what_it_lacks_is_not(
    chain: World, golem: Golem
) -> None:
    push(chain, usd=1_900_000)
    error = refused(golem, "curve_add_liquidity", pool=POOL, amounts=["0", str(10_000 * USD), "0"])
    assert error.code == "CURVE_SLIPPAGE_TOO_HIGH" and int(error.data["lost_bps"]) > 30
    assert golem.plan("curve_add_liquidity", pool=POOL, amounts=[str(1_000 * WAD), "0", "0"]).details["bonus_bps"] > 0
    golem.act("curve_add_liquidity", pool=POOL, amounts=[str(1_000 * WAD), "0", "0"])
    error = refused(golem, "curve_remove_liquidity", pool=POOL, lp_amount="max", single_coin="DAI")
    assert error.code == "CURVE_SLIPPAGE_TOO_HIGH" and error.recovery == "FIX_PARAMS"
    golem.act("curve_remove_liquidity", pool=POOL, lp_amount="max")
    assert golem.positions() == ()


def test_a_push_between_plan_and_transaction_refuses_the_plan(chain: World, golem: Golem) -> None:
    plan = golem.plan("curve_add_liquidity", pool=POOL, amounts=["0", str(10_000 * USD), "0"])
    push(chain, usd=1_900_000)
    assert not golem.simulate(plan).succeeded


def test_a_gift_to_the_pool_changes_nothing(chain: World, golem: Golem) -> None:
    golem.act("curve_add_liquidity", **PUT)
    before = held(golem)
    giver = chain.new_account(WAD, {"DAI": 10**24})
    chain.transact(giver, chain.tokens["DAI"].address, "transfer(address,uint256)", POOL, 10**24)
    assert held(golem).legs == before.legs


@pytest.mark.django_db
def test_a_coin_off_its_peg_takes_all_shares_with_it_and_nothing_more_is_put_in(chain: World, golem: Golem) -> None:
    golem.act("curve_add_liquidity", **PUT)
    rich = worth(golem)
    price(chain, "USDT", 90_000_000)
    usdt = chain.tokens["USDT"].address
    position = held(golem)
    assert position.facts["counted_in"] == usdt and position.raw_of(usdt) in range(19_990 * USD, 20_001 * USD)
    # A tenth of twenty thousand in the pool, and of fifty thousand in the wallet.
    assert rich is not None and (rich - (worth(golem) or 0)) // USD in range(6_990, 7_001)
    error = refused(golem, "curve_add_liquidity", **PUT)
    assert error.code == "CURVE_COIN_OFF_PEG" and error.data["apart_bps"] == 1_000 and error.recovery == "WAIT"
    golem.act("curve_remove_liquidity", pool=POOL, lp_amount="max")


def test_a_hundred_basis_points_off_the_peg_pass_and_more_do_not(chain: World, golem: Golem) -> None:
    price(chain, "USDT", 99_000_000)
    assert golem.plan("curve_add_liquidity", **PUT).details["venue"] == "curve"
    price(chain, "USDT", 98_900_000)
    assert refused(golem, "curve_add_liquidity", **PUT).code == "CURVE_COIN_OFF_PEG"


@pytest.mark.django_db
def test_a_silent_feed_of_any_coin_leaves_no_sum_and_the_way_out_open(chain: World, golem: Golem) -> None:
    golem.act("curve_add_liquidity", **PUT)
    for symbol in ("DAI", "USDC", "USDT"):
        world = chain
        snapshot = world.rpc.call("evm_snapshot")
        old = world.timestamp() - 2 * DAY
        world.transact(world.actors.deployer, world.tokens[symbol].feed, "setUpdatedAt(uint256)", old)
        found = measure_holdings(chain=make_context(world, address=golem.address).chain(), account=golem.address)
        told = [each for each in found.positions if each.position.ref.protocol == "curve"]
        assert [each.micro_usd for each in told] == [None], symbol
        world.rpc.call("evm_revert", snapshot)


def test_a_feed_that_answers_nothing_makes_shares_count_as_nothing(chain: World, golem: Golem) -> None:
    golem.act("curve_add_liquidity", **PUT)
    price(chain, "USDC", 0)
    position = held(golem)
    assert position.legs == () and [each.token for each in position.uncounted] == [LP]
    assert refused(golem, "curve_add_liquidity", **PUT).code == "CURVE_COIN_OFF_PEG"
    golem.act("curve_remove_liquidity", pool=POOL, lp_amount="max")
    assert golem.positions() == ()


def test_a_pool_that_is_killed_takes_nothing_and_gives_all_coins_back(chain: World, golem: Golem) -> None:
    golem.act("curve_add_liquidity", **PUT)
    plan = golem.plan("curve_add_liquidity", **PUT)
    as_deployer(chain, POOL, "kill_me()")
    assert not golem.simulate(plan).succeeded
    golem.act("curve_remove_liquidity", pool=POOL, lp_amount="max")
    assert golem.positions() == ()


def test_a_gauge_that_is_killed_and_a_minter_without_anything_keep_nobody_in(chain: World, golem: Golem) -> None:
    golem.act("curve_add_liquidity", **PUT)
    golem.act("curve_stake_gauge", pool=POOL)
    chain.rpc.call("evm_increaseTime", 7 * DAY)
    as_deployer(chain, GAUGE, "kill_me()")
    chain.rpc.call("anvil_setCode", MINTER, "0x")
    for tool in ("curve_stake_gauge", "curve_remove_liquidity"):
        found = step(golem)
        assert isinstance(found, Act) and found.tool == tool
        golem.act(found.tool, **{key: value for key, value in found.params.items() if key != "chain_id"})
    # What the gauge owed cannot be told any more, and keeps nobody in.
    assert golem.positions() == ()


def test_dust_that_a_stranger_sends_asks_for_no_step(chain: World, golem: Golem) -> None:
    guest = derive_account("curve guest")
    chain.transact(guest, LP, "transfer(address,uint256)", golem.address, 10**15 - 1)
    assert step(golem) is None
    chain.transact(guest, LP, "transfer(address,uint256)", golem.address, 1)
    assert isinstance(step(golem), Act)


def test_fees_that_came_meanwhile_are_within_a_plan_of_leaving(chain: World, golem: Golem) -> None:
    golem.act("curve_add_liquidity", **PUT)
    plan = golem.plan("curve_remove_liquidity", pool=POOL, lp_amount="max", slippage_bps=100)
    push(chain, usd=20_000)
    golem.check_measured(plan)


def test_foreign_bytes_are_a_veto(chain: World, golem: Golem) -> None:
    golem.act("curve_add_liquidity", **PUT)
    reader = make_context(chain, address=golem.address).chain()
    assert PROTOCOL.effects is not None
    for to, data, value in (
        (POOL, encode_call(ADD, [5, 5, 5], 0), 0),
        (POOL, encode_call(REMOVE, 5, [0, 0, 0]), 0),
        (POOL, encode_call(REMOVE_ONE, 5, 1, 0), 0),
        (POOL, encode_call(REMOVE_ONE, 5, 3, 1), 0),
        (POOL, encode_call(REMOVE, 5, [1, 1, 1]), 1),
        (POOL, encode_call(REMOVE, 5, [1, 1, 1]) + b"\0", 0),
        (POOL, encode_call("function ramp_A(uint256,uint256)", 5, 5), 0),
        (MINTER, encode_call(MINT, POOL), 0),
        (GAUGE, encode_call("function set_approve_deposit(address,bool)", "0x" + "66" * 20, True), 0),
        (LP, encode_call("function transfer(address,uint256)", "0x" + "66" * 20, 5), 0),
        ("0x" + "66" * 20, encode_call(UNSTAKE, 5), 0),
    ):
        with pytest.raises(UnknownCall):
            PROTOCOL.effects.read(
                Call(to, data, value, ""), earlier=(), account=golem.address, chain=reader, into=Effects()
            )


def test_rates_of_a_day_are_what_fees_and_rewards_come_to(chain: World, golem: Golem) -> None:
    push(chain, usd=100_000)
    told = answer_of(make_context(chain, address=golem.address), "curve_get_pools", pool=POOL)
    (row,) = told["pools"]
    # 200,000 dollars of trades in a day and those of the world, a hundredth of a percent, half of it to the pool.
    assert row["volume_24h_usd"] is not None and 0 <= float(row["base_apy"]) < 1
    # Ten base units a second of WBTC at 60,000 dollars, for 40 percent of 5.7 million at work in a hundred.
    assert float(row["crv_apy"]) == pytest.approx(10 * 31_536_000 * 60_000 / 10**8 / 5_700_000 * 100, abs=0.02)
    assert answer_of(make_context(chain, address=golem.address), "curve_get_pools", pool_type="crypto")["pools"] == []
