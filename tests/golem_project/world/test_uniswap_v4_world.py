"""Uniswap V4 on the local chain: every pool can be traded at once, at the price that its quoter tells."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from golem_project.embedded.world.protocols.uniswap_v4 import HOOK, HOOK_FEE, NATIVE, POOL_KEY, POOLS, ZERO, NewPool
from golem_project.embedded.world.rpc import call_data
from golem_project.embedded.world.seed_data import worth
from tests.evm.world import World

pytestmark = pytest.mark.protocols("uniswap_v4")

SOLD_USD = 1_000
QUOTE = "quoteExactInputSingle(((address,address,uint24,int24,address),bool,uint128,bytes))"


def key_of(chain: World, pool: NewPool) -> tuple[str, str, int, int, str]:
    """The pool's key, its currencies in the order of their addresses."""
    addresses = [ZERO if symbol == NATIVE else chain.tokens[symbol].address for symbol in pool.symbols]
    first, second = sorted(addresses, key=lambda address: int(address, 16))
    return (first, second, pool.fee, pool.spacing, pool.hooks)


@pytest.mark.parametrize("pool", POOLS, ids=lambda pool: f"{'-'.join(pool.symbols)}-{pool.fee}")
def test_every_pool_of_v4_quotes_both_directions(chain: World, pool: NewPool) -> None:
    quoter, key = chain.protocols["uniswap_v4"]["quoter"], key_of(chain, pool)
    symbols = {chain.tokens[one].address: one for one in pool.symbols if one != NATIVE} | {ZERO: "WETH"}
    for zero_for_one in (True, False):
        given, taken = key[:2] if zero_for_one else key[1::-1]
        params = (key, zero_for_one, worth(symbols[given], SOLD_USD), b"")
        amount, _ = chain.rpc.read(quoter, QUOTE, params, returns="(uint256,uint256)")
        fair = worth(symbols[taken], SOLD_USD)
        assert fair * 99 // 100 < amount < fair


def test_coins_sold_through_the_router_bring_what_the_quoter_told_to_the_base_unit(chain: World) -> None:
    built, usdc = chain.protocols["uniswap_v4"], chain.tokens["USDC"].address
    (pool,) = [pool for pool in POOLS if NATIVE in pool.symbols]
    key, sold = key_of(chain, pool), 10**18
    told, _ = chain.rpc.read(built["quoter"], QUOTE, (key, True, sold, b""), returns="(uint256,uint256)")
    swap = encode([f"({POOL_KEY},bool,uint128,uint128,bytes)"], [(key, True, sold, told, b"")])
    settle, take = (encode(["address", "uint256"], [one, amount]) for one, amount in ((ZERO, sold), (usdc, told)))
    v4 = encode(["bytes", "bytes[]"], [b"\x06\x0c\x0f", [swap, settle, take]])
    account = chain.new_account(eth_wei=10 * 10**18)
    data = call_data("execute(bytes,bytes[],uint256)", b"\x10", [v4], 2**40)
    receipt = chain.send(account, built["universal_router"], data, value=sold, gas=1_000_000)
    assert receipt["status"] == "0x1"
    assert chain.rpc.read(usdc, "balanceOf(address)", account.address, returns="(uint256)") == (told,)
    assert int(chain.rpc.call("eth_getBalance", built["universal_router"], "latest"), 16) == 0


def test_the_hook_may_do_what_its_address_says_and_sets_the_fee(chain: World) -> None:
    assert int(HOOK, 16) & 0x3FFF == 0x1080
    (hooked,) = [pool for pool in POOLS if pool.hooks == HOOK]
    view = chain.protocols["uniswap_v4"]["state_view"]
    pool_id = keccak(encode([POOL_KEY], [key_of(chain, hooked)]))
    slot0 = chain.rpc.read(view, "getSlot0(bytes32)", pool_id, returns="(uint160,int24,uint24,uint24)")
    assert slot0[3] == HOOK_FEE
