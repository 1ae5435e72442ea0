"""V2 maths: the invariant never falls, and every figure is what the pair's router says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evm.world import World
from tools_app.protocols.uniswap.v2 import math as v2

RESERVES = st.integers(10**3, 2**111)


@given(RESERVES, RESERVES, st.integers(1, 2**110))
@settings(max_examples=300, deadline=None)
def test_a_swap_never_lowers_the_product_of_the_reserves(reserve_in: int, reserve_out: int, amount: int) -> None:
    if reserve_in + amount > v2.LARGEST_RESERVE:
        return
    out = v2.amount_out(amount, reserve_in, reserve_out)
    assert 0 <= out < reserve_out
    assert (reserve_in * 1_000 + amount * 997) * (reserve_out - out) >= reserve_in * 1_000 * reserve_out


@given(RESERVES, RESERVES, st.integers(1, 2**110))
@settings(max_examples=300, deadline=None)
def test_the_input_for_an_output_is_enough_and_at_most_one_unit_more(
    reserve_in: int, reserve_out: int, wanted: int
) -> None:
    wanted = wanted % reserve_out or 1
    try:
        needed = v2.amount_in(wanted, reserve_in, reserve_out)
    except ValueError:
        return
    assert v2.amount_out(needed, reserve_in, reserve_out) >= wanted
    if needed > 2:
        assert v2.amount_out(needed - 2, reserve_in, reserve_out) < wanted


def test_what_a_pair_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="holds less"):
        v2.amount_in(100, 100, 100)
    with pytest.raises(ValueError, match="cannot hold"):
        v2.amount_out(2**112, 100, 100)
    with pytest.raises(ValueError, match="cannot hold"):
        v2.amount_in(10**20 - 1, 2**111, 10**20)


@pytest.mark.parametrize("amount", [1, 333, 10**6, 123_456_789, 10**12, 7 * 10**13])
def test_amounts_are_what_the_router_says(world: World, amount: int) -> None:
    pool = world.pool("v2", "USDC", "WETH")
    reserves = world.rpc.read(pool.address, "getReserves()", returns="(uint112,uint112,uint32)")
    usdc, weth = world.tokens["USDC"].address, world.tokens["WETH"].address
    reserve_in, reserve_out = (reserves[0], reserves[1]) if pool.token0 == usdc else (reserves[1], reserves[0])
    router = world.contracts["uniswap_v2_router"]
    outputs = world.rpc.read(router, "getAmountsOut(uint256,address[])", amount, [usdc, weth], returns="(uint256[])")
    assert v2.amount_out(amount, reserve_in, reserve_out) == outputs[0][-1]
    inputs = world.rpc.read(router, "getAmountsIn(uint256,address[])", amount, [usdc, weth], returns="(uint256[])")
    assert v2.amount_in(amount, reserve_in, reserve_out) == inputs[0][0]
