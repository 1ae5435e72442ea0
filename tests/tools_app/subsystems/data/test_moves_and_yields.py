"""How a price moved and what a pool pays: the sign and the unit of both, beside what the pool's own swaps say."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.evm.world import World
from tests.tools_app.subsystems.data.test_data_tools import ETH, read, swap_v3
from tools_app.chain.abi import event_topic
from tools_app.protocols.uniswap.history import SWAP_V3

pytestmark = pytest.mark.django_db


def sqrt_prices(chain: World, pool: str) -> tuple[int, int]:
    """What the pool's own swaps left it at: the last one that is a day old, and the last one of all."""
    end, then, now = chain.timestamp() - 86_400, 0, 0
    topics = {"address": pool, "topics": [event_topic(SWAP_V3)], "fromBlock": "0x0"}
    for log in chain.rpc.call("eth_getLogs", topics):
        now = int(log["data"][2 + 64 * 2 : 2 + 64 * 3], 16)
        block = chain.rpc.call("eth_getBlockByNumber", log["blockNumber"], False)
        then = now if int(block["timestamp"], 16) <= end else then
    return then, now


@pytest.mark.parametrize("sold", ["USDC", "WETH"], ids=["a-rise", "a-fall"])
def test_a_move_of_a_price_is_told_in_percent_with_its_sign(chain: World, sold: str) -> None:
    bought, amount = ("WETH", 1_500_000 * 10**6) if sold == "USDC" else ("USDC", 500 * ETH)
    swap_v3(chain, sold, bought, 500, amount)
    told = read(chain, "data_get_token_price", token="WETH")
    pool = chain.pool("v3", "USDC", "WETH", 500)
    assert told["pool_address"] == pool.address
    then, now = (Fraction(root**2) for root in sqrt_prices(chain, pool.address))
    moved = 100 * (now / then if pool.token0 == chain.tokens["WETH"].address else then / now) - 100
    assert abs(moved) > 1 and (moved > 0) is (sold == "USDC")
    assert abs(Fraction(told["price_change_24h"]) - moved) <= Fraction(1, 10_000)
    # What it deviates has no sign.
    assert told["deviation_from_feed_bps"] == abs(Fraction(told["price"]) / 3_000 - 1) * 10_000 // 1


def test_what_a_pool_pays_is_a_years_fees_in_percent_of_what_it_holds(chain: World) -> None:
    pool = chain.pool("v3", "USDC", "WETH", 3_000)
    swap_v3(chain, "USDC", "WETH", 3_000, 12_345 * 10**6)
    told = read(chain, "data_get_pool_info", pool_address=pool.address)
    fees, held = Fraction(told["fees_24h_usd"]), Fraction(told["tvl_usd"])
    assert 0 < fees < held
    assert Fraction(told["fee_apy_24h"]) == Fraction(fees * 365 * 100 / held * 10_000 // 1, 10_000)
    [row] = [
        row
        for row in read(chain, "data_get_pools_by_token_pair", token0="USDC", token1="WETH")["pools"]
        if row["pool_address"] == pool.address
    ]
    assert (row["fee_apy_24h"], row["tvl_usd"]) == (told["fee_apy_24h"], told["tvl_usd"])
