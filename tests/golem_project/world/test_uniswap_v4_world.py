"""Uniswap V4 on the local chain: every pool can be traded at once, at the price that its quoter tells."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from golem_project.embedded.world.protocols.uniswap_v4 import HOOK, HOOK_FEE, NATIVE, POOL_KEY, POOLS, ZERO, NewPool
from tests.evm.world import World

pytestmark = pytest.mark.protocols("uniswap_v4")

QUOTE = "quoteExactInputSingle(((address,address,uint24,int24,address),bool,uint128,bytes))"


def key_of(chain: World, pool: NewPool) -> tuple[str, str, int, int, str]:
    """The pool's key, its currencies in the order of their addresses."""
    addresses = [ZERO if symbol == NATIVE else chain.tokens[symbol].address for symbol in pool.symbols]
    first, second = sorted(addresses, key=lambda address: int(address, 16))
    return (first, second, pool.fee, pool.spacing, pool.hooks)


@pytest.mark.parametrize("pool", POOLS, ids=lambda pool: f"{'-'.join(pool.symbols)}-{pool.fee}")
def test_every_pool_of_v4_quotes_both_directions(chain: World, pool: NewPool) -> None:
    quoter = chain.protocols["uniswap_v4"]["quoter"]
    for zero_for_one in (True, False):
        params = (key_of(chain, pool), zero_for_one, 10**15, b"")
        amount, _ = chain.rpc.read(quoter, QUOTE, params, returns="(uint256,uint256)")
        assert amount > 0


def test_the_hook_may_do_what_its_address_says_and_sets_the_fee(chain: World) -> None:
    assert int(HOOK, 16) & 0x3FFF == 0x1080
    (hooked,) = [pool for pool in POOLS if pool.hooks == HOOK]
    view = chain.protocols["uniswap_v4"]["state_view"]
    slot0 = chain.rpc.read(
        view,
        "getSlot0(bytes32)",
        keccak(encode([POOL_KEY], [key_of(chain, hooked)])),
        returns="(uint160,int24,uint24,uint24)",
    )
    assert slot0[3] == HOOK_FEE
