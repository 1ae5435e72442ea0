"""V3 maths: properties for every input, and equality with the contracts where they can be asked."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evm.world import World
from tools_app.standards import concentrated as v3

TICKS = st.integers(v3.MIN_POOL_TICK, v3.MAX_POOL_TICK)
PRICES = st.integers(v3.MIN_SQRT_PRICE, v3.MAX_SQRT_PRICE - 1)
LIQUIDITY = st.integers(1, 2**100)
AMOUNTS = st.integers(1, 2**100)
FEES = st.sampled_from((100, 500, 3_000, 10_000))


def test_the_ends_of_the_tick_range_are_the_ends_of_the_price_range() -> None:
    assert v3.sqrt_price_at_tick(v3.MIN_POOL_TICK) == v3.MIN_SQRT_PRICE
    assert v3.sqrt_price_at_tick(v3.MAX_POOL_TICK) == v3.MAX_SQRT_PRICE
    assert v3.sqrt_price_at_tick(0) == v3.Q96
    for outside in (v3.MIN_POOL_TICK - 1, v3.MAX_POOL_TICK + 1):
        with pytest.raises(ValueError, match="outside"):
            v3.sqrt_price_at_tick(outside)
    for price in (v3.MIN_SQRT_PRICE - 1, v3.MAX_SQRT_PRICE):
        with pytest.raises(ValueError, match="outside"):
            v3.tick_at_sqrt_price(price)


@given(TICKS)
@settings(max_examples=300, deadline=None)
def test_a_tick_survives_the_way_to_its_price_and_back(pool_tick: int) -> None:
    price = v3.sqrt_price_at_tick(pool_tick)
    if price < v3.MAX_SQRT_PRICE:
        assert v3.tick_at_sqrt_price(price) == pool_tick
    if price > v3.MIN_SQRT_PRICE:
        assert v3.tick_at_sqrt_price(price - 1) == pool_tick - 1


@given(PRICES)
@settings(max_examples=300, deadline=None)
def test_the_tick_of_a_price_is_the_greatest_at_or_below_it(sqrt_price: int) -> None:
    pool_tick = v3.tick_at_sqrt_price(sqrt_price)
    assert v3.sqrt_price_at_tick(pool_tick) <= sqrt_price
    if pool_tick < v3.MAX_POOL_TICK:
        assert sqrt_price < v3.sqrt_price_at_tick(pool_tick + 1)


@given(TICKS)
@settings(max_examples=100, deadline=None)
def test_the_price_of_a_tick_is_a_power_of_1_0001(pool_tick: int) -> None:
    exact = math.exp(pool_tick / 2 * math.log(1.0001))
    assert math.isclose(v3.sqrt_price_at_tick(pool_tick) / v3.Q96, exact, rel_tol=1e-8)


@given(PRICES, PRICES, LIQUIDITY)
@settings(deadline=None)
def test_amounts_round_up_by_at_most_one_step_and_never_down(price_a: int, price_b: int, liquidity: int) -> None:
    for between in (v3.amount0_between, v3.amount1_between):
        down = between(price_a, price_b, liquidity, round_up=False)
        up = between(price_a, price_b, liquidity, round_up=True)
        assert 0 <= up - down <= 2
        assert between(price_b, price_a, liquidity, round_up=True) == up


@given(st.integers(-400_000, 400_000), st.integers(1, 5_000), st.integers(1, 5_000), AMOUNTS, AMOUNTS)
@settings(max_examples=300, deadline=None)
def test_liquidity_bought_with_amounts_never_costs_more_than_them(
    pool_tick: int, below: int, above: int, amount0: int, amount1: int
) -> None:
    price = v3.sqrt_price_at_tick(pool_tick)
    lower, upper = v3.sqrt_price_at_tick(pool_tick - below), v3.sqrt_price_at_tick(pool_tick + above)
    liquidity = v3.liquidity_for_amounts(price, lower, upper, amount0, amount1)
    cost0, cost1 = v3.amounts_for_liquidity(price, lower, upper, liquidity, round_up=True)
    assert cost0 <= amount0
    assert cost1 <= amount1


def test_the_pool_tick_on_the_chain_is_the_tick_of_its_price(world: World) -> None:
    for pool in world.pools:
        if pool.version != "v3":
            continue
        slot0 = world.rpc.read(pool.address, "slot0()", returns="(uint160,int24,uint16,uint16,uint16,uint8,bool)")
        assert v3.tick_at_sqrt_price(slot0[0]) == slot0[1]


@pytest.mark.parametrize("spacing", [1, 10, 60, 200])
def test_usable_ticks_are_multiples_inside_the_range(spacing: int) -> None:
    lowest, highest = v3.usable_tick_bounds(spacing)
    assert lowest % spacing == highest % spacing == 0
    assert lowest - spacing < v3.MIN_POOL_TICK <= lowest
    for pool_tick in (-887_271, -61, -60, -1, 0, 1, 59, 60, 887_271):
        assert v3.floor_to_spacing(pool_tick, spacing) <= pool_tick <= v3.ceil_to_spacing(pool_tick, spacing)
        assert v3.floor_to_spacing(pool_tick, spacing) % spacing == 0


EXTREME_PRICES = (v3.MIN_SQRT_PRICE, v3.MAX_SQRT_PRICE - 1, v3.Q96 - 1, 79_231_123_456_789_012_345_678_901_234)


def test_a_pool_opened_at_any_price_gets_the_tick_we_compute(chain: World) -> None:
    maker = chain.new_account(10 * 10**18)
    token = chain.deploy(maker, "SimulatedToken", "(string,string,uint8)", "Ticks", "TICKS", 18)
    pair = sorted((token, chain.tokens["DAI"].address), key=lambda address: int(address, 16))
    manager, factory = chain.contracts["uniswap_v3_position_manager"], chain.contracts["uniswap_v3_factory"]
    for fee, sqrt_price in zip((100, 500, 3_000, 10_000), EXTREME_PRICES, strict=True):
        create = "createAndInitializePoolIfNecessary(address,address,uint24,uint160)"
        chain.transact(maker, manager, create, *pair, fee, sqrt_price, gas=8_000_000)
        pool = chain.rpc.read(factory, "getPool(address,address,uint24)", *pair, fee, returns="(address)")[0]
        slot0 = chain.rpc.read(pool, "slot0()", returns="(uint160,int24,uint16,uint16,uint16,uint8,bool)")
        assert slot0[0] == sqrt_price
        assert slot0[1] == v3.tick_at_sqrt_price(sqrt_price)
